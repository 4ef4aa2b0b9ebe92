"""The one shape of issues, pull requests and comments in answers of GitHub's GraphQL.

What a question does not ask for, and what GitHub does not show, such as a deleted account, is null or missing here.
"""

from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from triage.domain.value import Timestamp
from triage.outside.github.comments import DELETED_ACCOUNT
from triage.outside.github.github_errors import unreadable_response


class Response(BaseModel):
    """A part of a response. Unknown fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


N = TypeVar("N")
R = TypeVar("R", bound=Response)


def parse_response(response_type: type[R], raw: object) -> R:
    """Return a response with its fields checked. Raises GitHubError if it has another form."""
    try:
        return response_type.model_validate(raw)
    except ValidationError:
        raise unreadable_response() from None


MAX_NODES = 100
"""The longest list that GitHub's GraphQL sends."""
MAX_TITLE_CHARS = 300
"""Of issues and pull requests in lists."""
BOT_SUFFIX = "[bot]"


class Nodes(Response, Generic[N]):
    nodes: list[N | None] | None = None


def list_nodes(nodes: Nodes[N] | None) -> list[N]:
    """Return what GitHub shows of a list."""
    return [node for node in (nodes.nodes if nodes else None) or [] if node is not None]


class PageInfo(Response):
    has_next: bool = Field(False, alias="hasNextPage")
    end: str | None = Field(None, alias="endCursor")


class NodePage(Response):
    """A page of a list or of a search, of which each node is checked apart: one that cannot be read costs only itself.

    A pull request that a search finds is an object without fields.
    """

    info: PageInfo = Field(PageInfo(), alias="pageInfo")
    nodes: list[Any] | None = None
    total: int = Field(0, alias="issueCount")
    """What a search finds, also beyond its last page."""

    @property
    def next_cursor(self) -> str | None:
        return self.info.end if self.info.has_next else None


def parse_each(response_type: type[R], nodes: list[Any] | None) -> list[R]:
    """Return the nodes that can be read."""
    parsed: list[R] = []
    for node in nodes or []:
        try:
            parsed.append(response_type.model_validate(node))
        except ValidationError:
            continue
    return parsed


class Named(Response):
    """A label, an issue type, a milestone, a file or another issue: one of the fields."""

    number: int | None = None
    name: str = ""
    title: str = ""
    path: str = ""


class Actor(Response):
    """An account. An app is a `Bot` named `name` here, and `name[bot]` in the REST API, on pages and as `viewer`."""

    kind: str = Field("", alias="__typename")
    login: str = DELETED_ACCOUNT

    @property
    def is_bot(self) -> bool:
        return self.kind == "Bot"

    @property
    def rest_login(self) -> str:
        return f"{self.login}{BOT_SUFFIX}" if self.is_bot else self.login

    def is_account(self, viewer: str) -> bool:
        """Return whether this is the account with a login as `viewer` has it: a user may have the name of an app."""
        is_right_kind = self.is_bot if viewer.endswith(BOT_SUFFIX) else self.kind == "User"
        return is_right_kind and self.rest_login.casefold() == viewer.casefold()


class RepositoryNode(Response):
    name: str = Field("", alias="nameWithOwner")


class _InRepository(Response):
    repository: RepositoryNode | None = None

    def is_in(self, slug: str) -> bool:
        return self.repository is not None and self.repository.name.casefold() == slug.casefold()


class Authored(Response):
    author: Actor | None = None

    @property
    def login(self) -> str:
        return self.author.rest_login if self.author else DELETED_ACCOUNT


class _Edit(Response):
    editor: Actor | None
    deleted_at: str | None = Field(alias="deletedAt")


class _EditsPage(PageInfo):
    has_next: bool = Field(alias="hasNextPage")


class _Edits(Response):
    nodes: list[_Edit | None]
    page: _EditsPage = Field(alias="pageInfo")


