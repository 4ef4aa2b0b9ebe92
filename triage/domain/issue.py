"""The issue, what was read in its text, and what the report says about itself."""

import re
from datetime import datetime
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from triage.domain.findings import Kind, MissingKind, Severity
from triage.domain.value import Value

MEMBERS = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})
"""GitHub's `author_association` of who belongs to a project. It gives no right to anything: see `may_run`."""


class IssueComment(Value):
    author: str
    body: str
    created_at: datetime | None = None
    edited_at: datetime | None = None
    """Its last edit; equal to `created_at` without one."""
    by_bot: bool = False
    by_member: bool = False
    """By an owner, a member or a collaborator of the project, as GitHub shows it beside the comment."""
    ours: bool = False
    """Posted by this action: it has our marker, and the author is one of our logins."""
    comment_id: int | None = None
    url: str = ""
    is_shortened: bool = False
    """Only the first characters of its body are here, which may show what the whole body hides."""


class EarlierReport(Value):
    """What our comment on the issue remembers of an earlier run. Somebody may have forged it."""

    suspects: list[str] = Field(default_factory=list)
    """Paths."""
    asked_kinds: list[MissingKind] = Field(default_factory=list)
    """What the reporter was asked."""


class Attachment(Value):
    """A text or a picture that the issue's reporter attached, or why one was not read."""

    text: str = ""
    """Its lines that say most, with likely secrets masked."""
    picture: str = ""
    """Its type and its bytes in base64, as `image/png;base64,...`: for a model, nobody else looks at it."""
    problem: str = ""
    """Words of ours after "not read:"; empty if it was."""


class Issue(Value):
    number: int | None = None
    title: str
    body: str = ""
    url: str = ""
    author: str = ""
    author_is_bot: bool = False
    by_member: bool = False
    labels: list[str] = Field(default_factory=list)
    state: str = "open"
    locked: bool = False
    is_pull_request: bool = False
    thread: list[IssueComment] = Field(default_factory=list)
    attachments: list[Attachment] = Field(default_factory=list)
    """Of its text and of its author's comments, as far as somebody has read them."""
    opened_at: datetime | None = None
    snapshot_time: datetime | None = None
    """Time of this snapshot by GitHub's clock: of its response, or of the event."""

    def has_label(self, label: str) -> bool:
        """Return whether the issue has the label. GitHub ignores case in names of labels."""
        return label.casefold() in {name.casefold() for name in self.labels}


class EarlierQuestions(Value):
    """What our comment asked before it was updated."""

    model_config = ConfigDict(strict=True)

    until: int = Field(ge=1, le=99_999_999_999)
    """Seconds since 1970."""
    text: Annotated[str, Field(max_length=400, pattern=r"^[^<>]*$")] = ""
    """One question a line; empty if it asked nothing."""


class HumanExchange(Value):
    """What we asked in a comment, and what the reporter answered below it."""

    question: str
    asked_at: datetime | None = None
    answer: str
    """Visible text."""
    answered_at: datetime | None = None


class Repository(Value):
    slug: str
    """`owner/name`, or the folder's name at a terminal."""
    server_url: str = ""
    """Scheme and host of the GitHub server without a trailing slash; empty if there is nothing to link to."""
    commit: str | None = None
    """Full SHA of the indexed commit; none for a folder without git."""
    labels: list[str] = Field(default_factory=list)
    language: str = "en"
    """Of its README, as in `ParsedIssue`. Only models write in it."""


class Frame(Value):
    path: str
    line: int | None = None
    function: str | None = None
    code: str | None = None
    """The line of code that the trace shows for it."""

    @property
    def name(self) -> str:
        """The function's own name: `save` of `Store.save`, `pkg::Store::save` and `Store.save(System.String s)`."""
        before_parameters = re.split(r"(?<=[\w>$`]) ?\(", self.function or "", maxsplit=1)[0]
        return re.sub("::|->|#", ".", before_parameters).rpartition(".")[2].strip("()")


