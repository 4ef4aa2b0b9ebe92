"""Places in the indexed commit, and what its history says about them. Lines are 1-based and inclusive everywhere."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from triage.domain.issue import Frame, ParsedIssue
from triage.domain.value import Value


class Span(Value):
    """Lines of one file."""

    path: str
    """Path of the file in the repository."""
    start: int
    """First line."""
    end: int
    """Last line."""


class Suspect(Value):
    """A file of the indexed commit; `span` if its lines were found too."""

    path: str
    """Path of the file in the repository."""
    span: Span | None = None
    """Lines of the place in it."""
    symbol: str | None = None
    """Qualified name of the definition, such as `Store.save`."""
    reason: str
    """Why it is one, in one phrase that may quote the issue."""


class Passage(Value):
    """A function, a class or a window of lines, with its text."""

    span: Span
    text: str
    symbol: str | None = None
    """Qualified name of the definition, such as `Store.save`."""


class Excerpt(Value):
    """Lines that a model was shown. Its number is its place in the list of all of them, from 1."""

    span: Span
    symbol: str | None = None


class PromptPassages(Value):
    """What of the repository a model is shown first."""

    passages: list[Passage] = Field(default_factory=list)
    """Their texts are numbered lines."""
    other_files: list[str] = Field(default_factory=list)
    """Ranked files without any passage, likeliest first."""


class LineMatch(Value):
    """A line that has the text that was asked for."""

    path: str
    line: int
    text: str
    """The line; of a very long one the part around the match."""
    symbol: str | None = None
    """Qualified name of the definition around it."""


class LineMatches(Value):
    """The most telling lines, and how many others there are."""

    lines: list[LineMatch] = Field(default_factory=list)
    total: int = 0
    """Number of lines, also of those not listed."""
    files: int = 0
    not_listed: dict[str, int] = Field(default_factory=dict)
    """Number of lines that are not listed, by file or elsewhere."""
    same_case: bool = True
    """False if no line has the text with these capitals; the lines have it with others."""
    complete: bool = True
    """False if the time did not suffice for all files."""


class LookedUp(Value):
    """A call of a tool, and the answer that the model got, with the numbers of its excerpts."""

    call: str
    answer: str


class ExecutedCode(Value):
    """The repository's code that the example of a report executed, beyond imports."""

    functions: list[Frame] = Field(default_factory=list, max_length=2_000)
    """Each with the line on which it begins."""
    place: Frame | None = None
    """Where the error was raised: the innermost frame in the repository."""
    error: str = Field("", max_length=3_000)
    """Its type and message."""


PlaceSign = Literal["trace", "message", "quote", "use", "place", "name"]
"""What leads to a place: a stack trace, a message, a quoted line, a name in an error, the reporter, or a name."""
SIGN_REASONS: dict[PlaceSign, str] = {
    "trace": "the stack trace ends here",
    "message": "has the text of the message",
    "quote": "has the code that the issue quotes",
    "use": "has what the error names",
    "place": "the issue names this file",
    "name": "defines what the issue names",
}


LeadRule = Literal[
    "executed",
    "frame",
    "message",
    "log line",
    "used",
    "quoted code",
    "place",
    "qualified name",
    "name",
    "link",
    "path",
]
"""What exactly led to a place, the surest first. `place` has a line, `link` and `path` say no more than the report."""


class Place(Value):
    """The place that an issue leads to by more than shared words."""

    sign: PlaceSign
    """What kind of fact leads there."""
    rule: LeadRule
    """Which rule found it."""
    span: Span
    """The lines to show; the first line of the file if the place is not `is_here`."""
    line: int | None = None
    """The one that fails, or that has the message."""
    symbol: str | None = None
    """Qualified name of the definition around the line."""
    quote: str | None = None
    """Text of that line."""
    text: str = ""
    """The exception with its message, the message as the source has it, the name or the path."""
    function: str | None = None
    """Of a trace: as it names the function."""
    is_here: bool = True
    """Of a trace: whether its function or the line that it shows is at this commit; otherwise only the file is."""
    is_linked: bool = False
    """The report itself names the line with its number, or links to it."""
    error_maker: str = ""
    """Of a trace: the function of this repository that it calls to make or wrap the error."""
    copies: int = 1
    """Of a message: places of the file that have it; of several nobody knows which one it was."""
    calls_before_error: int = 0
    """Of a trace: frames after this one, all in other code such as a library."""
    is_of_run: bool = False
    """The trace is that of the report's example, which was run on this commit."""
    probability: float = 0.0
    """That a fix edits the file, from 0 to 1, by the ranking."""


MAX_PLACES = 5


class FileChange(Value):
    """A commit that changed a file. The subject is text from outside."""

    commit: str
    """Full SHA."""
    date: str
    """The author date in ISO 8601."""
    subject: str
    """First line of its message."""


