"""An issue that has a comment of ours and was closed since, as the scorecard counts it."""

from typing import Literal

from pydantic import AwareDatetime, Field

from triage.domain.code import MatchSource
from triage.domain.value import Value

PredictedBy = MatchSource | Literal["model"]
"""What leads to the first file: a sign in the report, or a model."""


class Prediction(Value):
    """The files that our comment named first. Later runs do not change it: they may have seen the fix."""

    at: AwareDatetime
    by: PredictedBy
    chance: float
    """That the fix edits the first file, from 0 to 1."""
    paths: list[str] = Field(min_length=1)
    """First the one of the headline."""


class OurComment(Value):
    """Our comment on an issue. What a person may have changed in it is left out."""

    posted_at: AwareDatetime
    is_ours_alone: bool
    """Nobody else edited it. Else the next three fields are empty."""
    prediction: Prediction | None = None
    asked: bool = False
    """Whether it ever asked the reporter something."""
    labels: list[str] = Field(default_factory=list)
    """Hashes of the labels that it suggested, or that were added with it."""
    thumbs_up: int | None = None
    """None if the server does not say, as in the next two fields."""
    thumbs_down: int | None = None
    hidden_as: str | None = None
    """GitHub's reason in small letters, such as `outdated`; empty if it is not hidden."""


class ClosingFix(Value):
    """What closed an issue: merged pull requests, or a commit."""

    files: list[str] = Field(default_factory=list)
    """Paths that it edited."""
    is_whole: bool = True
    """Whether all of them are known: GitHub lists a part of a large change."""


class TriagedIssue(Value):
    """A closed issue with a comment of ours. Its title and labels are a stranger's."""

    number: int
    title: str
    closed_at: AwareDatetime
    labels: list[str] = Field(default_factory=list)
    fix: ClosingFix | None = None
    reporter_wrote_at: list[AwareDatetime] = Field(default_factory=list)
    """When the reporter commented, and last edited the text of the issue."""
    comment: OurComment


class ClosedIssues(Value):
    """The issues that were closed since a day."""

    closed: int
    """All of them, also those without a comment of ours."""
    triaged: list[TriagedIssue]
    since: AwareDatetime
    """All that were closed since then are known. Later than what was asked for if there are more than one run reads."""
