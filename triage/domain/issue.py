"""The issue, and what was read in its text."""

from datetime import datetime

from pydantic import Field

from triage.domain.value import Value


class IssueComment(Value):
    """One comment of the issue's thread, as GitHub shows it, oldest first."""

    author: str
    body: str
    created_at: datetime | None = None
    edited_at: datetime | None = None
    """Its last edit; when it was written, where it was never edited."""
    by_bot: bool = False
    ours: bool = False
    """Posted by this action: our marker and one of our logins."""
    comment_id: int | None = None


class Issue(Value):
    """A GitHub issue, or a bug report from a file."""

    number: int | None = None
    title: str
    body: str = ""
    url: str = ""
    author: str = ""
    author_is_bot: bool = False
    labels: list[str] = Field(default_factory=list)
    state: str = "open"
    locked: bool = False
    is_pull_request: bool = False
    thread: list[IssueComment] = Field(default_factory=list)
    observed_at: datetime | None = None
    """The moment that is shown, by GitHub's clock: of its answer, or of the event that brought the issue."""

    def has_label(self, label: str) -> bool:
        """Whether a label of this name is on the issue; GitHub's names differ by more than case."""
        return label.casefold() in {name.casefold() for name in self.labels}


class Repository(Value):
    """Where the issue belongs, and the commit that was indexed."""

    slug: str
    """`owner/name`, or the folder's name at a terminal."""
    server_url: str = ""
    """Scheme and host of the GitHub server without a trailing slash; empty when there is none to link to."""
    commit: str | None = None
    """Full SHA of the indexed commit; none for a folder without git."""
    labels: list[str] = Field(default_factory=list)
    """Names of the labels that exist in the repository."""


class Frame(Value):
    """One line of a stack trace."""

    path: str
    line: int | None = None
    function: str | None = None

    @property
    def name(self) -> str:
        """The function's own name: `save` of `Store.save` and `pkg::Store::save`."""
        return (self.function or "").replace("::", ".").rpartition(".")[2].strip("()")


class Trace(Value):
    """A stack trace. Frames run from the outermost call to the place that raised."""

    language: str
    frames: list[Frame]
    exception: str | None = None
    message: str | None = None


class CodeBlock(Value):
    """A fenced or indented block of the issue."""

    language: str
    text: str


class Section(Value):
    """A heading of the issue and the text under it (issue forms write one per field)."""

    heading: str
    text: str


class Reading(Value):
    """What a person sees in the issue, taken apart. Everything in it occurs in the issue's visible text."""

    title: str = ""
    body: str = ""
    """Visible text with code blocks fenced: comments, hidden elements and invisible code points are gone."""
    prose: str = ""
    """`body` without code blocks and traces."""
    code: list[CodeBlock] = Field(default_factory=list)
    traces: list[Trace] = Field(default_factory=list)
    error_messages: list[str] = Field(default_factory=list)
    """Verbatim, best first."""
    identifiers: list[str] = Field(default_factory=list)
    """Names that look like code (dotted, snake_case, camelCase, in backticks, called), best first."""
    paths: list[str] = Field(default_factory=list)
    """File paths that the text names, as written."""
    versions: list[str] = Field(default_factory=list)
    """What the reporter runs, as `name version` where a name is given."""
    sections: list[Section] = Field(default_factory=list)
    links: list[str] = Field(default_factory=list)
    hidden_fragments: int = 0
    """Pieces that a reader of the page does not see and that were taken out."""

    @property
    def text(self) -> str:
        """Title and body in one."""
        return f"{self.title}\n\n{self.body}".strip()
