"""Triage one issue on GitHub: read it, may we, work on it, write what there is to write."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime

from triage.checks.inert import plain
from triage.domain.config import Config
from triage.domain.effect import EditComment, Effect, Policy, PostComment
from triage.domain.issue import Exchange, Issue, Repository
from triage.domain.report import RunReport
from triage.domain.run import Status
from triage.domain.task import Quieten, Skip, Task, TriageIssue, Trigger
from triage.errors import CannotPublish, GitHubUnavailable, IssueMoved, TriageError
from triage.events.admission import Known, admit, whose_roles, withheld
from triage.flows.telemetry import tell
from triage.flows.waiting import answered, ended_or_cancelled
from triage.ports import GitHub, Journal, Runner, Services
from triage.publish.perform import OnIssue, Performed, perform, write_out, write_to_issue
from triage.publish.plan import our_comment, plan, quieten, skipped, unfinished
from triage.publish.state import PostedState, parse, text_hash
from triage.threads import in_daemon_thread

AUTOMATIC = (Trigger.OPENED, Trigger.REOPENED, Trigger.LABELED)
"""What needs nobody's right: the event alone is enough to go on."""


Work = Callable[[Issue, Repository, Services, asyncio.Event], Awaitable[RunReport]]
"""The graph's run."""


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
    seconds_left: Callable[[], float] = lambda: math.inf
    """Until everything must be written: the run's time and a little more, after a signal a few seconds."""
    reading_seconds: Callable[[], float] = lambda: math.inf
    """For the next question to GitHub before the work begins: a triage of what the event tells must still fit."""
    config: Config = field(default_factory=Config)
    """The project's own settings."""
    idle: Callable[[], Services] | None = None
    """The services of a run that is cancelled before it begins; quicker to have."""


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
        issue = await answered(
            f"Issue #{task.number}", lambda: desk.github.issue(task.number), desk.reading_seconds(), cancelled
        )
    except IssueMoved as moved:
        return _skip(Skip(reason=str(moved)), desk)
    except GitHubUnavailable as error:
        return await _without_github(task, error, desk, cancelled)
    previous = our_comment(issue)
    state = parse(previous.body) if previous else None
    try:
        admitted = await answered(
            "Who may ask", lambda: _admitted(task, issue, state, desk), desk.reading_seconds(), cancelled
        )
    except GitHubUnavailable as error:
        return await _without_github(task, error, replace(desk, told=issue), cancelled)
    if isinstance(admitted, Skip):
        return _skip(admitted, desk)
    if isinstance(admitted, Quieten):
        desk.journal.note(f"Triage is quiet on issue {admitted.number} from now on.")
        return _ended(
            Status.SKIPPED, await _performed(quieten(admitted.number, previous, desk.policy), desk, cancelled)
        )
    return await _triage(issue, previous, desk, cancelled)


def _skip(task: Skip, desk: Desk) -> Ending:
    desk.journal.note(f"Nothing to do: {task.reason}")
    perform(skipped(task.reason), desk.github, desk.runner)
    return Ending(Status.SKIPPED)


def _admitted(task: Task, issue: Issue, state: PostedState | None, desk: Desk) -> Task:
    now = desk.now()
    roles = {login: desk.github.role(login) for login in whose_roles(task, issue, now, desk.config)}
    known = Known(
        asked=bool(state and state.asked),
        quieted=bool(state and state.quiet),
        same_text=bool(state and state.text == text_hash(issue.title, issue.body)),
    )
    return admit(task, issue, now, roles, known, desk.config)


async def _without_github(
    task: TriageIssue | Quieten, error: GitHubUnavailable, desk: Desk, cancelled: asyncio.Event
) -> Ending:
    """A triage of what the event tells, onto the job's page only: whether we commented already is not known."""
    automatic = task if isinstance(task, TriageIssue) and task.trigger in AUTOMATIC else None
    if desk.told is None or automatic is None or desk.told.author_is_bot:
        perform(unfinished(str(error)), None, desk.runner)
        return Ending(Status.DEGRADED)
    if reason := withheld(automatic, desk.told, desk.config):
        return _skip(Skip(reason=reason), desk)
    quiet = replace(desk, policy=desk.policy.model_copy(update={"comment": False, "labels": "off"}))
    return await _triage(desk.told, None, quiet, cancelled, missing=f"{error} Nothing was written to the issue.")


