"""Renders the comment: hidden state, part for the reporter, part for maintainers, folded sections, footer."""

from dataclasses import replace

from triage.domain.effect import Policy
from triage.domain.report import RunReport
from triage.publish.decide_comment import decide_comment
from triage.publish.hidden_state import CommentState, render_state
from triage.publish.sections import MAX_COMMENT_UNITS, Page, build_page, render_page

QUIET_NOTICE = "_Triage is quiet on this issue. A comment that says_ `/triage` _wakes it._"


def render_comment(page: Page, state: CommentState) -> str:
    """Returns the whole body of the comment. `state` is what it remembers."""
    return f"{render_state(state)}\n{render_visible_comment(page)}\n"


def render_visible_comment(page: Page) -> str:
    """Returns the comment without its first line, the hidden state."""
    folds = [fold for fold in page.folds if not fold.is_summary_only]
    return render_page(replace(page, folds=folds), MAX_COMMENT_UNITS)


def preview_comment(report: RunReport, policy: Policy) -> RunReport:
    """Returns the report with the comment that an issue gets which was just opened, if it gets any."""
    speaks = decide_comment(report, policy.comment)
    page = build_page(report, labels=policy.labels)
    return report.model_copy(update={"speaks": speaks, "comment": render_visible_comment(page) if speaks else None})


def render_quiet_comment(body: str, state: CommentState) -> str:
    rest = body.partition("\n")[2]
    return f"{render_state(state.model_copy(update={'quiet': True}))}\n{QUIET_NOTICE}\n\n{rest}".rstrip() + "\n"
