"""Renders the comment: hidden state, part for the reporter, part for maintainers, folded sections, footer."""

from collections.abc import Sequence

from triage.domain.effect import LabelsMode
from triage.domain.report import RunReport
from triage.publish.hidden_state import PostedState, next_state, render_state
from triage.publish.sections import MAX_COMMENT_UNITS, build_page, render_page

QUIET_NOTICE = "_Triage is quiet on this issue. A comment that says_ `/triage` _wakes it._"


def render_comment(
    report: RunReport,
    previous: PostedState | None = None,
    paths: Sequence[str] = (),
    *,
    labels: LabelsMode = "suggest",
    text: str | None = "",
) -> str:
    """Returns the whole body of the comment.

    `paths` are all indexed files, to name suspects that are withdrawn. `text` is the hash of the issue; None if the
    report is partial and any later one replaces it.
    """
    body = render_page(build_page(report, previous, paths, labels), MAX_COMMENT_UNITS)
    return f"{render_state(next_state(report, previous, text))}\n{body}\n"


def render_quiet_comment(body: str, state: PostedState) -> str:
    rest = body.partition("\n")[2]
    return f"{render_state(state.model_copy(update={'quiet': True}))}\n{QUIET_NOTICE}\n\n{rest}".rstrip() + "\n"