class EditedComment(Authored, _InRepository):
    """A comment, and who edited it. All that says so must be there."""

    id: str
    comment_id: int = Field(alias="fullDatabaseId")
    body: str
    created_at: Timestamp = Field(None, alias="createdAt")
    author: Actor | None
    editor: Actor | None
    last_edited_at: str | None = Field(alias="lastEditedAt")
    edits: _Edits | None = Field(alias="userContentEdits")

    def is_alone_by(self, viewer: str) -> bool:
        """Return whether this account wrote the comment and made every edit. What GitHub does not say counts as no."""
        nodes = self.edits.nodes if self.edits else []
        if self.edits and self.edits.page.has_next:
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


class CommitNode(Response):
    oid: str | None = None
    headline: str = Field("", alias="messageHeadline")
    at: Timestamp = Field(None, alias="committedDate")


class _PullCommit(Response):
    commit: CommitNode | None = None


class _PullCommits(Nodes[_PullCommit]):
    total: int = Field(0, alias="totalCount")


class Closer(CommitNode, _InRepository):
    """A commit or a pull request, which alone has a number. Nothing else has these fields."""

    number: int | None = None
    title: str = ""
    merged_at: Timestamp = Field(None, alias="mergedAt")
    merge_commit: CommitNode | None = Field(None, alias="mergeCommit")
    milestone: Named | None = None
    changed_files: int | None = Field(None, alias="changedFiles")
    files: Nodes[Named] | None = None
    commits: _PullCommits | None = None

    @property
    def paths(self) -> list[str]:
        return [file.path for file in list_nodes(self.files) if file.path]

    @property
    def merged_commits(self) -> int:
        """Return the commits that the merge put onto the branch one after the other.

        Rebasing keeps the first line of each; a squash or a merge has one of its own.
        """
        last = next((one.commit for one in reversed(list_nodes(self.commits)) if one.commit), None)
        is_rebased = last and self.merge_commit and last.headline and last.headline == self.merge_commit.headline
        return max(1, self.commits.total) if is_rebased and self.commits else 1


class EventNode(Response):
    kind: str = Field("", alias="__typename")
    closer: Closer | None = None
    canonical: Named | None = None
    is_cross_repository: bool = Field(False, alias="isCrossRepository")


class CommentNode(Authored):
    id: str = ""
    comment_id: int | None = Field(None, alias="fullDatabaseId", ge=1, lt=2**63)
    body: str | None = None
    created_at: Timestamp = Field(None, alias="createdAt")
    updated_at: Timestamp = Field(None, alias="updatedAt")


class CommentPage(Nodes[CommentNode]):
    info: PageInfo = Field(PageInfo(), alias="pageInfo")


class IssueNode(Authored, _InRepository):
    """An issue or a pull request, with what any question of ours asks for."""

    number: int = Field(ge=1)
    title: str = ""
    body: str | None = None
    url: str = ""
    state: str = "OPEN"
    pull_state: str | None = Field(None, alias="pullState")
    """`OPEN`, `CLOSED` or `MERGED` of a pull request; None of an issue."""
    state_reason: str | None = Field(None, alias="stateReason")
    locked: bool = False
    created_at: Timestamp = Field(None, alias="createdAt")
    updated_at: Timestamp = Field(None, alias="updatedAt")
    closed_at: Timestamp = Field(None, alias="closedAt")
    last_edited_at: Timestamp = Field(None, alias="lastEditedAt")
    editor: Actor | None = None
    labels: Nodes[Named] | None = None
    issue_type: Named | None = Field(None, alias="issueType")
    milestone: Named | None = None
    pull_requests: Nodes[Closer] | None = Field(None, alias="closedByPullRequestsReferences")
    events: Nodes[EventNode] | None = None
    comments: CommentPage | None = None

    @property
    def label_names(self) -> list[str]:
        return [label.name for label in list_nodes(self.labels) if label.name]
