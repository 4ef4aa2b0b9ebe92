"""GitHub's answers, as far as they are needed: unknown fields are ignored, deleted accounts are null."""

from datetime import datetime
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from triage.adapters.github.github_errors import Fault, Refusal
from triage.domain.issue import Exchange, Issue
from triage.text.timestamps import Moment

GHOST = "ghost"
"""What GitHub's pages call a deleted account."""


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Account(_Answer):
    """A user or a bot."""

    login: str = GHOST
    type: str = ""


class Named(_Answer):
    """A label."""

    name: str | None = None


class CommentAnswer(_Answer):
    """A comment of an issue."""

    id: int
    html_url: str = ""
    body: str | None = None
    user: Account | None = None
    created_at: Moment = None
    updated_at: Moment = None

    @property
    def login(self) -> str:
        """Who wrote it."""
        return self.user.login if self.user else GHOST

    def exchange(self, *, ours: bool) -> Exchange:
        """The comment as a value."""
        return Exchange(
            author=self.login,
            body=self.body or "",
            created_at=self.created_at,
            edited_at=self.updated_at,
            by_bot=bool(self.user and self.user.type == "Bot"),
            ours=ours,
            comment_id=self.id,
        )


class IssueAnswer(_Answer):
    """An issue, or a pull request seen as one."""

    number: int
    title: str | None = None
    body: str | None = None
    html_url: str = ""
    user: Account | None = None
    labels: list[Named | str] = []
    state: str = "open"
    locked: bool | None = False
    pull_request: Any = None
    created_at: Moment = None
    updated_at: Moment = None

    def label_names(self) -> list[str]:
        """Names of the issue's labels."""
        names = [label if isinstance(label, str) else label.name for label in self.labels]
        return [name for name in names if name]

    def issue(self, thread: list[Exchange], at: datetime | None) -> Issue:
        """The issue as a value, with its thread, as GitHub showed it at that moment."""
        return Issue(
            number=self.number,
            title=self.title or "",
            body=self.body or "",
            url=self.html_url,
            author=self.user.login if self.user else GHOST,
            author_is_bot=bool(self.user and self.user.type == "Bot"),
            labels=self.label_names(),
            state=self.state,
            locked=bool(self.locked),
            is_pull_request=self.pull_request is not None,
            thread=thread,
            at=at,
        )


class RoleAnswer(_Answer):
    """What somebody may do. `role_name` is exact; `permission` is what a role of an organization's own builds on."""

    role_name: str | None = None
    permission: str | None = None


A = TypeVar("A", bound=_Answer)


def understood(shape: type[A], raw: object) -> A:
    """The answer in its shape.

    Raises:
        Fault: It has another shape; for a write that means that nobody knows whether it was taken.
    """
    try:
        return shape.model_validate(raw)
    except ValidationError:
        raise Fault(Refusal.UNCLEAR) from None
