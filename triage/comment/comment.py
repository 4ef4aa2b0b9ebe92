"""Renders the comment: hidden state, part for the reporter, part for maintainers, folded sections, footer."""

from dataclasses import replace

from triage.comment.comment_parts import CommentParts, join_comment, split_comment
from triage.comment.decide_comment import decide_comment
from triage.comment.hidden_state import CommentState, render_state
from triage.comment.sections import MAX_COMMENT_UNITS, Page, build_page, render_page, utf16_length
from triage.domain.effect import Policy
from triage.domain.report import RunReport

QUIET_NOTICE = "_Triage is quiet on this issue. A comment that says_ `/triage` _wakes it._"


def render_comment(page: Page, state: CommentState, previous: str = "") -> str:
    """Returns the whole body of the comment. `state` is what it remembers.

    A proposal and an answer of the `previous` body stay. The report has the room that they leave.
    """
    old = split_comment(previous)
    room = MAX_COMMENT_UNITS - utf16_length(old.proposal + old.answer)
    report = render_visible_comment(page, room)
    return join_comment(CommentParts(render_state(state), report, old.proposal, old.answer))


def render_visible_comment(page: Page, max_utf16_units: int = MAX_COMMENT_UNITS) -> str:
    """Returns the report of the comment, without its first line, the hidden state."""
    folds = [fold for fold in page.folds if not fold.is_summary_only]
    return render_page(replace(page, folds=folds), max_utf16_units)


def preview_comment(report: RunReport, policy: Policy) -> RunReport:
    """Returns the report with the comment that an issue gets which was just opened, if it gets any."""
    speaks = decide_comment(report, policy.comment)
    page = build_page(report, labels=policy.labels)
    return report.model_copy(update={"speaks": speaks, "comment": render_visible_comment(page) if speaks else None})


def render_quiet_comment(body: str, state: CommentState) -> str:
    rest = body.partition("\n")[2]
    return f"{render_state(state.model_copy(update={'quiet': True}))}\n{QUIET_NOTICE}\n\n{rest}".rstrip() + "\n"
