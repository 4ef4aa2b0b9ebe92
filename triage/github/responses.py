"""The parts of GitHub's responses that we read. Unknown fields are ignored; deleted accounts are null."""

from datetime import datetime
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from triage.base.timestamps import Timestamp
from triage.domain.effect import SuggestionKind
from triage.domain.issue import Issue, IssueComment
from triage.github.github_errors import unreadable_response

DELETED_ACCOUNT = "ghost"
"""What GitHub's pages call a deleted account."""


LONG_TEXTS = 25
"""Items with a long text on one page: 10 MB, as a text has 65,536 characters of six bytes at most (`\\u001b`). GitHub
takes 2,500 comments on an issue."""
MAX_NODES = 100
"""The longest list that any query of ours asks for, and that GitHub's GraphQL sends."""
T = TypeVar("T")


def _cut_nodes(nodes: object) -> object:
    return nodes[:MAX_NODES] if isinstance(nodes, list) else nodes


NodeList = Annotated[list[T], BeforeValidator(_cut_nodes)]
"""Of a longer list than was asked for, the first nodes: checking 300,000 takes a gigabyte and a minute."""


class Response(BaseModel):
    """A part of a response. Unknown fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Account(Response):
    login: str = DELETED_ACCOUNT
    type: str = ""


class LabelResponse(Response):
    name: str | None = None


class CommentResponse(Response):
    id: int = Field(ge=1, lt=2**63)
    html_url: str = ""
    body: str | None = None
    user: Account | None = None
    created_at: Timestamp = None
    updated_at: Timestamp = None

    @property
    def login(self) -> str:
        return self.user.login if self.user else DELETED_ACCOUNT

    def to_comment(self, *, ours: bool) -> IssueComment:
        return IssueComment(
            author=self.login,
            body=self.body or "",
            created_at=self.created_at,
            edited_at=self.updated_at,
            by_bot=bool(self.user and self.user.type == "Bot"),
            ours=ours,
            comment_id=self.id,
            url=self.html_url,
        )


class IssueResponse(Response):
    number: int
    title: str | None = None
    body: str | None = None
    html_url: str = ""
    user: Account | None = None
    labels: list[LabelResponse | str] = []
    state: str = "open"
    locked: bool | None = False
    pull_request: Any = None
    created_at: Timestamp = None
    updated_at: Timestamp = None

    def to_issue(self, thread: list[IssueComment], snapshot_time: datetime | None) -> Issue:
        """Returns the issue as a domain value, with its thread, as GitHub showed it at that time."""
        labels = [label if isinstance(label, str) else label.name for label in self.labels]
        return Issue(
            number=self.number,
            title=self.title or "",
            body=self.body or "",
            url=self.html_url,
            author=self.user.login if self.user else DELETED_ACCOUNT,
            author_is_bot=bool(self.user and self.user.type == "Bot"),
            labels=[name for name in labels if name],
            state=self.state,
            locked=bool(self.locked),
            is_pull_request=self.pull_request is not None,
            thread=thread,
            snapshot_time=snapshot_time,
        )


class RoleResponse(Response):
    """A collaborator's role. `role_name` is exact; `permission` is what a custom role builds on."""

    role_name: str | None = None
    permission: str | None = None


class Target(Response):
    """What a suggestion is about: a label, an issue type or a user."""

    id: str = ""
    name: str = ""
    login: str = ""
    is_enabled: bool = Field(True, alias="isEnabled")


class TargetList(Response):
    nodes: NodeList[Target | None] | None = None

    @property
    def all(self) -> list[Target]:
        return [target for target in self.nodes or [] if target]


class PendingSuggestion(Response):
    """A suggestion by anybody. One of the fields is set; none if it is about something else."""

    label: Target | None = None
    type: Target | None = Field(None, alias="issueType")
    assignee: Target | None = None


class SuggestionIssue(Response):
    id: str
    type: Target | None = Field(None, alias="issueType")
    labels: TargetList | None = None
    assignees: TargetList | None = None
    pending: NodeList[PendingSuggestion | None] = Field([], alias="pendingSuggestions")
    """Not asked for where GitHub has no suggestions."""


class SuggestionsResponse(Response):
    """The parts of a repository that suggestions need, from GraphQL. GitHub leaves out what it does not show."""

    issue: SuggestionIssue
    issue_types: TargetList | None = Field(None, alias="issueTypes")

    @property
    def types(self) -> list[Target]:
        return self.issue_types.all if self.issue_types else []

    @property
    def taken(self) -> list[tuple[SuggestionKind, Target]]:
        """Returns what the issue has, and what is suggested on it."""
        issue = self.issue
        pending = [one for one in issue.pending if one]
        named: list[tuple[SuggestionKind, list[Target | None]]] = [
            ("label", [*(issue.labels.all if issue.labels else []), *(one.label for one in pending)]),
            ("type", [issue.type, *(one.type for one in pending)]),
            ("assignee", [*(issue.assignees.all if issue.assignees else []), *(one.assignee for one in pending)]),
        ]
        return [(kind, target) for kind, targets in named for target in targets if target]


class Signature(Response):
    date: Timestamp = None


class CommitDetails(Response):
    message: str = ""
    author: Signature | None = None
    committer: Signature | None = None


class CommitResponse(Response):
    sha: str = Field(pattern=r"^[0-9a-f]{40}([0-9a-f]{24})?$")
    details: CommitDetails = Field(CommitDetails(), alias="commit")


class ChangedFileResponse(Response):
    filename: str = ""


class CommitFilesResponse(Response):
    files: list[ChangedFileResponse] = []


class TagCommit(Response):
    sha: str = ""


class TagResponse(Response):
    name: str
    commit: TagCommit


A = TypeVar("A", bound=BaseModel)


def parse_response(response_type: type[A], raw: object) -> A:
    """Returns a response with its fields checked.

    Raises:
        GitHubError: The response has another form. Whether GitHub has taken a write is then unknown.
    """
    try:
        return response_type.model_validate(raw)
    except ValidationError:
        raise unreadable_response() from None
