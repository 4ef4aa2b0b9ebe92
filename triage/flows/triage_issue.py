"""Triage one issue on GitHub: read it, may we, work on it, write what there is to write."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from triage.domain.effect import Effect
from triage.domain.issue import Exchange, Issue, Repository
from triage.domain.report import RunReport
from triage.domain.run import Status
from triage.domain.task import Quieten, Skip, Task, TriageIssue, Trigger
from triage.errors import GitHubUnavailable, IssueMoved, RateLimited, TriageError
from triage.events.admission import WINDOW, Known, admit, whose_roles, withheld
from triage.events.trigger_snapshot import as_it_was, comment_of, run_of, withdrawn
from triage.flows.deadlines import answered, ended_or_cancelled
from triage.flows.export_telemetry import tell
from triage.flows.flow_context import Desk, Ending
from triage.flows.model_run_cap import why_rules
from triage.flows.write_results import looked_again, performed
from triage.ports import Services
from triage.publish.apply_effects import Performed, perform
from triage.publish.deduplicate import held_back, leftovers, our_comments
from triage.publish.hidden_state import PostedState, parse, text_hash
from triage.publish.plan_effects import plan, quieten, skipped, unfinished
from triage.text.inert_markdown import plain
from triage.threads import in_daemon_thread

AUTOMATIC = (Trigger.OPENED, Trigger.REOPENED, Trigger.LABELED)
"""What needs nobody's right: the event alone is enough to go on."""


Work = Callable[[Issue, Repository, Services, asyncio.Event], Awaitable[RunReport]]
"""The graph's run."""


@dataclass(frozen=True)
class _Matter:
    """What a run works on, and what was known when it began."""

    task: TriageIssue
    seen: Issue
    """As the trigger saw it."""
    read: Issue
    """As GitHub showed it."""
    before: PostedState | None = None
    """What our comment remembered."""


async def carry_out(task: Task, desk: Desk, cancelled: asyncio.Event) -> Ending:
    """Do what was asked, or say why not.

    Raises:
        SetupError: The issue cannot be read, and what to mend.
    """
    if isinstance(task, Skip):
        return _skip(task, desk)
    began = desk.now()
    try:
        issue = await answered(
            f"Issue #{task.number}", lambda: desk.github.issue(task.number), desk.reading_seconds(), cancelled
        )
    except IssueMoved as moved:
        return _skip(Skip(reason=str(moved)), desk)
    except GitHubUnavailable as error:
        return await _without_github(task, error, desk, cancelled)
    seen = as_it_was(issue, desk.told, _moment(issue, began, desk))
    previous = next(iter(our_comments(issue)), None)
    state = parse(previous.body) if previous else None
    try:
        admitted = await answered(
            "Who may ask", lambda: _admitted(task, issue, seen, previous, desk), desk.reading_seconds(), cancelled
        )
    except GitHubUnavailable as error:
        return await _without_github(task, error, replace(desk, told=seen), cancelled)
    if isinstance(admitted, Skip):
        return _skip(admitted, desk)
    if isinstance(admitted, Quieten):
        desk.journal.note(f"Triage is quiet on issue {admitted.number} from now on.")
        return _ended(
            Status.SKIPPED, await _performed(quieten(admitted.number, previous, desk.policy), desk, cancelled)
        )
    return await _triage(_Matter(admitted, seen, issue, state), desk, cancelled)


def _skip(task: Skip, desk: Desk) -> Ending:
    desk.journal.note(f"Nothing to do: {task.reason}")
    perform(skipped(task.reason), desk.github, desk.runner)
    return Ending(Status.SKIPPED)


def _moment(issue: Issue, began: datetime, desk: Desk) -> datetime:
    """When it was asked for: at the event, or as the run began; by GitHub's clock, where it tells."""
    if desk.told is not None:
        return desk.told.at or datetime.min.replace(tzinfo=UTC)
    return issue.at - (desk.now() - began) if issue.at else began


def _admitted(task: Task, issue: Issue, seen: Issue, previous: Exchange | None, desk: Desk) -> Task:
    if reason := withdrawn(task, issue, desk.told):
        return Skip(reason=reason)
    now = issue.at or desk.now()
    roles = {login: desk.github.role(login) for login in whose_roles(task, issue, now, desk.config)}
    state = (parse(previous.body) if previous else None) or PostedState()
    written = (previous.edited_at or previous.created_at) if previous else None
    known = Known(
        asked=bool(state.asked),
        quieted=state.quiet,
        same_text=state.text == text_hash(seen.title, seen.body),
        young=written is not None and written > now - WINDOW,
        ran=state.ran,
    )
    said = comment_of(desk.told)
    return admit(task, issue, now, roles, known, desk.config, said.comment_id if said else None)


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
    if isinstance(error, RateLimited):  # a flood uses the limit up
        quiet = _modest(quiet)
    missing = f"{error} Nothing was written to the issue."
    return await _triage(_Matter(automatic, desk.told, desk.told), quiet, cancelled, missing)


