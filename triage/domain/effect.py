"""Planned writes, as values. A dry run prints them."""

from typing import Literal

from pydantic import Field

from triage.domain.code import Span
from triage.domain.suggestion import Suggestion
from triage.domain.value import Value

LabelsMode = Literal["off", "suggest", "apply"]
CommentMode = Literal["auto", "always", "never"]
Reaction = Literal["+1", "-1", "eyes", "rocket", "confused"]
"""As GitHub's API names them."""

COMMENT_MARKER = "<!-- bug-triage:"
"""The first characters of every comment of this action; the hidden state follows."""


class Policy(Value):
    comment: CommentMode = "auto"
    """`auto`: see `publish.decide_comment`."""
    dry_run: bool = False
    labels: LabelsMode = "suggest"


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


class RemoveLabel(Value):
    issue_number: int
    label: str


class SetIssueType(Value):
    """Only after a person approved it."""

    issue_number: int
    name: str


class AddAssignee(Value):
    """Only after a person approved it."""

    issue_number: int
    login: str


class React(Value):
    """A reaction to the comment with a command."""

    comment_id: int
    reaction: Reaction


class SuggestChanges(Value):
    """Suggestions in GitHub's own panel; the issue itself does not change."""

    issue_number: int
    suggestions: list[Suggestion]


class WriteSummary(Value):
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


IssueEffect = (
    PostComment
    | EditComment
    | RemoveComment
    | AddLabels
    | RemoveLabel
    | SuggestChanges
    | SetIssueType
    | AddAssignee
    | React
)
"""The effects that need the network."""

Effect = IssueEffect | WriteSummary | WriteReport | Annotate | SetOutputs
