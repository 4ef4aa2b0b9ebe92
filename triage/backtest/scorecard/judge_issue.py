"""Decides for one closed issue what came of our comment."""

from collections.abc import Callable
from datetime import datetime
from typing import Literal

from pydantic import AwareDatetime, Field

from triage.comment.hidden_state import hash_label
from triage.domain.past_issues import ClosingFix, OurComment, PredictedBy, TriagedIssue
from triage.domain.value import Value

IsProductCode = Callable[[str], bool]
FixKind = Literal["code", "no code", "too large", "none"]
"""Of the closing fix: edits product code, edits none, GitHub does not list all of its files, or there is none."""


class PlaceResult(Value):
    """Whether the files that our comment named first were edited by the fix."""

    named: list[str]
    by: PredictedBy
    chance: float
    first_right: bool
    any_right: bool


class IssueResult(Value):
    """What came of our comment on one issue. The title is a stranger's."""

    number: int
    title: str
    closed_at: AwareDatetime
    fix: FixKind
    edited: list[str] = Field(default_factory=list)
    """Product files that the fix edited."""
    place: PlaceResult | None = None
    """None without a fix that edits code, and if the comment named no place before the issue was closed."""
    edited_by_others: bool = False
    """Somebody else edited the comment: what it says is not counted."""
    answered: bool | None = None
    """Whether the reporter wrote between our comment and the close; None if nothing was asked."""
    labels: int = 0
    """Labels that we suggested or added."""
    labels_on_issue: int = 0
    """Those of them that the issue has."""
    hidden_as: str | None = None
    thumbs_up: int | None = None
    thumbs_down: int | None = None


def judge_issue(issue: TriagedIssue, is_product_code: IsProductCode) -> IssueResult:
    """Returns the result. `is_product_code` says whether a path is code, and no test, example or documentation."""
    comment = issue.comment
    carried = {hash_label(label) for label in issue.labels}
    edited = [path for path in (issue.fix.files if issue.fix else []) if is_product_code(path)]
    kind = _classify_fix(issue.fix, edited)
    return IssueResult(
        number=issue.number,
        title=issue.title,
        closed_at=issue.closed_at,
        fix=kind,
        edited=edited,
        place=_judge_place(comment, edited, issue.closed_at) if kind == "code" else None,
        edited_by_others=not comment.is_ours_alone,
        answered=_is_answered(issue) if comment.asked else None,
        labels=len(comment.labels),
        labels_on_issue=sum(label in carried for label in comment.labels),
        hidden_as=comment.hidden_as,
        thumbs_up=comment.thumbs_up,
        thumbs_down=comment.thumbs_down,
    )


def _classify_fix(fix: ClosingFix | None, edited: list[str]) -> FixKind:
    if fix is None:
        return "none"
    if not fix.is_whole:
        return "too large"
    return "code" if edited else "no code"


def _judge_place(comment: OurComment, edited: list[str], closed_at: datetime) -> PlaceResult | None:
    named = comment.prediction
    if named is None or named.at > closed_at:
        return None
    return PlaceResult(
        named=named.paths,
        by=named.by,
        chance=named.chance,
        first_right=named.paths[0] in edited,
        any_right=any(path in edited for path in named.paths),
    )


def _is_answered(issue: TriagedIssue) -> bool:
    return any(issue.comment.posted_at < at <= issue.closed_at for at in issue.reporter_wrote_at)