async def _triage(
    issue: Issue, previous: Exchange | None, desk: Desk, cancelled: asyncio.Event, missing: str = ""
) -> Ending:
    labels = [] if missing else await _labels(desk, cancelled)
    repository = desk.repository.model_copy(update={"labels": desk.config.usable(labels)})
    report, services = await _worked(issue, repository, desk, cancelled)
    if missing:
        report = report.model_copy(update={"status": Status.DEGRADED, "notes": [missing, *report.notes]})
    desk.journal.folded("Analysis", report.analysis or plain(report.root_cause))
    partial = cancelled.is_set() and bool(report.cut)
    effects = plan(report, desk.policy, issue, previous, services.codebase.paths(), partial=partial)
    done = await _performed(effects, desk, cancelled)
    ending = _ended(report.status, done, report)
    said = done.comment_url or ("nothing new to say" if previous and desk.policy.comment else "none")
    desk.journal.note(f"Ended {ending.status} after {report.seconds:.1f} s. Comment: {said}")
    await tell(report.model_copy(update={"status": ending.status}), services, cancelled, desk.seconds_left)
    return ending


async def _worked(
    issue: Issue, repository: Repository, desk: Desk, cancelled: asyncio.Event
) -> tuple[RunReport, Services]:
    """The report, and what acted for it."""
    if not cancelled.is_set():
        starting = asyncio.ensure_future(in_daemon_thread(lambda: _started(desk)))
        await ended_or_cancelled(starting, cancelled)
        if starting.done():
            triage, services = starting.result()
            desk.journal.note(f"Issue {issue.number}, engine {services.engine}, run {services.facts.request_id}")
            with desk.journal.grouped("Agents and tools"):
                return await triage(issue, repository, services, cancelled), services
        starting.cancel()
    from triage.graph.unstarted import unstarted

    idle = (desk.idle or desk.services)()
    return unstarted(issue, repository, idle), idle


def _started(desk: Desk) -> tuple[Work, Services]:
    """What takes seconds to load, and what a skipped event never needs."""
    from triage.graph.run import triage

    return triage, desk.services()


async def _performed(effects: Sequence[Effect], desk: Desk, cancelled: asyncio.Event) -> Performed:
    """Write to the issue as long as there is time; what stays on this machine is written in any case."""
    done = Performed()
    if not any(isinstance(effect, OnIssue) for effect in effects):
        return write_out(effects, desk.runner, done)
    writing = asyncio.ensure_future(in_daemon_thread(lambda: _write(effects, desk.github, done)))
    await ended_or_cancelled(writing, cancelled, desk.seconds_left())
    await asyncio.wait({writing}, timeout=max(0.0, desk.seconds_left()))
    if writing.done():
        writing.result()
    else:
        writing.cancel()
        done = replace(done, failures=list(done.failures), annotations=list(done.annotations))
        why = "the run was cancelled" if cancelled.is_set() else "the run's time was up"
        done.fail(CannotPublish(f"While it was written to the issue, {why}: it may stand there, or not."))
    return write_out(effects, desk.runner, done)


def _write(effects: Sequence[Effect], github: GitHub, done: Performed) -> None:
    """Write, after a last look: another run may have commented since the thread was read, minutes ago."""
    seen = [_instead(effect, github) for effect in effects]
    write_to_issue([effect for effect in seen if effect is not None], github, done)


def _instead(effect: Effect, github: GitHub) -> Effect | None:
    if not isinstance(effect, PostComment):
        return effect
    with suppress(TriageError):  # what cannot be read now is told by the write that follows
        rival = our_comment(github.issue(effect.issue_number))
        if rival is not None and rival.comment_id is not None:
            if effect.yields:
                return None
            return EditComment(issue_number=effect.issue_number, comment_id=rival.comment_id, body=effect.body)
    return effect


async def _labels(desk: Desk, cancelled: asyncio.Event) -> list[str]:
    """Labels of the repository; without them no label is suggested, which is no reason to stop."""
    try:
        return await answered("The repository's labels", desk.github.labels, desk.reading_seconds(), cancelled)
    except CannotPublish as error:
        desk.journal.note(str(error))
        return []


def _ended(status: Status, done: Performed, report: RunReport | None = None) -> Ending:
    if done.must_mend:
        return Ending(Status.FAILED, report)
    return Ending(Status.DEGRADED if done.failures and status is Status.COMPLETE else status, report)
