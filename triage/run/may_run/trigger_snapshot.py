"""The issue as the event brought it. A change after the event is not what was asked for."""

from datetime import UTC, datetime

from triage.domain.issue import Issue, IssueComment
from triage.domain.task import IssueTask, QuietTask, ReproduceTask, RunKey, TriageTask, Trigger

EDITED = "The comment with the command was edited. Post the command in a new comment."


def restore_issue_at_trigger(issue: Issue, event_issue: Issue | None, started: datetime, now: datetime) -> Issue:
    """The fetched issue as it was when the event happened, or when the run began if no event brought it.

    Leaves out comments that were written or edited later, or at an unknown time; our own comments stay. `started` and
    `now` are by this machine's clock; GitHub's clock wins where it is known.
    """
    trigger_comment = get_trigger_comment(event_issue)
    if event_issue is not None:
        event_time = event_issue.snapshot_time or datetime.min.replace(tzinfo=UTC)
    else:
        event_time = issue.snapshot_time - (now - started) if issue.snapshot_time else started
    thread = []
    for comment in issue.thread:
        if trigger_comment is not None and comment.comment_id == trigger_comment.comment_id:
            thread.append(comment.model_copy(update={"body": trigger_comment.body, "is_shortened": False}))
        elif comment.ours or all(time and time < event_time for time in (comment.created_at, comment.edited_at)):
            thread.append(comment)
    text = {"title": event_issue.title, "body": event_issue.body} if event_issue else {}
    return issue.model_copy(update={"thread": thread, "snapshot_time": event_time, **text})


def get_trigger_comment(event_issue: Issue | None) -> IssueComment | None:
    return event_issue.thread[-1] if event_issue and event_issue.thread else None


def check_trigger_comment(task: IssueTask, issue: Issue, event_issue: Issue | None) -> str:
    """Why the comment that triggered no longer counts; empty when it counts, or when there is none.

    A command counts only as first written. It also counts when GitHub does not list it: our comment remembers the run.
    An answer counts as the event brought it, even when it was edited since, but not when it was deleted.
    """
    trigger_comment = get_trigger_comment(event_issue)
    if trigger_comment is None or trigger_comment.comment_id is None:
        return ""
    current = next((one for one in issue.thread if one.comment_id == trigger_comment.comment_id), None)
    is_command = isinstance(task, QuietTask) or task.trigger is Trigger.COMMAND
    if current is None:
        return "" if is_command else "The answer is not there any more."
    return EDITED if is_command and _is_edited(current, trigger_comment) else ""


def check_command_comment(issue: Issue, event_issue: Issue | None) -> str:
    """Why a command that changes something does not count; empty when it counts, or when no comment brought it.

    GitHub must list it as it was first written.
    """
    trigger_comment = get_trigger_comment(event_issue)
    if trigger_comment is None:
        return ""
    number = trigger_comment.comment_id
    current = next((one for one in issue.thread if number is not None and one.comment_id == number), None)
    if current is None:
        return "The comment with the command is not there any more."
    return EDITED if _is_edited(current, trigger_comment) or current.author != trigger_comment.author else ""


def _is_edited(current: IssueComment, before: IssueComment) -> bool:
    written, edited = current.created_at, current.edited_at
    if written is not None and edited is not None and edited > written:
        return True
    text, text_before = _normalize(current), _normalize(before)
    if current.is_shortened:  # the times must tell the rest
        return written is None or edited is None or not text_before.startswith(text)
    return text != text_before


def _normalize(comment: IssueComment) -> str:
    return comment.body.replace("\r\n", "\n").strip()


def to_run_key(task: TriageTask | ReproduceTask, event_issue: Issue | None) -> RunKey | None:
    """The run as our comment remembers it; None for a request by number, which is never refused."""
    if task.trigger is Trigger.REQUESTED or event_issue is None or event_issue.snapshot_time is None:
        return None
    comment = get_trigger_comment(event_issue)
    comment_id = (comment.comment_id or 0) if comment else 0
    return RunKey(at=event_issue.snapshot_time.replace(microsecond=0), comment_id=comment_id)
