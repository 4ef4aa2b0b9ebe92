"""Plans the comment that gets one more part beside the report: what an example did, or a proposed patch."""

from collections.abc import Mapping
from typing import Any

from triage.comment.comment import fit_comment, split_comment
from triage.comment.hidden_state import CommentState, parse_state, render_state
from triage.domain.effect import EditComment, PostComment
from triage.domain.issue import Issue
from triage.writes.deduplicate import find_our_comment


def read_state(issue: Issue) -> CommentState:
    """Return what our comment on the issue remembers; nothing without a comment."""
    comment = find_our_comment(issue)
    return (parse_state(comment.body) if comment else None) or CommentState()


def plan_comment_part(issue: Issue, remembered: Mapping[str, Any], **parts: str) -> PostComment | EditComment:
    """Return the comment with these parts, as `CommentParts` names them; a new one if there is none.

    `remembered` are fields of its hidden state.
    """
    comment, number = find_our_comment(issue), issue.number or 0
    body = comment.body if comment else ""
    state = (parse_state(body) or CommentState()).model_copy(update=remembered)
    body = fit_comment(split_comment(body)._replace(state_line=render_state(state), **parts))
    if comment is None or comment.comment_id is None:
        return PostComment(issue_number=number, body=body)
    return EditComment(issue_number=number, comment_id=comment.comment_id, body=body)
