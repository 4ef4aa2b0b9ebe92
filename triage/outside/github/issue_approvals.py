"""Reads what a person approves in a comment of ours, and answers with a reaction.

The text of a comment and everybody who ever edited it come from one question.
"""

from dataclasses import dataclass

from triage.base.errors import GitHubUnavailable
from triage.domain.effect import Reaction
from triage.domain.proposal import CommentRecord
from triage.outside.github.comments import find_comment
from triage.outside.github.github_errors import (
    ErrorKind,
    GitHubError,
    github_errors,
    translate_read_errors,
    translate_write_errors,
    unreadable_response,
)
from triage.outside.github.issue_nodes import EditedComment, parse_response
from triage.outside.github.issue_reader import read_comments
from triage.outside.github.repository_connection import RepositoryConnection, repeat_write


def read_comment_record(connection: RepositoryConnection, comment_id: int) -> CommentRecord | None:
    """Return a comment of this token's account; None if it is gone or somebody else's.

    Raises:
        GitHubError: GitHub did not answer, or not all of the question.
        GitHubUnavailable: There is no GraphQL API, or it does not know this question.
    """
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
    return CommentRecord(comment_id=comment_id, body=comment.body, is_ours_alone=comment.is_alone_by(viewer))


@dataclass
class GitHubIssueApprovals(RepositoryConnection):
    """What an approval asks of GitHub. Raises as `IssueTracker`."""

    refuses_secrets = True

    def read_comment_record(self, comment_id: int) -> CommentRecord | None:
        """Our comment, by one question about its text and all its edits; None if it is gone or not ours."""
        with translate_read_errors(self.slug):
            return read_comment_record(self, comment_id)

    def react(self, comment_id: int, reaction: Reaction) -> None:
        """Add a reaction to a comment. The same reaction twice is one."""
        comment = find_comment(self.writable, comment_id)
        with translate_write_errors(self.slug):
            # The same reaction twice is one.
            repeat_write(lambda: comment.create_reaction(reaction))
