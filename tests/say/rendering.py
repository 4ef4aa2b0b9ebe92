"""Renders a report as `plan_report` does."""

from collections.abc import Sequence

from triage.domain.effect import Effect, LabelsMode
from triage.domain.report import RunReport
from triage.say import comment, job_page
from triage.say.decide import decide
from triage.say.hidden_state import CommentState
from triage.say.report_pages import build_comment_page


def render_comment(
    report: RunReport,
    previous: CommentState | None = None,
    labels: LabelsMode = "suggest",
    text: str = "",
) -> str:
    report = report.model_copy(update={"statements": decide(report)})
    page = build_comment_page(report, previous, labels)
    return comment.compose_comment("", (previous or CommentState()).with_report(report, text), page)


def render_job_page(
    report: RunReport, planned: Sequence[Effect] | None = None, *, says_why_no_comment: bool = False
) -> str:
    report = report.model_copy(update={"statements": decide(report)})
    return job_page.render_job_page(report, "suggest", planned, says_why_no_comment=says_why_no_comment)
