"""Renders a report as `plan_report` does."""

from collections.abc import Sequence

from triage.comment import comment
from triage.comment.hidden_state import CommentState, next_state
from triage.comment.sections import build_page
from triage.domain.effect import Effect, LabelsMode
from triage.domain.report import RunReport
from triage.job_page import summary


def render_comment(
    report: RunReport,
    previous: CommentState | None = None,
    paths: Sequence[str] = (),
    labels: LabelsMode = "suggest",
    text: str | None = "",
) -> str:
    page = build_page(report, previous, paths, labels)
    return comment.render_comment(page, next_state(report, previous, text))


def render_summary(
    report: RunReport,
    previous: CommentState | None = None,
    paths: Sequence[str] = (),
    planned: Sequence[Effect] | None = None,
    *,
    says_why_no_comment: bool = False,
) -> str:
    page = build_page(report, previous, paths)
    return summary.render_summary(page, report, planned, says_why_no_comment=says_why_no_comment)
