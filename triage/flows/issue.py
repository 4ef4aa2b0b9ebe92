"""Triage one issue on GitHub: read it, may we, work on it, write what there is to write."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from triage.domain.effect import Policy
from triage.domain.issue import Exchange, Issue, Repository
from triage.domain.report import RunReport
from triage.domain.run import Status
from triage.domain.task import Quieten, Skip, Task, TriageIssue
from triage.errors import CannotPublish, IssueMoved
from triage.events.admission import Known, admit, whose_roles
from triage.ports import GitHub, Journal, Runner, Services
from triage.publish.perform import Performed, perform
from triage.publish.plan import our_comment, plan, quieten, skipped
from triage.publish.state import PostedState, parse, text_hash
from triage.threads import in_daemon_thread

HURRY = {"comment": False, "labels": "off"}
"""Under a signal the runner kills within seconds: what needs no network comes out."""


@dataclass(frozen=True)
class Desk:
    """What the flow acts through. `services` is called only when there is work: it costs seconds."""

    github: GitHub
    runner: Runner
    journal: Journal
    policy: Policy
    repository: Repository
    services: Callable[[], Services]
    now: Callable[[], datetime]


@dataclass(frozen=True)
class Ending:
    """How it ended; the root makes an exit code of it."""

    status: Status
    report: RunReport | None = None


async def carry_out(task: Task, desk: Desk, cancelled: asyncio.Event) -> Ending:
    """Do what was asked, or say why not.

    Raises:
        SetupError: The issue cannot be read, and what to mend.
        CannotPublish: GitHub cannot be reached.
    """
    if isinstance(task, Skip):
        return _skip(task, desk)
    try:
        issue = await in_daemon_thread(lambda: desk.github.issue(task.number))
    except IssueMoved as moved:
        return _skip(Skip(reason=str(moved)), desk)
    previous = our_comment(issue)
    state = parse(previous.body) if previous else None
    admitted = await in_daemon_thread(lambda: _admitted(task, issue, state, desk))
    if isinstance(admitted, Skip):
        return _skip(admitted, desk)
    if isinstance(admitted, Quieten):
        return _ended(
            Status.SKIPPED, perform(quieten(admitted.number, previous, desk.policy), desk.github, desk.runner)
        )
    return await _triage(admitted, issue, previous, desk, cancelled)


def _skip(task: Skip, desk: Desk) -> Ending:
    desk.journal.note(f"Nothing to do: {task.reason}")
    perform(skipped(task.reason), desk.github, desk.runner)
    return Ending(Status.SKIPPED)


def _admitted(task: Task, issue: Issue, state: PostedState | None, desk: Desk) -> Task:
    now = desk.now()
    roles = {login: desk.github.role(login) for login in whose_roles(task, issue, now)}
    known = Known(
        asked=bool(state and state.asked),
        quieted=bool(state and state.quiet),
        same_text=bool(state and state.text == text_hash(issue.title, issue.body)),
    )
    return admit(task, issue, now, roles, known)


async def _triage(
    task: TriageIssue, issue: Issue, previous: Exchange | None, desk: Desk, cancelled: asyncio.Event
) -> Ending:
    from triage.graph.run import triage  # LangGraph takes most of a second, and a skipped event never gets here

    labels = await in_daemon_thread(lambda: _labels(desk))
    services = desk.services()
    desk.journal.note(
        f"Issue {task.number} ({task.trigger}), engine {services.engine}, run {services.facts.request_id}"
    )
    repository = desk.repository.model_copy(update={"labels": labels})
    with desk.journal.grouped("Agents and tools"):
        report = await triage(issue, repository, services, cancelled)
    desk.journal.folded("Analysis", report.analysis or report.root_cause)
    policy = desk.policy.model_copy(update=HURRY) if cancelled.is_set() else desk.policy
    done = perform(plan(report, policy, issue, previous, services.codebase.paths()), desk.github, desk.runner)
    desk.journal.note(
        f"Ended {report.status} after {report.seconds:.1f} s. Comment: {done.comment_url or 'none written'}"
    )
    return _ended(report.status, done, report)


def _labels(desk: Desk) -> list[str]:
    """Labels of the repository; without them no label is suggested, which is no reason to stop."""
    try:
        return desk.github.labels()
    except CannotPublish as error:
        desk.journal.note(f"The repository's labels could not be read: {error}")
        return []


def _ended(status: Status, done: Performed, report: RunReport | None = None) -> Ending:
    return Ending(Status.FAILED if done.must_mend else status, report)
