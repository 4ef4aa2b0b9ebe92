"""Renders a report as `plan_report` does."""

from collections.abc import Sequence

from triage.domain.effect import Effect, LabelsMode
from triage.domain.report import RunReport
from triage.say import comment, job_page
from triage.say.hidden_state import CommentState, next_state
from triage.say.sections import build_page


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
    return job_page.render_summary(page, report, planned, says_why_no_comment=says_why_no_comment)
