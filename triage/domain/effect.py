"""What is to be changed or written, as values. A dry run prints them."""

from typing import Literal

from pydantic import Field

from triage.domain.code import Span
from triage.domain.value import Value

LabelsMode = Literal["off", "suggest", "apply"]

COMMENT_MARKER = "<!-- bug-triage:"
"""The first characters of every comment that this action writes; its hidden state follows."""


class Policy(Value):
    """What the workflow's author allows to be written."""

    comment: bool = True
    dry_run: bool = False
    labels: LabelsMode = "suggest"


class PostComment(Value):
    """Write the one comment for the first time."""

    issue_number: int
    body: str


class EditComment(Value):
    """Replace the text of our comment."""

    issue_number: int
    comment_id: int
    body: str


class RemoveComment(Value):
    """Delete a second comment of ours, younger than the one that stays; an interrupted run has left it."""

    issue_number: int
    comment_id: int


class AddLabels(Value):
    """Add existing labels; nothing is ever removed."""

    issue_number: int
    labels: list[str]


class WriteSummary(Value):
    """Put Markdown on the job's page."""

    markdown: str


class WriteReport(Value):
    """Write `.triage/report.json`."""

    json_text: str


class Annotate(Value):
    """Put a line beside the job."""

    level: Literal["error", "warning", "notice"]
    message: str
    at: Span | None = None
    """The lines of the repository that it is about."""


class SetOutputs(Value):
    """Give later steps what they may need; names as in action.yml."""

    values: dict[str, str] = Field(default_factory=dict)


Effect = PostComment | EditComment | RemoveComment | AddLabels | WriteSummary | WriteReport | Annotate | SetOutputs
