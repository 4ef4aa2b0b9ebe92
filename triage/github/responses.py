"""The parts of GitHub's responses that we read. Unknown fields are ignored; deleted accounts are null."""

from datetime import datetime
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from triage.base.timestamps import Timestamp
from triage.domain.issue import Issue, IssueComment
from triage.github.github_errors import unreadable_response

DELETED_ACCOUNT = "ghost"
"""What GitHub's pages call a deleted account."""


LONG_TEXTS = 25
"""Items with a long text on one page: 10 MB, as a text has 65,536 characters of six bytes at most (`\\u001b`). GitHub
takes 2,500 comments on an issue."""
A = TypeVar("A", bound=BaseModel)


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
            opened_at=self.created_at,
            snapshot_time=snapshot_time,
        )


class RoleResponse(Response):
    """A collaborator's role. `role_name` is exact; `permission` is what a custom role builds on."""

    role_name: str | None = None
    permission: str | None = None


def parse_response(response_type: type[A], raw: object) -> A:
    """Returns a response with its fields checked.

    Raises:
        GitHubError: The response has another form. Whether GitHub has taken a write is then unknown.
    """
    try:
        return response_type.model_validate(raw)
    except ValidationError:
        raise unreadable_response() from None
