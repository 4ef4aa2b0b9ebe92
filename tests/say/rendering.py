"""Renders a report as `plan_report` does."""

from collections.abc import Sequence

from triage.domain.effect import Effect, LabelsMode
from triage.domain.report import RunReport
from triage.say import comment, job_page
from triage.say.decide import with_statements
from triage.say.hidden_state import CommentState, next_state
from triage.say.report_pages import build_comment_page


def render_comment(
    report: RunReport,
    previous: CommentState | None = None,
    labels: LabelsMode = "suggest",
    text: str | None = "",
) -> str:
    report = with_statements(report)
    page = build_comment_page(report, previous, labels)
    return comment.render_comment(page, next_state(report, previous, text))


def render_summary(
    report: RunReport, planned: Sequence[Effect] | None = None, *, says_why_no_comment: bool = False
) -> str:
    return job_page.render_summary(with_statements(report), "suggest", planned, says_why_no_comment=says_why_no_comment)
