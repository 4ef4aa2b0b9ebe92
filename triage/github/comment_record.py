"""Asks GitHub for the text of a comment and for everybody who ever edited it, in one question.

What the fields mean stands in GitHub's GraphQL reference: `IssueComment.userContentEdits`, `UserContentEdit.editor`.
"""

from typing import TYPE_CHECKING

from pydantic import Field

from triage.base.errors import GitHubUnavailable
from triage.domain.proposal import CommentRecord
from triage.github.github_errors import ErrorKind, GitHubError, unreadable_response
from triage.github.responses import Response, parse_response

if TYPE_CHECKING:
    from triage.github.github_client import GitHubClient

BOT_SUFFIX = "[bot]"
_QUERY = """query($id: ID!) {
  viewer { login }
  node(id: $id) {
    ... on IssueComment {
      fullDatabaseId
      repository { nameWithOwner }
      body
      author { __typename login }
      editor { __typename login }
      lastEditedAt
      userContentEdits(first: 100) {
        nodes { editor { __typename login } deletedAt }
        pageInfo { hasNextPage }
      }
    }
  }
}"""


class _NodeId(Response):
    node_id: str = Field(min_length=1)


class Actor(Response):
    kind: str = Field(alias="__typename")
    login: str

    def is_account(self, viewer: str) -> bool:
        """Whether this is the account with a login as GraphQL's `viewer` has it.

        There an app is `name[bot]`. Elsewhere in GraphQL it is a `Bot` named `name`, and somebody else may have the
        user name `name`.
        """
        if viewer.endswith(BOT_SUFFIX):
            return self.kind == "Bot" and f"{self.login}{BOT_SUFFIX}".casefold() == viewer.casefold()
        return self.kind == "User" and self.login.casefold() == viewer.casefold()


class _Edit(Response):
    editor: Actor | None
    deleted_at: str | None = Field(alias="deletedAt")


class _PageInfo(Response):
    has_next_page: bool = Field(alias="hasNextPage")


class Edits(Response):
    nodes: list[_Edit | None]
    page: _PageInfo = Field(alias="pageInfo")


class _Repository(Response):
    name: str = Field(alias="nameWithOwner")


class EditedComment(Response):
    """A comment, and who edited it."""

    body: str
    author: Actor | None
    editor: Actor | None
    last_edited_at: str | None = Field(alias="lastEditedAt")
    edits: Edits | None = Field(alias="userContentEdits")

    def is_alone_by(self, viewer: str) -> bool:
        """Whether this account wrote the comment and made every edit. What GitHub does not say counts as no."""
        nodes = self.edits.nodes if self.edits else []
        if self.edits and self.edits.page.has_next_page:
            return False
        if self.edits is None and self.editor is not None:
            return False  # without a list of edits only a comment that was never edited counts
        if self.last_edited_at is not None and (self.editor is None or not nodes):
            return False
        if any(edit is None or edit.deleted_at is not None for edit in nodes):
            return False
        actors = [self.author, *(edit.editor for edit in nodes if edit)]
        actors += [self.editor] if self.editor else []
        return all(actor is not None and actor.is_account(viewer) for actor in actors)


class _Comment(EditedComment):
    comment_id: int = Field(alias="fullDatabaseId")
    repository: _Repository


class _Viewer(Response):
    login: str = Field(min_length=1)


class _Answer(Response):
    viewer: _Viewer
    comment: _Comment


def read_comment_record(client: "GitHubClient", slug: str, comment_id: int) -> CommentRecord | None:
    """Returns a comment of this token's account; None if it is gone or somebody else's.

    Raises:
        GitHubError: GitHub did not answer, or not all of the question.
        GitHubUnavailable: There is no GraphQL API, or it does not know this question.
    """
    try:
        raw = client.get(f"/repos/{slug}/issues/comments/{comment_id}")
    except GitHubError as error:
        if error.kind is ErrorKind.GONE:
            return None
        raise
    try:
        data = client.query(_QUERY, {"id": parse_response(_NodeId, raw).node_id})
    except GitHubError as error:
        if error.kind not in (ErrorKind.GONE, ErrorKind.INVALID):
            raise
        raise GitHubUnavailable("This GitHub server does not say who edited a comment (GraphQL API).") from None
    if data.get("node") is None:
        return None
    answer = parse_response(_Answer, {"viewer": data.get("viewer"), "comment": data["node"]})
    comment, viewer = answer.comment, answer.viewer.login
    if comment.comment_id != comment_id or comment.repository.name.casefold() != slug.casefold():
        raise unreadable_response()
    if comment.author is None or not comment.author.is_account(viewer):
        return None
    return CommentRecord(comment_id=comment_id, body=comment.body, is_ours_alone=comment.is_alone_by(viewer))
