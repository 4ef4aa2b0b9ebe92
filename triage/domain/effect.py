"""Planned writes, as values, and the changes that a person accepts or declines with a click. A dry run prints them."""

from typing import Annotated, Literal

from pydantic import Field

from triage.domain.code import Span
from triage.domain.value import Value

LabelsMode = Literal["off", "suggest", "apply"]
CommentMode = Literal["auto", "always", "never"]
AnnotationLevel = Literal["error", "warning", "notice"]
Reaction = Literal["+1", "-1", "eyes", "rocket", "confused"]
"""As GitHub's API names them."""

COMMENT_MARKER = "<!-- bug-triage:"
"""The first characters of every comment of this action; the hidden state follows."""


class Policy(Value):
    """What a run may write to an issue."""

    comment: CommentMode = "auto"
    """`auto`: see `decide.decide_comment`."""
    dry_run: bool = False
    labels: LabelsMode = "suggest"


SuggestionKind = Literal["label", "type", "close"]
SuggestionConfidence = Literal["LOW", "MEDIUM", "HIGH"]
MAX_RATIONALE_CHARS = 280
"""GitHub's limit (its GraphQL reference, `LabelUpdateInput`)."""


class Suggestion(Value):
    kind: SuggestionKind
    name: str
    """A label or an issue type, as GitHub spells it; `as duplicate of #7`."""
    rationale: Annotated[str, Field(max_length=MAX_RATIONALE_CHARS)]
    """Plain text that does nothing on GitHub."""
    confidence: SuggestionConfidence

    @property
    def key(self) -> str:
        """What it changes, whatever the reason."""
        return f"{self.kind}:{self.name.casefold()}"


class SuggestionOptions(Value):
    """What could be changed on an issue. Nothing that the issue has, or that somebody suggested."""

    labels: list[str] = Field(default_factory=list)
    """Of the labels that were asked about."""
    types: list[str] = Field(default_factory=list)
    """The issue types of the repository; none if the issue has one."""
    can_close: bool = False
    """Whether the issue is open, and nobody suggested to close it."""
    original: int = 0
    """The issue that was asked about as the original of this one, if it exists."""


class PostComment(Value):
    issue_number: int
    body: str


class EditComment(Value):
    issue_number: int
    comment_id: int
    body: str


class RemoveComment(Value):
    """Delete a duplicate of our comment, which an interrupted run has left."""

    issue_number: int
    comment_id: int


class AddLabels(Value):
    issue_number: int
    labels: list[str]


class React(Value):
    """A reaction to the comment with a command."""

    comment_id: int
    reaction: Reaction


class SuggestChanges(Value):
    """Suggestions in GitHub's own panel; the issue itself does not change."""

    issue_number: int
    suggestions: list[Suggestion]


class WriteJobPage(Value):
    markdown: str


class WriteReport(Value):
    json_text: str


class Annotate(Value):
    level: Literal["error", "warning", "notice"]
    message: str
    at: Span | None = None


class SetOutputs(Value):
    """Set outputs; names as in action.yml."""

    values: dict[str, str] = Field(default_factory=dict)


IssueEffect = PostComment | EditComment | RemoveComment | AddLabels | SuggestChanges | React
"""The effects that need the network."""

Effect = IssueEffect | WriteJobPage | WriteReport | Annotate | SetOutputs
