"""What the event saw: what was changed after it is not what was asked for. Pure."""

from datetime import datetime

from triage.domain.issue import Issue, IssueComment
from triage.domain.task import PastRun, QuietIssue, Task, TriageIssue, Trigger


def get_trigger_comment(told: Issue | None) -> IssueComment | None:
    """The comment that the event is about."""
    return told.thread[-1] if told and told.thread else None


def to_run_record(task: Task, told: Issue | None) -> PastRun | None:
    """The run as our comment remembers it; none for a request by number, which nobody has to be held back from."""
    if (
        not isinstance(task, TriageIssue)
        or task.trigger is Trigger.REQUESTED
        or told is None
        or told.observed_at is None
    ):
        return None
    said = get_trigger_comment(told)
    return PastRun(at=told.observed_at.replace(microsecond=0), comment_id=(said.comment_id or 0) if said else 0)


def withdrawal_reason(task: Task, issue: Issue, told: Issue | None) -> str:
    """Why the comment that triggered counts no more; empty when it does, or when no comment did.

    A command counts only as it was first written. One that GitHub does not list (yet, or any more) counts: the event
    told it, and our comment remembers the run. An answer counts as it was then, whatever it says now; not one that was
    taken back.
    """
    said = get_trigger_comment(told)
    if said is None or said.comment_id is None:
        return ""
    standing = next((one for one in issue.thread if one.comment_id == said.comment_id), None)
    ordered = isinstance(task, QuietIssue) or (isinstance(task, TriageIssue) and task.trigger is Trigger.COMMAND)
    if standing is None:
        return "" if ordered else "The answer is not there any more."
    if ordered and (_edited(standing) or _words(standing) != _words(said)):
        return "The comment that commands was edited; a command counts in a new comment only."
    return ""


def restore_issue_at_trigger(issue: Issue, told: Issue | None, moment: datetime) -> Issue:
    """The issue as it was when the event happened.

    Args:
        issue: As GitHub shows it, after the event.
        told: As the event's payload shows it, with the comment that triggered; none when it brings no issue.
        moment: When the event happened, by GitHub's clock.

    A comment that was written or edited since, or whose time is not known, is not there; our own is.
    """
    said = get_trigger_comment(told)
    thread = []
    for one in issue.thread:
        if said is not None and one.comment_id == said.comment_id:
            thread.append(one.model_copy(update={"body": said.body}))
        elif one.ours or _before(one, moment):
            thread.append(one)
    text = {"title": told.title, "body": told.body} if told else {}
    return issue.model_copy(update={"thread": thread, **text})


def _before(said: IssueComment, moment: datetime) -> bool:
    times = (said.created_at, said.edited_at)
    return all(at is not None and at < moment for at in times)


def _edited(said: IssueComment) -> bool:
    return said.created_at is not None and said.edited_at is not None and said.edited_at > said.created_at


def _words(said: IssueComment) -> str:
    return said.body.replace("\r\n", "\n").strip()
