"""The parts of GraphQL's answers about closed issues. What GitHub does not show, such as a pull request, is null."""

from datetime import UTC, datetime
from typing import Any, Generic, TypeVar

from pydantic import Field, ValidationError

from triage.base.timestamps import Timestamp
from triage.comment.hidden_state import CommentState, FirstNamed, parse_state
from triage.domain.past_issues import ClosingFix, OurComment, Prediction
from triage.github.comment_record import BOT_SUFFIX, EditedComment
from triage.github.responses import DELETED_ACCOUNT, MAX_NODES, NodeList, Response

MAX_TITLE_CHARS = 300
N = TypeVar("N")


class _Nodes(Response, Generic[N]):
    nodes: NodeList[N | None] | None = None

    @property
    def all(self) -> list[N]:
        return [node for node in self.nodes or [] if node is not None]


class _Account(Response):
    login: str = DELETED_ACCOUNT
    kind: str = Field("", alias="__typename")

    @property
    def rest_login(self) -> str:
        """The login as the REST API and the pages write it."""
        return f"{self.login}{BOT_SUFFIX}" if self.kind == "Bot" else self.login


class _CommentHead(Response):
    id: str
    created_at: Timestamp = Field(None, alias="createdAt")
    author: _Account | None = None

    @property
    def login(self) -> str:
        return self.author.rest_login if self.author else DELETED_ACCOUNT


class _File(Response):
    path: str = ""


class _Repository(Response):
    name: str = Field("", alias="nameWithOwner")


class Closer(Response):
    """A commit or a pull request. Nothing else has these fields."""

    oid: str | None = None
    number: int | None = None
    merged_at: Timestamp = Field(None, alias="mergedAt")
    changed_files: int | None = Field(None, alias="changedFiles")
    files: _Nodes[_File] | None = None
    repository: _Repository | None = None

    def is_in(self, slug: str) -> bool:
        return self.repository is not None and self.repository.name.casefold() == slug.casefold()


class _ClosedEvent(Response):
    closer: Closer | None = None


class ClosedIssueResponse(Response):
    number: int = Field(ge=1)
    title: str = ""
    closed_at: Timestamp = Field(None, alias="closedAt")
    updated_at: Timestamp = Field(None, alias="updatedAt")
    last_edited_at: Timestamp = Field(None, alias="lastEditedAt")
    author: _Account | None = None
    editor: _Account | None = None
    labels: _Nodes[dict[str, Any]] | None = None
    pull_requests: _Nodes[Closer] | None = Field(None, alias="closedByPullRequestsReferences")
    events: _Nodes[_ClosedEvent] | None = None
    comments: _Nodes[_CommentHead] | None = None

    @property
    def label_names(self) -> list[str]:
        names = [label.get("name") for label in (self.labels.all if self.labels else [])]
        return [name for name in names if isinstance(name, str) and name]

    @property
    def thread(self) -> list[_CommentHead]:
        return self.comments.all if self.comments else []

    @property
    def reporter_wrote_at(self) -> list[datetime]:
        if self.author is None:
            return []
        times = [comment.created_at for comment in self.thread if comment.login == self.author.rest_login]
        times += [self.last_edited_at] if self.editor and self.editor.rest_login == self.author.rest_login else []
        return [at for at in times if at]

    def list_closers(self, slug: str) -> list[Closer]:
        """Returns the merged pull requests and the commit of this repository that closed the issue."""
        events = [event.closer for event in (self.events.all if self.events else []) if event.closer]
        linked = self.pull_requests.all if self.pull_requests else []
        closers = [one for one in [*linked, *events] if one.is_in(slug) and (one.merged_at or one.oid)]
        return list({(one.number, one.oid): one for one in closers}.values())


def make_fix(pull_requests: list[Closer]) -> ClosingFix:
    """Returns what merged pull requests edited, all together."""
    files = [[file.path for file in (pull.files.all if pull.files else []) if file.path] for pull in pull_requests]
    counts = [pull.changed_files for pull in pull_requests]
    return ClosingFix(
        files=list(dict.fromkeys(path for paths in files for path in paths)),
        is_whole=all(count is None or count <= len(paths) for count, paths in zip(counts, files, strict=True)),
    )


class _Count(Response):
    total: int = Field(ge=0, alias="totalCount")


class CommentDetails(EditedComment):
    id: str
    posted_at: Timestamp = Field(None, alias="createdAt")
    is_minimized: bool | None = Field(None, alias="isMinimized")
    minimized_reason: str | None = Field(None, alias="minimizedReason")
    up: _Count | None = None
    down: _Count | None = None

    @property
    def login(self) -> str:
        if self.author is None:
            return DELETED_ACCOUNT
        return f"{self.author.login}{BOT_SUFFIX}" if self.author.kind == "Bot" else self.author.login

    def to_comment(self) -> OurComment | None:
        """Returns what the scorecard reads of it; None without a time."""
        if self.posted_at is None:
            return None
        is_ours_alone = self.is_alone_by(self.login)
        state = (parse_state(self.body) if is_ours_alone else None) or CommentState()
        hidden = (self.minimized_reason or "no reason").lower() if self.is_minimized else ""
        return OurComment(
            posted_at=self.posted_at,
            is_ours_alone=is_ours_alone,
            prediction=_to_prediction(state.named) if state.named else None,
            asked=bool(state.asked),
            labels=state.labels,
            thumbs_up=self.up.total if self.up else None,
            thumbs_down=self.down.total if self.down else None,
            hidden_as=None if self.is_minimized is None else hidden,
        )


def _to_prediction(named: FirstNamed) -> Prediction:
    at = datetime.fromtimestamp(named.at, UTC)
    return Prediction(at=at, by=named.by, chance=named.chance / 100, paths=named.paths)


class _PageInfo(Response):
    has_next: bool = Field(False, alias="hasNextPage")
    end: str | None = Field(None, alias="endCursor")


class ClosedIssuePage(Response):
    info: _PageInfo = Field(_PageInfo(), alias="pageInfo")
    nodes: NodeList[Any] | None = None

    @property
    def issues(self) -> list[ClosedIssueResponse]:
        """The issues that can be read; one that cannot costs only itself."""
        return parse_each(ClosedIssueResponse, self.nodes)

    @property
    def next_cursor(self) -> str | None:
        return self.info.end if self.info.has_next else None


R = TypeVar("R", bound=Response)


def parse_each(response_type: type[R], nodes: list[Any] | None) -> list[R]:
    """Returns the nodes that can be read, of at most `MAX_NODES`."""
    parsed: list[R] = []
    for node in (nodes or [])[:MAX_NODES]:
        try:
            parsed.append(response_type.model_validate(node))
        except ValidationError:
            continue
    return parsed
