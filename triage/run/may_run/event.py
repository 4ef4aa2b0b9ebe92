"""The event of a webhook, and the issue as the event brought it. A change after the event is not what was asked for."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from triage.base.errors import BadInput
from triage.domain.effect import React, Reaction
from triage.domain.issue import MEMBERS, Issue, IssueComment
from triage.domain.task import IssueTask, QuietTask, ReproduceTask, RunKey, TriageTask, Trigger
from triage.domain.value import Value, parse_timestamp

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
    """Return the fields of a payload that decide what is done. Raises BadInput if one has another type."""
    try:
        return Payload.model_validate(dict(raw))
    except ValidationError as error:
        # `loc` contains only names of our own fields: no model here has free keys.
        fields = {".".join(str(step) for step in detail["loc"]): None for detail in error.errors(include_input=False)}
        names = ", ".join(fields)
        raise BadInput(f"The event payload cannot be read: {names} is missing or of a wrong type.") from None


class Event(Value):
    """What the event is about, as its payload shows it."""

    issue: Issue
    """Without its thread; its `snapshot_time` is that of the event."""
    comment: IssueComment | None = None
    """The one that the event is about."""


def parse_event(raw: Mapping[str, Any]) -> Event | None:
    """Return the issue and the comment in a payload; None without an issue. Raises BadInput as `parse_payload`."""
    fields = raw.get("issue")
    if not isinstance(fields, Mapping) or not isinstance(fields.get("title"), str):
        return None
    payload, given = parse_payload(raw), raw.get("comment")
    author = payload.issue.user if payload.issue else None
    comment = _parse_comment(payload.comment, given) if payload.comment and isinstance(given, Mapping) else None
    changed_at = parse_timestamp(fields.get("updated_at") or fields.get("created_at"))
    found = {
        "author_is_bot": author is not None and author.is_bot,
        "snapshot_time": comment.created_at if comment else changed_at,
    }
    return Event(issue=to_issue(fields).model_copy(update=found), comment=comment)


def to_issue(fields: Mapping[str, Any]) -> Issue:
    """The issue in GitHub's JSON; `title` must be a string, another field of a wrong type is left out."""
    number, user, labels = (fields.get(name) for name in ("number", "user", "labels"))
    body, url = fields.get("body"), fields.get("html_url")
    login = user.get("login") if isinstance(user, Mapping) else ""
    names = [label.get("name") for label in labels if isinstance(label, Mapping)] if isinstance(labels, list) else []
    return Issue(
        number=number if isinstance(number, int) and number > 0 else None,
        title=fields["title"],
        body=body if isinstance(body, str) else "",
        url=url if isinstance(url, str) else "",
        author=login if isinstance(login, str) else "",
        by_member=str(fields.get("author_association")) in MEMBERS,
        labels=[name for name in names if isinstance(name, str)],
        opened_at=parse_timestamp(fields.get("created_at")),
    )


def _parse_comment(comment: CommentPart, raw: Mapping[str, Any]) -> IssueComment:
    number = raw.get("id")
    return IssueComment(
        author=comment.user.login if comment.user else "",
        body=comment.body,
        by_member=str(raw.get("author_association")) in MEMBERS,
        created_at=parse_timestamp(raw.get("created_at")),
        edited_at=parse_timestamp(raw.get("updated_at")),
        comment_id=number if isinstance(number, int) and 0 < number <= MAX_NUMBER else None,
    )


EDITED = "The comment with the command was edited. Post the command in a new comment."


def restore_issue_at_trigger(issue: Issue, event: Event | None, started: datetime, now: datetime) -> Issue:
    """Return the fetched issue as it was when the event happened, or when the run began if no event brought it.

    Leaves out comments that were written or edited later, or at an unknown time; our own comments stay. `started` and
    `now` are by this machine's clock; GitHub's clock wins where it is known.
    """
    comment = event.comment if event else None
    if event is not None:
        event_time = event.issue.snapshot_time or datetime.min.replace(tzinfo=UTC)
    else:
        event_time = issue.snapshot_time - (now - started) if issue.snapshot_time else started
    thread = []
    for one in issue.thread:
        if comment is not None and one.comment_id == comment.comment_id:
            thread.append(one.model_copy(update={"body": comment.body, "is_shortened": False}))
        elif one.ours or all(time and time < event_time for time in (one.created_at, one.edited_at)):
            thread.append(one)
    text = {"title": event.issue.title, "body": event.issue.body} if event else {}
    return issue.model_copy(update={"thread": thread, "snapshot_time": event_time, **text})


def check_trigger_comment(task: IssueTask, issue: Issue, event: Event | None) -> str:
    """Return why the comment that triggered no longer counts; empty when it counts, or when there is none.

    A command counts only as first written. It also counts when GitHub does not list it: our comment remembers the run.
    An answer counts as the event brought it, even when it was edited since, but not when it was deleted.
    """
    if event is None or event.comment is None or event.comment.comment_id is None:
        return ""
    current = _find_current(issue, event.comment)
    is_command = isinstance(task, QuietTask) or task.trigger is Trigger.COMMAND
    if current is None:
        return "" if is_command else "The answer is not there any more."
    return EDITED if is_command and _is_edited(current, event.comment) else ""


def check_command_comment(issue: Issue, event: Event | None) -> str:
    """Return why a command that changes something does not count; empty when it counts, or when no comment brought it.

    GitHub must list it as it was first written.
    """
    if event is None or event.comment is None:
        return ""
    current = _find_current(issue, event.comment)
    if current is None:
        return "The comment with the command is not there any more."
    return EDITED if _is_edited(current, event.comment) or current.author != event.comment.author else ""


def _find_current(issue: Issue, before: IssueComment) -> IssueComment | None:
    number = before.comment_id
    return next((one for one in issue.thread if number is not None and one.comment_id == number), None)


def _is_edited(current: IssueComment, event_comment: IssueComment) -> bool:
    """Return whether a comment was edited, by its times or its text; also if nobody can know."""
    written, edited = current.created_at, current.edited_at
    if written is not None and edited is not None and edited > written:
        return True
    text, text_before = _normalize_body(current), _normalize_body(event_comment)
    if current.is_shortened:  # the times must tell the rest
        return written is None or edited is None or not text_before.startswith(text)
    return text != text_before


def _normalize_body(comment: IssueComment) -> str:
    return comment.body.replace("\r\n", "\n").strip()


def to_run_key(task: TriageTask | ReproduceTask, event: Event | None) -> RunKey | None:
    """Return the run as our comment remembers it; None for a request by number, which is never refused."""
    if task.trigger is Trigger.BY_NUMBER or event is None or event.issue.snapshot_time is None:
        return None
    comment_id = (event.comment.comment_id or 0) if event.comment else 0
    return RunKey(at=event.issue.snapshot_time.replace(microsecond=0), comment_id=comment_id)


def plan_reaction(event: Event | None, reaction: Reaction) -> list[React]:
    """Return the reaction to the comment with the command; none if a workflow was started by hand."""
    comment_id = event.comment.comment_id if event and event.comment else None
    return [React(comment_id=comment_id, reaction=reaction)] if comment_id else []
