"""Reads what a person approves in a comment of ours.

The text of a comment and everybody who ever edited it come from one question.
"""

from triage.base.errors import GitHubUnavailable
from triage.domain.value import Value
from triage.outside.github.comments import find_comment
from triage.outside.github.github_errors import (
    ErrorKind,
    GitHubError,
    github_errors,
    translate_read_errors,
    unreadable_response,
)
from triage.outside.github.issue_nodes import EditedComment, parse_response
from triage.outside.github.issue_reader import read_comments
from triage.outside.github.repository_connection import RepositoryConnection


class CommentRecord(Value):
    """One of our comments with its text, and whether anybody else has edited it."""

    body: str
    is_ours_alone: bool
    """GitHub says that its author and everybody who edited it is the login of our token."""


def read_comment_record(connection: RepositoryConnection, comment_id: int) -> CommentRecord | None:
    """Return a comment of this token's account; None if it is gone or somebody else's. Raises as `IssueTracker`."""
    with translate_read_errors(connection.slug):
        return _read_record(connection, comment_id)


def _read_record(connection: RepositoryConnection, comment_id: int) -> CommentRecord | None:
    try:
        with github_errors():
            node_id = find_comment(connection.repository, comment_id).node_id
            if not node_id:
                raise unreadable_response()
    except GitHubError as error:
        if error.kind is ErrorKind.GONE:
            return None
        raise
    try:
        [node] = read_comments(connection, [node_id]) or [None]
    except GitHubError as error:
        if error.kind not in (ErrorKind.GONE, ErrorKind.INVALID):
            raise
        raise GitHubUnavailable("This GitHub server does not say who edited a comment (GraphQL API).") from None
    if node is None:
        return None
    comment, viewer = parse_response(EditedComment, node), connection.viewer_login
    if viewer is None or comment.comment_id != comment_id or not comment.is_in(connection.slug):
        raise unreadable_response()
    if comment.author is None or not comment.author.is_account(viewer):
        return None
    return CommentRecord(body=comment.body, is_ours_alone=comment.is_alone_by(viewer))
