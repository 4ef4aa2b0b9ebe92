"""Triage one issue on GitHub: read it, may we, work on it, write what there is to write."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

from triage.checks.inert import plain
from triage.domain.effect import EditComment, Effect, Policy, PostComment
from triage.domain.issue import Exchange, Issue, Repository
from triage.domain.report import RunReport
from triage.domain.run import Status
from triage.domain.task import Quieten, Skip, Task, TriageIssue, Trigger
from triage.errors import CannotPublish, GitHubUnavailable, IssueMoved, TriageError
from triage.events.admission import Known, admit, whose_roles
from triage.ports import GitHub, Journal, Runner, Services
from triage.publish.perform import OnIssue, Performed, perform, write_out, write_to_issue
from triage.publish.plan import our_comment, plan, quieten, skipped, unreachable
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
    told: Issue | None = None
    """The issue as the event's payload shows it, for when GitHub cannot be asked."""


@dataclass(frozen=True)
class Ending:
    """How it ended; the root makes an exit code of it."""

    status: Status
    report: RunReport | None = None


async def carry_out(task: Task, desk: Desk, cancelled: asyncio.Event) -> Ending:
    """Do what was asked, or say why not.

    Raises:
        SetupError: The issue cannot be read, and what to mend.
    """
    if isinstance(task, Skip):
        return _skip(task, desk)
    try:
        issue = await in_daemon_thread(lambda: desk.github.issue(task.number))
    except IssueMoved as moved:
        return _skip(Skip(reason=str(moved)), desk)
    except GitHubUnavailable as error:
        return await _without_github(task, error, desk, cancelled)
    previous = our_comment(issue)
    state = parse(previous.body) if previous else None
    admitted = await in_daemon_thread(lambda: _admitted(task, issue, state, desk))
    if isinstance(admitted, Skip):
        return _skip(admitted, desk)
    if isinstance(admitted, Quieten):
        desk.journal.note(f"Triage is quiet on issue {admitted.number} from now on.")
        return _ended(
            Status.SKIPPED, await _performed(quieten(admitted.number, previous, desk.policy), desk, cancelled)
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


async def _without_github(
    task: TriageIssue | Quieten, error: GitHubUnavailable, desk: Desk, cancelled: asyncio.Event
) -> Ending:
    """A triage of what the event tells, onto the job's page only: whether we commented already is not known."""
    automatic = isinstance(task, TriageIssue) and task.trigger in (Trigger.OPENED, Trigger.REOPENED)
    if desk.told is None or not automatic or desk.told.author_is_bot:
        perform(unreachable(str(error)), None, desk.runner)
        return Ending(Status.DEGRADED)
    quiet = replace(desk, policy=desk.policy.model_copy(update=HURRY))
    return await _triage(task, desk.told, None, quiet, cancelled, missing=f"{error} Nothing was written to the issue.")


async def _triage(
    task: TriageIssue | Quieten,
    issue: Issue,
    previous: Exchange | None,
    desk: Desk,
    cancelled: asyncio.Event,
    missing: str = "",
) -> Ending:
    from triage.graph.run import triage  # LangGraph takes most of a second, and a skipped event never gets here

    labels = [] if missing else await in_daemon_thread(lambda: _labels(desk))
    services = await in_daemon_thread(desk.services)
    desk.journal.note(f"Issue {task.number}, engine {services.engine}, run {services.facts.request_id}")
    repository = desk.repository.model_copy(update={"labels": labels})
    with desk.journal.grouped("Agents and tools"):
        report = await triage(issue, repository, services, cancelled)
    if missing:
        report = report.model_copy(update={"status": Status.DEGRADED, "notes": [missing, *report.notes]})
    desk.journal.folded("Analysis", report.analysis or plain(report.root_cause))
    policy = desk.policy.model_copy(update=HURRY) if cancelled.is_set() else desk.policy
    done = await _performed(plan(report, policy, issue, previous, services.codebase.paths()), desk, cancelled)
    ending = _ended(report.status, done, report)
    said = done.comment_url or ("nothing new to say" if previous and policy.comment else "none")
    desk.journal.note(f"Ended {ending.status} after {report.seconds:.1f} s. Comment: {said}")
    return ending


async def _performed(effects: Sequence[Effect], desk: Desk, cancelled: asyncio.Event) -> Performed:
    """Write to the issue without being deaf to a signal; what stays on this machine is written in any case."""
    if not any(isinstance(effect, OnIssue) for effect in effects):
        return write_out(effects, desk.runner, Performed())
    writing = asyncio.ensure_future(in_daemon_thread(lambda: _write(effects, desk.github)))
    stopping = asyncio.ensure_future(cancelled.wait())
    await asyncio.wait({writing, stopping}, return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    done = writing.result() if writing.done() else Performed()
    if not writing.done():
        done.fail(CannotPublish("The run was cancelled while it wrote to the issue."))
    return write_out(effects, desk.runner, done)


def _write(effects: Sequence[Effect], github: GitHub) -> Performed:
    """Write, after a last look: another run may have commented since the thread was read, minutes ago."""
    return write_to_issue([_instead(effect, github) for effect in effects], github)


def _instead(effect: Effect, github: GitHub) -> Effect:
    if not isinstance(effect, PostComment):
        return effect
    with suppress(TriageError):  # what cannot be read now is told by the write that follows
        rival = our_comment(github.issue(effect.issue_number))
        if rival is not None and rival.comment_id is not None:
            return EditComment(issue_number=effect.issue_number, comment_id=rival.comment_id, body=effect.body)
    return effect


def _labels(desk: Desk) -> list[str]:
    """Labels of the repository; without them no label is suggested, which is no reason to stop."""
    try:
        return desk.github.labels()
    except CannotPublish as error:
        desk.journal.note(f"The repository's labels could not be read: {error}")
        return []


def _ended(status: Status, done: Performed, report: RunReport | None = None) -> Ending:
    return Ending(Status.FAILED if done.must_mend else status, report)
