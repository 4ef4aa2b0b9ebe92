"""The parts of a webhook payload that decide anything. The rest is not looked at."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from triage.domain.issue import Issue, IssueComment
from triage.errors import BadInput
from triage.text.timestamps import parse_timestamp

MAX_NUMBER = 2**63 - 1


class _Part(BaseModel):
    """A piece of a payload: unknown fields are ignored, a known field of another type is an error."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


def _empty_for_none(value: Any) -> Any:
    return "" if value is None else value


def _false_for_none(value: Any) -> Any:
    return False if value is None else value


Text = Annotated[str, BeforeValidator(_empty_for_none)]
Flag = Annotated[bool, BeforeValidator(_false_for_none)]


class Account(_Part):
    """An account; a deleted one arrives as null."""

    login: Text = ""
    type: Text = ""

    @property
    def is_bot(self) -> bool:
        """Whether it says so. Used only to do less: a name proves no right."""
        return self.type == "Bot" or self.login.endswith("[bot]")


class IssuePart(_Part):
    """The issue as it was when the event happened."""

    number: int = Field(ge=1, le=MAX_NUMBER)
    user: Account | None = None
    locked: Flag = False
    pull_request: Any = None


class LabelPart(_Part):
    """A label that was added or removed."""

    name: Text = ""


class CommentPart(_Part):
    """The comment of an `issue_comment` event."""

    body: Text = ""
    user: Account | None = None


class Changes(_Part):
    """What an edit or a transfer changed; a field that is there was changed."""

    title: Any = None
    body: Any = None
    new_issue: Any = None


class Payload(_Part):
    """A webhook payload, as far as it matters here."""

    action: Text = ""
    issue: IssuePart | None = None
    comment: CommentPart | None = None
    label: LabelPart | None = None
    sender: Account | None = None
    changes: Changes | None = None

    @property
    def sender_login(self) -> str:
        """Who caused the event; empty when it is not told."""
        return self.sender.login if self.sender else ""


def parse_payload(raw: Mapping[str, Any]) -> Payload:
    """The payload's parts.

    Raises:
        BadInput: A field that matters has another type, or there is no object at all.
    """
    if not isinstance(raw, Mapping):
        raise BadInput("The event payload cannot be read: it is not a JSON object.")
    try:
        return Payload.model_validate(dict(raw))
    except ValidationError as error:
        # Only names of our own fields can be in `loc`: no part has free keys.
        at_fault = {".".join(str(step) for step in fault["loc"]): None for fault in error.errors(include_input=False)}
        named = ", ".join(at_fault)
        raise BadInput(f"The event payload cannot be read: {named} is missing or of a wrong type.") from None


def parse_issue(raw: Mapping[str, Any]) -> Issue | None:
    """The issue as the payload shows it, and when that was; of its thread the comment that the event is about."""
    told = raw.get("issue")
    if not isinstance(told, Mapping) or not isinstance(told.get("title"), str):
        return None
    words = {name: told[key] for name, key in (("body", "body"), ("url", "html_url")) if isinstance(told.get(key), str)}
    number, labels = told.get("number"), told.get("labels")
    listed = labels if isinstance(labels, list) else []
    payload = parse_payload(raw)
    author = payload.issue.user if payload.issue and payload.issue.user else Account()
    comment = raw.get("comment") if payload.comment else None
    changed = comment.get("created_at") if isinstance(comment, Mapping) else _changed(told)
    return Issue(
        number=number if isinstance(number, int) and number > 0 else None,
        title=told["title"],
        author=author.login,
        author_is_bot=author.is_bot,
        labels=[label["name"] for label in listed if isinstance(label, Mapping) and isinstance(label.get("name"), str)],
        thread=[_said(payload.comment, comment)] if payload.comment and isinstance(comment, Mapping) else [],
        observed_at=parse_timestamp(changed),
        **words,
    )


def _changed(issue: Mapping[str, Any]) -> Any:
    """When the issue was changed last, which is what the event tells of."""
    return issue.get("updated_at") or issue.get("created_at")


def _said(comment: CommentPart, raw: Mapping[str, Any]) -> IssueComment:
    number = raw.get("id")
    return IssueComment(
        author=comment.user.login if comment.user else "",
        body=comment.body,
        created_at=parse_timestamp(raw.get("created_at")),
        edited_at=parse_timestamp(raw.get("updated_at")),
        comment_id=number if isinstance(number, int) and 0 < number <= MAX_NUMBER else None,
    )