def _modest(desk: Desk) -> Desk:
    return replace(desk, services=desk.by_rules or desk.services)


async def _triage(matter: _Matter, desk: Desk, cancelled: asyncio.Event, missing: str = "") -> Ending:
    labels = [] if missing else await _labels(desk, cancelled)
    flood = "" if missing else await _flood(matter, desk, cancelled)
    repository = desk.repository.model_copy(update={"labels": desk.config.usable(labels)})
    report, services = await _worked(matter.seen, repository, _modest(desk) if flood else desk, cancelled)
    if missing:
        report = report.model_copy(update={"status": Status.DEGRADED})
    report = _noting(report, missing, flood)
    desk.journal.folded("Analysis", report.analysis or plain(report.root_cause))
    report, effects = await _planned(report, matter, services, desk, cancelled)
    done = await _performed(effects, desk, cancelled)
    ending = _ended(report.status, done, report)
    desk.journal.note(f"Ended {ending.status} after {report.seconds:.1f} s. Comment: {done.comment_url or 'unchanged'}")
    await tell(report.model_copy(update={"status": ending.status}), services, cancelled, desk.seconds_left)
    return ending


def _noting(report: RunReport, *sentences: str) -> RunReport:
    said = [sentence for sentence in sentences if sentence]
    return report.model_copy(update={"notes": [*said, *report.notes]}) if said else report


async def _planned(
    report: RunReport, matter: _Matter, services: Services, desk: Desk, cancelled: asyncio.Event
) -> tuple[RunReport, list[Effect]]:
    """What is to be written, after a last look at the issue: minutes have passed since it was read."""
    read = matter.read
    partial = cancelled.is_set() and bool(report.cut)
    writes = desk.policy.comment and not desk.policy.dry_run
    if writes and (not partial or (report.findings and not our_comments(read))):
        read = await looked_again(read, desk.github, desk.seconds_left, cancelled) or read
    previous = next(iter(our_comments(read)), None)
    edited = text_hash(read.title, read.body) != text_hash(matter.seen.title, matter.seen.body)
    report = report.model_copy(update={"issue": report.issue.model_copy(update={"edited_since": edited})})
    reason = held_back(matter.seen, read, matter.before, parse(previous.body) if previous else None)
    if reason:
        desk.journal.note(reason)
    report = _noting(report, reason)
    effects = plan(
        report,
        desk.policy,
        matter.seen.model_copy(update={"labels": read.labels}),
        previous,
        services.codebase.paths(),
        partial=partial,
        run=run_of(matter.task, desk.told),
        leftovers=leftovers(read),
        held_back=bool(reason),
    )
    return report, effects


async def _flood(matter: _Matter, desk: Desk, cancelled: asyncio.Event) -> str:
    if desk.most_model_runs is None:
        return ""
    own = run_of(matter.task, desk.told)
    ran = [run for run in (matter.before.ran if matter.before else []) if run != own]
    now = matter.read.at or desk.now()

    async def ask(what: str, question: Callable[[], Any]) -> Any:
        return await answered(what, question, desk.reading_seconds(), cancelled)

    return await why_rules(matter.task, ran, now, desk.most_model_runs, desk.github, desk.journal, ask)


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
    from triage.graph.unstarted_report import unstarted

    idle = (desk.idle or desk.services)()
    return unstarted(issue, repository, idle), idle


def _started(desk: Desk) -> tuple[Work, Services]:
    """What takes seconds to load, and what a skipped event never needs."""
    from triage.graph.run_graph import triage

    return triage, desk.services()


async def _performed(effects: Sequence[Effect], desk: Desk, cancelled: asyncio.Event) -> Performed:
    return await performed(effects, desk.github, desk.runner, desk.seconds_left, cancelled)


async def _labels(desk: Desk, cancelled: asyncio.Event) -> list[str]:
    """Labels of the repository; without them no label is suggested, which is no reason to stop."""
    try:
        return await answered("The repository's labels", desk.github.labels, desk.reading_seconds(), cancelled)
    except TriageError as error:
        desk.journal.note(str(error))
        return []


def _ended(status: Status, done: Performed, report: RunReport | None = None) -> Ending:
    if done.must_mend:
        return Ending(Status.FAILED, report)
    return Ending(Status.DEGRADED if done.failures and status is Status.COMPLETE else status, report)
