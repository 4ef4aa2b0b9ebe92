"""Plans the comment that gets one more part beside the report: what an example did, or a proposed patch."""

from typing import Any

from triage.comment.comment import CommentParts, fit_comment, split_comment
from triage.comment.hidden_state import CommentState, parse_state, render_state
from triage.domain.effect import EditComment, PostComment
from triage.domain.issue import Issue
from triage.writes.deduplicate import find_our_comment


def read_state(issue: Issue) -> CommentState:
    """Return what our comment on the issue remembers; nothing without a comment."""
    comment = find_our_comment(issue)
    return (parse_state(comment.body) if comment else None) or CommentState()


def plan_comment_part(issue: Issue, remembered: dict[str, Any], **parts: str) -> PostComment | EditComment:
    """Return the comment with these parts, as `CommentParts` names them; a new one if there is none.

    `remembered` are fields of its hidden state.
    """
    number, comment = issue.number or 0, find_our_comment(issue)
    line = render_state(read_state(issue).model_copy(update=remembered))
    old = split_comment(comment.body) if comment else CommentParts(line, "")
    body = fit_comment(old._replace(state_line=line, **parts))
    if comment is None or comment.comment_id is None:
        return PostComment(issue_number=number, body=body)
    return EditComment(issue_number=number, comment_id=comment.comment_id, body=body)