class History(Value):
    """The commits that changed a file, newest first."""

    changes: list[FileChange] = Field(default_factory=list)
    partial: bool = False
    """Older commits are missing: the clone is shallow, or git was stopped."""
    releases: dict[str, str] = Field(default_factory=dict)
    """Of commits that a tag contains, the nearest one."""


class Section(Value):
    """A part of the documentation under its heading; of a long one some lines."""

    span: Span
    """Its lines."""
    heading: str
    """Of the project; empty for what stands above the first one."""


class QuotedLine(Value):
    """A line of the documentation."""

    span: Span
    """Where it stands."""
    quote: str
    """Its text on one line."""


class RankReason(Value):
    text: str
    """For a maintainer, without a full stop. May quote names of the code."""
    symbol: str = ""
    """Qualified name of the definition that it names."""


class Hit(Value):
    """A file that search found, best passage first."""

    path: str
    score: float
    """Relative to the best hit of the query, which has 1.0."""
    probability: float = 0.0
    """That the fix of the issue changes the file, from 0 to 1; learned from public issues."""
    passages: list[Passage]
    reasons: list[RankReason]
    """Of its rank, strongest first; none if it only shares words with the issue."""


class SearchQuery(Value):
    """The issue, and keywords that the agents added."""

    parsed: ParsedIssue
    keywords: list[str] = Field(default_factory=list)


class IndexFacts(Value):
    """What was indexed, and what was left out."""

    commit: str | None
    """Full SHA; none for a folder without git."""
    files: int
    """Number of indexed files."""
    passages: int
    """Number of functions, classes, windows of lines and sections."""
    sections: int = 0
    """Passages that are sections of the documentation."""
    vectors: int
    """Of files of the product and of sections, from their words; of passages of the product if a model made them."""
    left_out: dict[str, int] = Field(default_factory=dict)
    """Number of files by reason: binary, vendored, generated, minified, lock file, too large, unreadable, ignored by
    the project."""
    partial: bool = False
    """A file that should be in the index is missing: a limit was reached, or its blob is not in the clone."""
    embedding: str = "local"
    """Source of the vectors: `local`, or the name of the endpoint's model."""
    notes: list[str] = Field(default_factory=list)
    """Problems, one sentence each, such as a failed embedding endpoint."""
    shallow: bool = False
    """The checkout has only the newest commits."""
    seconds: float = 0.0
    """Time that the index took."""

    @property
    def log_line(self) -> str:
        return f"Indexed {self.files:,} files in {self.seconds:.1f} s."


class BlamedLine(Value):
    """A line, and the commit that changed it last."""

    at: datetime
    commit: str


class Tag(Value):
    name: str
    commit: str
    """Full SHA."""


class PathChange(FileChange):
    """A commit that changed some of the given files."""

    paths: list[str] = Field(default_factory=list)
    """Those of them that it changed."""
    changelog: str = ""
    """Path of a changelog to which it added an entry."""
    entry: str = ""
    """That entry, a stranger's text."""


MAX_NARROW = 200
"""Commits between two versions that are few enough for a comment."""


class RegressionWindow(Value):
    """What changed between a version that worked and one that does not."""

    worked_in: str
    """A tag or a commit."""
    broken_in: str
    """A tag or a commit; `HEAD` for the indexed one."""
    commits: list[PathChange] = Field(default_factory=list)
    """Those that fit the report, the best first, at most five."""
    further: list[PathChange] = Field(default_factory=list)
    """Others of them, those first that fit best, at most 25: a model sees them."""
    total: int = 0
    """Number of commits that change code, also of those not listed.

    Without merges, and without those of bots.
    """

    is_sure: bool = False
    """The commits are worth a comment by themselves: they are all that there are, or one of them fits beyond doubt."""

    @property
    def is_blamed_commit(self) -> bool:
        """Return whether the report itself names the commit."""
        return self.worked_in == f"{self.broken_in}^"


class LaterChange(Value):
    """The newest commit after the reporter's version that changed the lines that fail."""

    version: str
    """The tag of the reporter's version."""
    commit: FileChange
    """The commit."""
    release: str | None = None
    """The first release with the commit; None if none is known here."""


class LaterFix(LaterChange):
    """The commit after the reporter's version that the report names as the fix, or that fits it beyond doubt."""

    is_named_by_report: bool = Field(False, alias="is_named")
    """The report itself names it as the fix."""


class LastChange(Value):
    """The newest commit that changed the lines of the first place."""

    commit: FileChange
    """The commit."""
    release: str | None = None
    """The first release with the commit; None if none is known here."""
    is_reported: bool = False
    """That release is the reporter's version."""


class CodeHistory(Value):
    """What the history says about the code that a report leads to."""

    owners: list[str] = Field(default_factory=list)
    """Of the first file, by CODEOWNERS."""
    later_fix: LaterFix | None = None
    later_change: LaterChange | None = None
    last_change: LastChange | None = None
