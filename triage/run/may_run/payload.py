"""Parses the parts of a webhook payload that are needed. The rest is ignored."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from triage.base.errors import BadInput
from triage.domain.issue import MEMBERS, Issue, IssueComment
from triage.domain.value import parse_timestamp

MAX_NUMBER = 2**63 - 1


class _Part(BaseModel):
    """Unknown fields are ignored; a known field of another type is an error."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


Text = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]


class Account(_Part):
    """An account; a deleted one arrives as null."""

    login: Text = ""
    type: Text = ""

    @property
    def is_bot(self) -> bool:
        """Whether it claims to be a bot. Only used to do less: a name proves nothing."""
        return self.type == "Bot" or self.login.endswith("[bot]")


class IssuePart(_Part):
    number: int = Field(ge=1, le=MAX_NUMBER)
    user: Account | None = None
    locked: bool = False
    pull_request: Any = None


class LabelPart(_Part):
    name: Text = ""


class CommentPart(_Part):
    body: Text = ""
    user: Account | None = None


class Changes(_Part):
    """What an edit or a transfer changed. A field that is present was changed."""

    title: Any = None
    body: Any = None
    new_issue: Any = None


class Payload(_Part):
    action: Text = ""
    issue: IssuePart | None = None
    comment: CommentPart | None = None
    label: LabelPart | None = None
    sender: Account | None = None
    changes: Changes | None = None

    @property
    def sender_login(self) -> str:
        """Who caused the event; empty when unknown."""
        return self.sender.login if self.sender else ""


def parse_payload(raw: Mapping[str, Any]) -> Payload:
    """Raises BadInput if the payload is not a JSON object, or a needed field has another type."""
    if not isinstance(raw, Mapping):
        raise BadInput("The event payload cannot be read: it is not a JSON object.")
    try:
        return Payload.model_validate(dict(raw))
    except ValidationError as error:
        # `loc` contains only names of our own fields: no model here has free keys.
        fields = {".".join(str(step) for step in detail["loc"]): None for detail in error.errors(include_input=False)}
        names = ", ".join(fields)
        raise BadInput(f"The event payload cannot be read: {names} is missing or of a wrong type.") from None


def parse_issue(raw: Mapping[str, Any]) -> Issue | None:
    """The issue as the payload shows it, and when that was. Its thread has only the comment that the event is about."""
    fields = raw.get("issue")
    if not isinstance(fields, Mapping) or not isinstance(fields.get("title"), str):
        return None
    payload = parse_payload(raw)
    author = payload.issue.user if payload.issue else None
    comment = raw.get("comment") if payload.comment else None
    thread = [_parse_comment(payload.comment, comment)] if payload.comment and isinstance(comment, Mapping) else []
    changed_at = parse_timestamp(fields.get("updated_at") or fields.get("created_at"))
    snapshot_time = thread[0].created_at if thread else changed_at
    is_by_bot = author is not None and author.is_bot
    return to_issue(fields).model_copy(
        update={"author_is_bot": is_by_bot, "thread": thread, "snapshot_time": snapshot_time}
    )


def to_issue(fields: Mapping[str, Any]) -> Issue:
    """The issue in GitHub's JSON; `title` must be a string, another field of a wrong type is left out."""
    number, user, labels = (fields.get(name) for name in ("number", "user", "labels"))
    body, url, login = (
        fields.get("body"),
        fields.get("html_url"),
        user.get("login") if isinstance(user, Mapping) else "",
    )
    names = [label.get("name") for label in labels if isinstance(label, Mapping)] if isinstance(labels, list) else []
    return Issue(
        number=number if isinstance(number, int) and number > 0 else None,
        title=fields["title"],
        body=body if isinstance(body, str) else "",
        url=url if isinstance(url, str) else "",
        author=login if isinstance(login, str) else "",
        labels=[name for name in names if isinstance(name, str)],
        opened_at=parse_timestamp(fields.get("created_at")),
    )


def _parse_comment(comment: CommentPart, raw: Mapping[str, Any]) -> IssueComment:
    number = raw.get("id")
    return IssueComment(
        author=comment.user.login if comment.user else "",
        body=comment.body,
        by_member=raw.get("author_association") in MEMBERS,
        created_at=parse_timestamp(raw.get("created_at")),
        edited_at=parse_timestamp(raw.get("updated_at")),
        comment_id=number if isinstance(number, int) and 0 < number <= MAX_NUMBER else None,
    )
