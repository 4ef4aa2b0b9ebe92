"""Plans the comment that gets one more part beside the report: what an example did, or a proposed patch."""

from collections.abc import Mapping, Sequence
from typing import Any

from triage.comment.comment import compose_comment
from triage.comment.hidden_state import CommentState, PartName, parse_state
from triage.domain.effect import EditComment, PostComment
from triage.domain.issue import Issue
from triage.writes.deduplicate import find_our_comment


def read_state(issue: Issue) -> CommentState:
    """Return what our comment on the issue remembers; nothing without a comment."""
    comment = find_our_comment(issue)
    return (parse_state(comment.body) if comment else None) or CommentState()


def plan_comment_parts(
    issue: Issue, parts: Mapping[PartName, str], remembered: Mapping[str, Any], links: Sequence[str] = ()
) -> PostComment | EditComment:
    """Return the comment with these parts; a new one if there is none.

    `remembered` are fields of its hidden state, and `links` all that the parts may link to.
    """
    comment = find_our_comment(issue)
    state = read_state(issue).model_copy(update=dict(remembered))
    body = compose_comment(comment.body if comment else "", state, parts, links)
    if comment is None or comment.comment_id is None:
        return PostComment(issue_number=issue.number or 0, body=body)
    return EditComment(issue_number=issue.number or 0, comment_id=comment.comment_id, body=body)
