"""Plans the comment that gets one more part beside the report: what an example did, or a proposed patch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from triage.comment.comment import fit_comment, split_comment
from triage.comment.hidden_state import CommentState, parse_state, render_state
from triage.domain.effect import EditComment, Effect, PostComment
from triage.domain.issue import Issue, IssueComment
from triage.domain.task import RunKey
from triage.writes.deduplicate import find_our_comment


def read_state(issue: Issue) -> CommentState:
    """Return what our comment on the issue remembers; nothing without a comment."""
    comment = find_our_comment(issue)
    return (parse_state(comment.body) if comment else None) or CommentState()


def plan_comment_part(issue: Issue, remembered: Mapping[str, Any], **parts: str) -> PostComment | EditComment:
    """Return the comment with these parts, as `CommentParts` names them; a new one if there is none.

    `remembered` are fields of its hidden state.
    """
    return _plan_part(issue.number or 0, find_our_comment(issue), Addition(remembered, parts))


@dataclass(frozen=True)
class Addition:
    """What another job says beside the report of a triage, in the same comment."""

    remembered: Mapping[str, Any]
    """As `plan_comment_part`."""
    parts: Mapping[str, str]
    others: Sequence[Effect] = ()
    """What it writes besides, such as its own page."""


def add_to_comment(
    effects: Sequence[Effect],
    number: int,
    previous: IssueComment | None,
    remembered: CommentState | None,
    run_key: RunKey | None,
    addition: Addition,
) -> list[Effect]:
    """Return the effects of a report with the addition in their one comment, or with a comment that only gets that.

    The run counts in either. `remembered` is what the previous comment knows, or without one a silent run.
    """
    comment = next((one for one in effects if isinstance(one, PostComment | EditComment)), None)
    if comment is None:
        return [_plan_part(number, previous, addition, (remembered or CommentState()).with_run(run_key)), *effects]
    changed = comment.model_copy(update={"body": _add_part(comment.body, addition)})
    return [changed if one is comment else one for one in effects]


def _plan_part(
    number: int, comment: IssueComment | None, addition: Addition, state: CommentState | None = None
) -> PostComment | EditComment:
    body = _add_part(comment.body if comment else "", addition, state)
    if comment is None or comment.comment_id is None:
        return PostComment(issue_number=number, body=body)
    return EditComment(issue_number=number, comment_id=comment.comment_id, body=body)


def _add_part(body: str, addition: Addition, state: CommentState | None = None) -> str:
    state = (state or parse_state(body) or CommentState()).model_copy(update=addition.remembered)
    return fit_comment(split_comment(body)._replace(state_line=render_state(state), **addition.parts))
