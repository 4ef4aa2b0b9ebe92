"""The parts of GraphQL's answers about past issues. What GitHub does not show, such as a pull request, is null."""

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, Generic, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from triage.base.timestamps import Timestamp, parse_timestamp
from triage.comment.hidden_state import parse_state
from triage.domain.effect import COMMENT_MARKER
from triage.domain.past_issues import PastFix, PastIssue, StateReason
from triage.github.responses import DELETED_ACCOUNT, NodeList

MAX_BODY_CHARS = 6_000
"""Of a past issue. Nine of ten have less than 4,000."""
MAX_TITLE_CHARS = 300
N = TypeVar("N")


class Node(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Nodes(Node, Generic[N]):
    nodes: NodeList[N | None] | None = None


def list_nodes(nodes: Nodes[N] | None) -> list[N]:
    return [node for node in (nodes.nodes if nodes else None) or [] if node is not None]


class Named(Node):
    name: str = ""
    title: str = ""
    path: str = ""


class Account(Node):
    login: str = DELETED_ACCOUNT
    kind: str = Field("", alias="__typename")

    @property
    def rest_login(self) -> str:
        """The login as the REST API and the pages write it."""
        return f"{self.login}[bot]" if self.kind == "Bot" else self.login


class _Comment(Node):
    author: Account | None = None
    body: str = ""


class _Commit(Node):
    oid: str | None = None
    headline: str = Field("", alias="messageHeadline")
    at: Timestamp = Field(None, alias="committedDate")


class _PullCommit(Node):
    commit: _Commit | None = None


class _PullCommits(Nodes[_PullCommit]):
    total: int = Field(0, alias="totalCount")


class _PullRequest(Node):
    number: int
    title: str = ""
    merged_at: Timestamp = Field(None, alias="mergedAt")
    merge_commit: _Commit | None = Field(None, alias="mergeCommit")
    milestone: Named | None = None
    files: Nodes[Named] | None = None
    commits: _PullCommits | None = None

    @property
    def merged_commits(self) -> int:
        """Commits that the merge put onto the branch one after the other.

        Rebasing keeps the first line of each; a squash or a merge has one of its own.
        """
        last = next((one.commit for one in reversed(list_nodes(self.commits)) if one.commit), None)
        is_rebased = last and self.merge_commit and last.headline and last.headline == self.merge_commit.headline
        return max(1, self.commits.total) if is_rebased and self.commits else 1


class _Canonical(Node):
    number: int | None = None


class _Event(Node):
    kind: str = Field("", alias="__typename")
    closer: _Commit | None = None
    canonical: _Canonical | None = None
    is_cross_repository: bool = Field(False, alias="isCrossRepository")


class PastIssueResponse(Node):
    number: int = Field(ge=1)
    title: str = ""
    body: str | None = None
    state: str = "OPEN"
    state_reason: str | None = Field(None, alias="stateReason")
    created_at: Annotated[datetime, BeforeValidator(parse_timestamp)] = Field(alias="createdAt")
    updated_at: Timestamp = Field(None, alias="updatedAt")
    closed_at: Timestamp = Field(None, alias="closedAt")
    author: Account | None = None
    labels: Nodes[Named] | None = None
    issue_type: Named | None = Field(None, alias="issueType")
    milestone: Named | None = None
    pull_requests: Nodes[_PullRequest] | None = Field(None, alias="closedByPullRequestsReferences")
    events: Nodes[_Event] | None = None
    comments: Nodes[_Comment] | None = None
    repository: dict[str, Any] | None = None

    def is_in(self, slug: str) -> bool:
        name = (self.repository or {}).get("nameWithOwner")
        return isinstance(name, str) and name.casefold() == slug.casefold()

    def to_past_issue(self, is_own_login: Callable[[str], bool], body_chars: int = MAX_BODY_CHARS) -> PastIssue:
        reason = (self.state_reason or "").lower()
        return PastIssue(
            number=self.number,
            title=self.title[:MAX_TITLE_CHARS],
            body=(self.body or "")[:body_chars],
            author=self.author.rest_login if self.author else DELETED_ACCOUNT,
            labels=[label.name for label in list_nodes(self.labels) if label.name],
            issue_type=self.issue_type.name if self.issue_type else "",
            state="closed" if self.state == "CLOSED" else "open",
            state_reason=reason if reason in get_args(StateReason) else "",
            created_at=self.created_at,
            updated_at=self.updated_at,
            closed_at=self.closed_at,
            milestone=self.milestone.title if self.milestone else "",
            duplicate_of=self._find_original(),
            fixes=self._list_fixes() if self.state == "CLOSED" else [],
            suspects=self._find_suspects(is_own_login),
        )

    def _find_original(self) -> int | None:
        last = next((event for event in reversed(list_nodes(self.events)) if "Duplicate" in event.kind), None)
        if last is None or last.kind != "MarkedAsDuplicateEvent" or last.is_cross_repository:
            return None
        return last.canonical.number if last.canonical else None

    def _list_fixes(self) -> list[PastFix]:
        pulls = [
            PastFix(
                number=pull.number,
                commit=pull.merge_commit.oid if pull.merge_commit else None,
                title=pull.title[:MAX_TITLE_CHARS],
                milestone=pull.milestone.title if pull.milestone else "",
                files=[file.path for file in list_nodes(pull.files) if file.path],
                at=pull.merged_at,
                commits=pull.merged_commits,
            )
            for pull in list_nodes(self.pull_requests)
            if pull.merged_at
        ]
        # An issue that was opened again may have been closed by something else then.
        closed = [event.closer for event in list_nodes(self.events) if event.kind == "ClosedEvent"][-1:]
        commits = [closer for closer in closed if closer and closer.oid]
        return pulls + [
            PastFix(commit=commit.oid, title=commit.headline[:MAX_TITLE_CHARS], at=commit.at) for commit in commits
        ]

    def _find_suspects(self, is_own_login: Callable[[str], bool]) -> list[str]:
        # Anybody can write the marker.
        for comment in list_nodes(self.comments):
            login = comment.author.rest_login if comment.author else DELETED_ACCOUNT
            if comment.body.startswith(COMMENT_MARKER) and is_own_login(login):
                state = parse_state(comment.body)
                return state.suspects if state else []
        return []


class PageInfo(Node):
    has_next: bool = Field(False, alias="hasNextPage")
    end: str | None = Field(None, alias="endCursor")


class IssuePage(Node):
    """A page of the list or of the search. A pull request that the search finds is an object without fields."""

    info: PageInfo = Field(PageInfo(), alias="pageInfo")
    nodes: NodeList[Any] | None = None

    @property
    def issues(self) -> list[PastIssueResponse]:
        """The issues that can be read; one that cannot costs only itself."""
        return [issue for issue in map(_parse_issue, self.nodes or []) if issue]

    @property
    def next_cursor(self) -> str | None:
        return self.info.end if self.info.has_next else None


def _parse_issue(raw: object) -> PastIssueResponse | None:
    try:
        return PastIssueResponse.model_validate(raw)
    except ValidationError:
        return None
