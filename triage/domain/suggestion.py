"""Changes to an issue that a person accepts or declines with a click, in GitHub's own panel."""

from typing import Annotated, Literal

from pydantic import Field

from triage.domain.value import Value

SuggestionKind = Literal["label", "type", "assignee"]
Confidence = Literal["LOW", "MEDIUM", "HIGH"]
MAX_RATIONALE_CHARS = 280
"""GitHub's limit (its GraphQL reference, `LabelUpdateInput`)."""


class Suggestion(Value):
    kind: SuggestionKind
    name: str
    """A label, an issue type or a login, as GitHub spells it."""
    rationale: Annotated[str, Field(max_length=MAX_RATIONALE_CHARS)]
    """Plain text that does nothing on GitHub."""
    confidence: Confidence

    @property
    def key(self) -> str:
        """What it changes, whatever the reason."""
        return f"{self.kind}:{self.name.casefold()}"


class SuggestionOptions(Value):
    """What could be changed on an issue. Nothing that the issue has, or that somebody suggested."""

    can_suggest: bool = True
    """Whether GitHub shows suggestions in a panel of its own; else our comment has to."""

    labels: list[str] = Field(default_factory=list)
    """Of the labels that were asked about."""
    types: list[str] = Field(default_factory=list)
    """The issue types of the repository; none if the issue has one."""
    assignees: list[str] = Field(default_factory=list)
    """Of the logins that were asked about; none if the issue has an assignee."""
