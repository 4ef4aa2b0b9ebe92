"""The one comment: hidden state, the reporter's part, the maintainer's part, folds, footer."""

from collections.abc import Sequence

from triage.domain.effect import LabelsMode
from triage.domain.report import RunReport
from triage.publish.hidden_state import PostedState, next_state, render_state
from triage.publish.sections import build_page
from triage.publish.size_limit import MAX_COMMENT_UNITS, ensure_inert, fit_page

QUIET_NOTICE = "_Triage is quiet on this issue. A comment that says_ `/triage` _wakes it._"


def render_comment(
    report: RunReport,
    previous: PostedState | None = None,
    paths: Sequence[str] = (),
    *,
    labels: LabelsMode = "suggest",
    text: str | None = "",
) -> str:
    """The comment's whole body.

    `previous` is the state of the comment that it replaces, `paths` all indexed files (to name withdrawn suspects),
    `text` the hash of the issue that was read; none for a partial report, which any later one replaces.
    """
    content = build_page(report, previous, paths, labels)
    body = ensure_inert(fit_page(content, MAX_COMMENT_UNITS), content.links, MAX_COMMENT_UNITS)
    return f"{render_state(next_state(report, previous, text))}\n{body}\n"


def render_quiet_comment(body: str, state: PostedState) -> str:
    """Our comment with a line that says that nothing more will come, and the state that remembers it."""
    rest = body.partition("\n")[2]
    return f"{render_state(state.model_copy(update={'quiet': True}))}\n{QUIET_NOTICE}\n\n{rest}".rstrip() + "\n"
