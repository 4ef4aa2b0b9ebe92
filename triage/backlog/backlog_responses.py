"""The parts of GraphQL's answers about the issues of a backlog."""

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError

from triage.backlog.backlog import ListedIssue
from triage.base.timestamps import Timestamp, parse_timestamp
from triage.domain.effect import COMMENT_MARKER
from triage.domain.issue import Issue, IssueComment
from triage.github.past_issue_responses import Account, Named, Node, Nodes, PageInfo, list_nodes
from triage.github.responses import DELETED_ACCOUNT, NodeList

Created = Annotated[datetime, BeforeValidator(parse_timestamp)]


class _CommentNode(Node):
    comment_id: int = Field(alias="fullDatabaseId", ge=1, lt=2**63)
    author: Account | None = None
    body: str | None = None
    created_at: Timestamp = Field(None, alias="createdAt")
    updated_at: Timestamp = Field(None, alias="updatedAt")

    def to_comment(self, is_own_login: Callable[[str], bool]) -> IssueComment:
        login = self.author.rest_login if self.author else DELETED_ACCOUNT
        body = self.body or ""
        return IssueComment(
            author=login,
            body=body,
            created_at=self.created_at,
            edited_at=self.updated_at,
            by_bot=bool(self.author and self.author.kind == "Bot"),
            ours=body.startswith(COMMENT_MARKER) and is_own_login(login),
            comment_id=self.comment_id,
        )


class CommentPage(Nodes[_CommentNode]):
    info: PageInfo = Field(PageInfo(), alias="pageInfo")

    def list_comments(self, is_own_login: Callable[[str], bool]) -> list[IssueComment]:
        return [node.to_comment(is_own_login) for node in list_nodes(self)]


class BacklogIssueResponse(Node):
    number: int = Field(ge=1)
    title: str = ""
    body: str | None = None
    url: str = ""
    state: str = "OPEN"
    locked: bool = False
    created_at: Created = Field(alias="createdAt")
    author: Account | None = None
    labels: Nodes[Named] | None = None
    comments: CommentPage
    repository: Named

    @property
    def login(self) -> str:
        return self.author.rest_login if self.author else DELETED_ACCOUNT

    def to_listed(self, thread: list[IssueComment], now: datetime | None) -> ListedIssue:
        issue = Issue(
            number=self.number,
            title=self.title,
            body=self.body or "",
            url=self.url,
            author=self.login,
            author_is_bot=bool(self.author and self.author.kind == "Bot"),
            labels=[label.name for label in list_nodes(self.labels) if label.name],
            state=self.state.lower(),
            locked=self.locked,
            thread=thread,
            snapshot_time=now,
        )
        return ListedIssue(issue=issue, created_at=self.created_at)


class SearchResponse(Node):
    count: int = Field(0, alias="issueCount")
    info: PageInfo = Field(PageInfo(), alias="pageInfo")
    nodes: NodeList[Any] | None = None

    def parse_issues(self, slug: str) -> Iterator[BacklogIssueResponse | int]:
        """Yields the issues of a repository. Of one that cannot be read, its number."""
        for raw in self.nodes or []:
            if not isinstance(raw, dict) or not _is_in(raw, slug):
                continue
            try:
                yield BacklogIssueResponse.model_validate(raw)
            except ValidationError:
                number = raw.get("number")
                if isinstance(number, int):
                    yield number


def _is_in(raw: dict[str, Any], slug: str) -> bool:
    repository = raw.get("repository")
    name = repository.get("nameWithOwner") if isinstance(repository, dict) else None
    return isinstance(name, str) and name.casefold() == slug.casefold()