class Trace(Value):
    """A stack trace, from the outermost call to the line that raised; or a message of a compiler with its place."""

    language: str
    """`diagnostic` for the message of a compiler or a linter."""
    frames: list[Frame]
    exception: str | None = None
    message: str | None = None
    commenter: str = ""
    """Login of the person whose comment shows it; empty if the reporter does."""
    is_wrapper: bool = False
    """Another trace of the report shows the cause of this error, or the error that came while it was handled."""


class FailingPackage(Value):
    """A package of somebody else, in whose code a trace ends."""

    name: str
    """As its path has it: `numpy`, `@scope/name`, `github.com/owner/name`."""
    language: str
    """As GitHub names it."""
    repository: str = ""
    """`owner/name` on GitHub, if the path tells it."""
    error: str
    """Exception and message of the trace."""
    is_declared: bool
    """The project names it among what it needs. Any other name is the reporter's word, and stays here."""


class CodeBlock(Value):
    language: str
    text: str


class IssueSection(Value):
    """A heading of the issue and the text below it. Issue forms write one per field."""

    heading: str
    text: str


class ParsedIssue(Value):
    """The visible text of the issue, and its parts. Everything in it occurs in the visible text."""

    title: str = ""
    body: str = ""
    """Visible text with fenced code blocks, without comments, hidden elements and invisible characters."""
    prose: str = ""
    """`body` without code blocks and traces."""
    code: list[CodeBlock] = Field(default_factory=list)
    traces: list[Trace] = Field(default_factory=list)
    error_messages: list[str] = Field(default_factory=list)
    """Verbatim, best first."""
    identifiers: list[str] = Field(default_factory=list)
    """Names that look like code (dotted, snake_case, camelCase, in backticks, with parentheses), best first."""
    paths: list[str] = Field(default_factory=list)
    versions: list[str] = Field(default_factory=list)
    sections: list[IssueSection] = Field(default_factory=list)
    links: list[str] = Field(default_factory=list)
    hidden_fragments: int = 0
    comments_left_out: int = 0
    """Older comments of other people that were not read: the thread is too long."""
    language: str = "en"
    """Of the prose: ISO 639-1, for Chinese with its script (`zh-Hans`, `zh-Hant`). English where unsure."""

    @property
    def text(self) -> str:
        return f"{self.title}\n\n{self.body}".strip()

    @property
    def stated_errors(self) -> list[str]:
        """Messages of traces without what stands around them, and all others."""
        return [*(trace.message for trace in self.traces if trace.message), *self.error_messages]

    @property
    def stack_traces(self) -> list[Trace]:
        return [trace for trace in self.traces if trace.language != "diagnostic"]


LearnedKind = Literal["bug", "feature_request", "question"]


class KindReading(Value):
    """What kind of issue it is by its labels, its form and its text."""

    kind: Kind | None
    """None if nothing says it clearly enough to claim it."""
    likeliest: LearnedKind
    """The best guess among these, whatever it is worth."""
    probability: float
    """Of the kind; of the likeliest one without a kind."""
    security: bool = False
    """It may report a vulnerability of this project, which does not belong in public."""


class AreaLabel(Value):
    """A label of the repository that says what the issue is about."""

    name: str
    """Name of the label."""
    reason: str
    """What says so, without the full stop. May quote the issue."""
    probability: float
    """1 if the form or a rule of the project says it."""


SignKind = Literal["security", "data_loss", "crash"]


class Quote(Value):
    """Words of the report. The place counts characters of `ParsedIssue.text`; the end is exclusive."""

    text: str
    start: int
    end: int


class Regression(Value):
    """Something that worked before. A version is empty where the report does not name it."""

    worked_in: str = ""
    broken_in: str = ""
    quote: Quote


class SeveritySign(Value):
    """A sentence that says how bad the bug is."""

    kind: SignKind
    severity: Severity
    quote: Quote


class IssueFacts(Value):
    version: Quote | None = None
    """Of the project: a release, a commit, or a moving state such as `current master`."""
    error: Quote | None = None
    """The message as the program wrote it, whole."""
    regression: Regression | None = None
    named_fix: str = ""
    """The commit, or `#12` of the pull request, that the report calls the fix."""
    severity: SeveritySign | None = None
    """None where no sentence says how bad it is."""
