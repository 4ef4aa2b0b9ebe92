"""Checks who may ask, and builds the job."""

from dataclasses import dataclass
from datetime import UTC, datetime

from triage.domain.issue import Issue
from triage.domain.task import QuietIssue, RunRecord, Skip, Task, TriageIssue, Trigger
from triage.events.admission import RUN_WINDOW, EarlierRuns, admit_task, label_skip_reason, logins_to_check
from triage.events.trigger_snapshot import (
    get_trigger_comment,
    restore_issue_at_trigger,
    to_run_record,
    withdrawal_reason,
)
from triage.flows.flow_context import FlowContext
from triage.publish.deduplicate import find_our_comment
from triage.publish.hidden_state import PostedState, hash_text, parse_state

AUTOMATIC_TRIGGERS = (Trigger.OPENED, Trigger.REOPENED, Trigger.LABELED)
"""These need no permission."""


@dataclass(frozen=True)
class TriageJob:
    task: TriageIssue
    issue_at_trigger: Issue
    """What the agents read: nothing that was written after the event."""
    fetched_issue: Issue
    """As GitHub shows it now."""
    posted_state: PostedState | None = None
    """What our comment on the issue remembers."""
    run: RunRecord | None = None
    """This run, as our comment will remember it."""

    @property
    def earlier_runs(self) -> list[RunRecord]:
        return [run for run in (self.posted_state.past_runs if self.posted_state else []) if run != self.run]


def restore_issue(issue: Issue, started: datetime, context: FlowContext) -> Issue:
    """Return the issue as it was when the event happened, or when the run began if no event brought it.

    `started` is by this machine's clock; GitHub's clock wins where it is known.
    """
    event_issue = context.event_issue
    if event_issue is not None:
        timestamp = event_issue.observed_at or datetime.min.replace(tzinfo=UTC)
    else:
        timestamp = issue.observed_at - (context.now() - started) if issue.observed_at else started
    return restore_issue_at_trigger(issue, event_issue, timestamp)


def build_job(
    task: TriageIssue | QuietIssue, issue: Issue, at_trigger: Issue, context: FlowContext
) -> Task | TriageJob:
    """Check whether the task may be done; this asks GitHub for roles.

    Returns:
        The job, a `QuietIssue`, or why nothing is to be done.
    """
    if reason := withdrawal_reason(task, issue, context.event_issue):
        return Skip(reason=reason)
    now = issue.observed_at or context.now()
    roles = {login: context.github.fetch_role(login) for login in logins_to_check(task, issue, now, context.config)}
    comment = find_our_comment(issue)
    state = parse_state(comment.body) if comment else None
    known = state or PostedState()
    written_at = (comment.edited_at or comment.created_at) if comment else None
    earlier = EarlierRuns(
        has_open_questions=bool(known.asked),
        is_quiet=known.quiet,
        has_same_text=known.text == hash_text(at_trigger.title, at_trigger.body),
        is_recent=written_at is not None and written_at > now - RUN_WINDOW,
        runs=known.past_runs,
    )
    trigger = get_trigger_comment(context.event_issue)
    admitted = admit_task(task, issue, now, roles, earlier, context.config, trigger.comment_id if trigger else None)
    if not isinstance(admitted, TriageIssue):
        return admitted
    return TriageJob(admitted, at_trigger, issue, state, to_run_record(admitted, context.event_issue))


def admit_without_github(
    task: TriageIssue | QuietIssue, issue: Issue | None, context: FlowContext
) -> TriageJob | Skip | None:
    """Check whether the event alone is enough to triage its issue. Returns None when it is not."""
    if not isinstance(task, TriageIssue) or task.trigger not in AUTOMATIC_TRIGGERS or not issue or issue.author_is_bot:
        return None
    if reason := label_skip_reason(task, issue, context.config):
        return Skip(reason=reason)
    return TriageJob(task, issue, issue)
