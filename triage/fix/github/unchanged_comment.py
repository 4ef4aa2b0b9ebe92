"""Reads what a person approves in a comment of ours.

The text of a comment and everybody who ever edited it come from one question.
"""

from triage.base.errors import GitHubUnavailable
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


def read_unchanged_comment(connection: RepositoryConnection, comment_id: int) -> str:
    """Return the text of a comment that only the account of this token has written and edited; else an empty one.

    Raises as `IssueTracker`.
    """
    with translate_read_errors(connection.slug):
        try:
            with github_errors():
                node_id = find_comment(connection.repository, comment_id).node_id
                if not node_id:
                    raise unreadable_response()
        except GitHubError as error:
            if error.kind is ErrorKind.GONE:
                return ""
            raise
        try:
            [node] = read_comments(connection, [node_id]) or [None]
        except GitHubError as error:
            if error.kind not in (ErrorKind.GONE, ErrorKind.INVALID):
                raise
            raise GitHubUnavailable("This GitHub server does not say who edited a comment (GraphQL API).") from None
        if node is None:
            return ""
        comment, viewer = parse_response(EditedComment, node), connection.viewer_login
        if viewer is None or comment.comment_id != comment_id or not comment.is_in(connection.slug):
            raise unreadable_response()
        is_ours = comment.author is not None and comment.author.is_account(viewer) and comment.is_alone_by(viewer)
        return comment.body if is_ours else ""
