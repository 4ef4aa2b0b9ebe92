"""Renders the comment: hidden state, part for the reporter, part for maintainers, folded sections, footer."""

from dataclasses import replace

from triage.publish.hidden_state import CommentState, render_state
from triage.publish.sections import MAX_COMMENT_UNITS, Page, render_page

QUIET_NOTICE = "_Triage is quiet on this issue. A comment that says_ `/triage` _wakes it._"


def render_comment(page: Page, state: CommentState) -> str:
    """Returns the whole body of the comment. `state` is what it remembers."""
    return f"{render_state(state)}\n{render_visible_comment(page)}\n"


def render_visible_comment(page: Page) -> str:
    """Returns the comment without its first line, the hidden state."""
    folds = [fold for fold in page.folds if not fold.is_summary_only]
    return render_page(replace(page, folds=folds), MAX_COMMENT_UNITS)


def render_quiet_comment(body: str, state: CommentState) -> str:
    rest = body.partition("\n")[2]
    return f"{render_state(state.model_copy(update={'quiet': True}))}\n{QUIET_NOTICE}\n\n{rest}".rstrip() + "\n"
