"""Places in the indexed commit. Lines are 1-based and inclusive everywhere."""

from pydantic import Field

from triage.domain.issue import Reading
from triage.domain.value import Value


class Span(Value):
    """Lines of one file."""

    path: str
    start: int
    end: int


class Passage(Value):
    """A piece of a file that belongs together (a function, a class, a window of lines), with its text."""

    span: Span
    text: str
    symbol: str | None = None
    """Qualified name of what the passage defines, such as `Store.save`."""


class FileChange(Value):
    """A commit that changed a file. The subject is somebody's text."""

    commit: str
    """Full object id."""
    date: str
    """ISO 8601, of the author."""
    subject: str


class History(Value):
    """What is known of a file's past, newest first."""

    changes: list[FileChange] = Field(default_factory=list)
    partial: bool = False
    """Older commits are not known: the clone is shallow, or git did not come to the end."""


class Hit(Value):
    """A file that search found, best passage first."""

    path: str
    score: float
    """Relative to the best hit of the same query, which has 1.0."""
    probability: float = 0.0
    """That the fix of the issue edits the file, as learned from public issues: 0 to 1."""
    passages: list[Passage]
    reasons: list[str]
    """Why it ranked, strongest first, in words that a maintainer understands. May quote names from the issue."""


class SearchQuery(Value):
    """What is looked for: the issue itself, and what the agents added to it."""

    reading: Reading
    keywords: list[str] = Field(default_factory=list)


class IndexFacts(Value):
    """What was indexed and what was left out."""

    commit: str | None
    """Full SHA, or none for a folder without git."""
    files: int
    passages: int
    vectors: int
    left_out: dict[str, int] = Field(default_factory=dict)
    """Reason (binary, vendored, generated, minified, lock file, too large, unreadable, ignored by the project) to
    number of files."""
    partial: bool = False
    """Some file that belongs into the index did not get in (a budget was reached, a blob is missing)."""
    embedding: str = "local"
    """What made the vectors: `local`, or the name of the endpoint's model."""
    notes: list[str] = Field(default_factory=list)
    """What did not go as asked, one sentence each (such as an embedding endpoint that failed)."""
    seconds: float = 0.0
    dirty: bool = False
    """The work tree differs from the indexed commit."""
    reused: int = 0
    """Of the files, those that were taken over from the cache instead of taken apart."""
    cache: str = ""
    """What is wrong with the cache, one sentence; it costs time and nothing else. Empty when nothing is."""

    @property
    def log_line(self) -> str:
        """A line for a log."""
        reused = f", {self.reused:,} from the cache" if self.reused else ""
        return " ".join(filter(None, [f"Indexed {self.files:,} files in {self.seconds:.1f} s{reused}.", self.cache]))
