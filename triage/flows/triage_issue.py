"""Triage one issue on GitHub: read it, may we, work on it, write what there is to write."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from triage.domain.effect import Effect
from triage.domain.issue import Issue, IssueComment, Repository
from triage.domain.report import RunReport
from triage.domain.run import Status
from triage.domain.task import QuietIssue, Skip, Task, TriageIssue, Trigger
from triage.errors import GitHubUnavailable, IssueMoved, RateLimited, TriageError
from triage.events.admission import WINDOW, EarlierRuns, admit_task, label_skip_reason, logins_to_check
from triage.events.trigger_snapshot import (
    get_trigger_comment,
    restore_issue_at_trigger,
    to_run_record,
    withdrawal_reason,
)
from triage.flows.deadlines import call_with_deadline
from triage.flows.export_telemetry import export_telemetry
from triage.flows.flow_context import FlowContext, FlowResult
from triage.flows.model_run_cap import check_model_run_cap
from triage.flows.write_results import refetch_issue, write_results
from triage.ports import Services
from triage.publish.apply_effects import PublishResult, apply_effects
from triage.publish.deduplicate import find_duplicates, find_our_comments, skip_reason
from triage.publish.hidden_state import PostedState, hash_text, parse_state
from triage.publish.plan_effects import plan_quiet, plan_report, plan_skip, plan_unfinished
from triage.text.inert_markdown import sanitize_markdown
from triage.threads import run_in_daemon_thread, wait_or_cancel

AUTOMATIC_TRIGGERS = (Trigger.OPENED, Trigger.REOPENED, Trigger.LABELED)
"""What needs nobody's right: the event alone is enough to go on."""


RunGraph = Callable[[Issue, Repository, Services, asyncio.Event], Awaitable[RunReport]]
"""The graph's run."""


@dataclass(frozen=True)
class TriageJob:
    """What a run works on, and what was known when it began."""

    task: TriageIssue
    issue_at_trigger: Issue
    """As the trigger saw it."""
    fetched_issue: Issue
    """As GitHub showed it."""
    posted_state: PostedState | None = None
    """What our comment remembered."""


async def run_task(task: Task, desk: FlowContext, cancelled: asyncio.Event) -> FlowResult:
    """Do what was asked, or say why not.

    Raises:
        SetupError: The issue cannot be read, and what to mend.
    """
    if isinstance(task, Skip):
        return _skip(task, desk)
    began = desk.now()
    try:
        issue = await call_with_deadline(
            f"Issue #{task.number}", lambda: desk.github.fetch_issue(task.number), desk.read_seconds_left(), cancelled
        )
    except IssueMoved as moved:
        return _skip(Skip(reason=str(moved)), desk)
    except GitHubUnavailable as error:
        return await _triage_without_github(task, error, desk, cancelled)
    seen = restore_issue_at_trigger(issue, desk.event_issue, _find_trigger_time(issue, began, desk))
    previous = next(iter(find_our_comments(issue)), None)
    state = parse_state(previous.body) if previous else None
    try:
        admitted = await call_with_deadline(
            "Who may ask", lambda: _admit(task, issue, seen, previous, desk), desk.read_seconds_left(), cancelled
        )
    except GitHubUnavailable as error:
        return await _triage_without_github(task, error, replace(desk, event_issue=seen), cancelled)
    if isinstance(admitted, Skip):
        return _skip(admitted, desk)
    if isinstance(admitted, QuietIssue):
        desk.progress.info(f"Triage is quiet on issue {admitted.number} from now on.")
        return _build_result(
            Status.SKIPPED, await _write(plan_quiet(admitted.number, previous, desk.policy), desk, cancelled)
        )
    return await _triage(TriageJob(admitted, seen, issue, state), desk, cancelled)


def _skip(task: Skip, desk: FlowContext) -> FlowResult:
    desk.progress.info(f"Nothing to do: {task.reason}")
    apply_effects(plan_skip(task.reason), desk.github, desk.runner)
    return FlowResult(Status.SKIPPED)


def _find_trigger_time(issue: Issue, began: datetime, desk: FlowContext) -> datetime:
    """When it was asked for: at the event, or as the run began; by GitHub's clock, where it tells."""
    if desk.event_issue is not None:
        return desk.event_issue.observed_at or datetime.min.replace(tzinfo=UTC)
    return issue.observed_at - (desk.now() - began) if issue.observed_at else began


def _admit(task: Task, issue: Issue, seen: Issue, previous: IssueComment | None, desk: FlowContext) -> Task:
    if reason := withdrawal_reason(task, issue, desk.event_issue):
        return Skip(reason=reason)
    now = issue.observed_at or desk.now()
    roles = {login: desk.github.fetch_role(login) for login in logins_to_check(task, issue, now, desk.config)}
    state = (parse_state(previous.body) if previous else None) or PostedState()
    written = (previous.edited_at or previous.created_at) if previous else None
    known = EarlierRuns(
        has_open_questions=bool(state.asked),
        is_quiet=state.quiet,
        has_same_text=state.text == hash_text(seen.title, seen.body),
        is_recent=written is not None and written > now - WINDOW,
        runs=state.parsed_runs,
    )
    said = get_trigger_comment(desk.event_issue)
    return admit_task(task, issue, now, roles, known, desk.config, said.comment_id if said else None)


async def _triage_without_github(
    task: TriageIssue | QuietIssue, error: GitHubUnavailable, desk: FlowContext, cancelled: asyncio.Event
) -> FlowResult:
    """A triage of what the event tells, onto the job's page only: whether we commented already is not known."""
    automatic = task if isinstance(task, TriageIssue) and task.trigger in AUTOMATIC_TRIGGERS else None
    if desk.event_issue is None or automatic is None or desk.event_issue.author_is_bot:
        apply_effects(plan_unfinished(str(error)), None, desk.runner)
        return FlowResult(Status.DEGRADED)
    if reason := label_skip_reason(automatic, desk.event_issue, desk.config):
        return _skip(Skip(reason=reason), desk)
    quiet = replace(desk, policy=desk.policy.model_copy(update={"comment": False, "labels": "off"}))
    if isinstance(error, RateLimited):  # a flood uses the limit up
        quiet = with_rules_engine(quiet)
    missing = f"{error} Nothing was written to the issue."
    return await _triage(TriageJob(automatic, desk.event_issue, desk.event_issue), quiet, cancelled, missing)


def with_rules_engine(desk: FlowContext) -> FlowContext:
    """The same context, whose services are those of the rules engine."""
    return replace(desk, open_services=desk.open_rules_services or desk.open_services)


async def _triage(matter: TriageJob, desk: FlowContext, cancelled: asyncio.Event, missing: str = "") -> FlowResult:
    labels = [] if missing else await _fetch_labels(desk, cancelled)
    flood = "" if missing else await _check_model_run_cap(matter, desk, cancelled)
    repository = desk.repository.model_copy(update={"labels": desk.config.allowed_labels(labels)})
    report, services = await _run_graph(
        matter.issue_at_trigger, repository, with_rules_engine(desk) if flood else desk, cancelled
    )
    if missing:
        report = report.model_copy(update={"status": Status.DEGRADED})
    report = _add_notes(report, missing, flood)
    desk.progress.log_group("Analysis", report.analysis or sanitize_markdown(report.root_cause))
    report, effects = await _plan(report, matter, services, desk, cancelled)
    done = await _write(effects, desk, cancelled)
    ending = _build_result(report.status, done, report)
    desk.progress.info(
        f"Ended {ending.status} after {report.seconds:.1f} s. Comment: {done.comment_url or 'unchanged'}"
    )
    await export_telemetry(report.model_copy(update={"status": ending.status}), services, cancelled, desk.seconds_left)
    return ending


def _add_notes(report: RunReport, *sentences: str) -> RunReport:
    said = [sentence for sentence in sentences if sentence]
    return report.model_copy(update={"notes": [*said, *report.notes]}) if said else report


async def _plan(
    report: RunReport, matter: TriageJob, services: Services, desk: FlowContext, cancelled: asyncio.Event
) -> tuple[RunReport, list[Effect]]:
    """What is to be written, after a last look at the issue: minutes have passed since it was read."""
    read = matter.fetched_issue
    partial = cancelled.is_set() and bool(report.cut)
    writes = desk.policy.comment and not desk.policy.dry_run
    if writes and (not partial or (report.findings and not find_our_comments(read))):
        read = await refetch_issue(read, desk.github, desk.seconds_left, cancelled) or read
    previous = next(iter(find_our_comments(read)), None)
    edited = hash_text(read.title, read.body) != hash_text(matter.issue_at_trigger.title, matter.issue_at_trigger.body)
    report = report.model_copy(update={"issue": report.issue.model_copy(update={"edited_since": edited})})
    reason = skip_reason(
        matter.issue_at_trigger, read, matter.posted_state, parse_state(previous.body) if previous else None
    )
    if reason:
        desk.progress.info(reason)
    report = _add_notes(report, reason)
    effects = plan_report(
        report,
        desk.policy,
        matter.issue_at_trigger.model_copy(update={"labels": read.labels}),
        previous,
        services.codebase.list_paths(),
        partial=partial,
        run=to_run_record(matter.task, desk.event_issue),
        duplicates=find_duplicates(read),
        is_skipped=bool(reason),
    )
    return report, effects


async def _check_model_run_cap(matter: TriageJob, desk: FlowContext, cancelled: asyncio.Event) -> str:
    if desk.max_model_runs is None:
        return ""
    own = to_run_record(matter.task, desk.event_issue)
    ran = [run for run in (matter.posted_state.parsed_runs if matter.posted_state else []) if run != own]
    now = matter.fetched_issue.observed_at or desk.now()

    async def ask(what: str, question: Callable[[], Any]) -> Any:
        return await call_with_deadline(what, question, desk.read_seconds_left(), cancelled)

    return await check_model_run_cap(matter.task, ran, now, desk.max_model_runs, desk.github, desk.progress, ask)


async def _run_graph(
    issue: Issue, repository: Repository, desk: FlowContext, cancelled: asyncio.Event
) -> tuple[RunReport, Services]:
    """The report, and what acted for it."""
    if not cancelled.is_set():
        starting = asyncio.ensure_future(run_in_daemon_thread(lambda: _load(desk)))
        await wait_or_cancel(starting, cancelled)
        if starting.done():
            triage, services = starting.result()
            desk.progress.info(f"Issue {issue.number}, engine {services.engine}, run {services.facts.request_id}")
            with desk.progress.group("Agents and tools"):
                return await triage(issue, repository, services, cancelled), services
        starting.cancel()
    from triage.graph.unstarted_report import build_unstarted_report

    idle = (desk.open_idle_services or desk.open_services)()
    return build_unstarted_report(issue, repository, idle), idle


def _load(desk: FlowContext) -> tuple[RunGraph, Services]:
    """What takes seconds to load, and what a skipped event never needs."""
    from triage.graph.run_graph import run_graph

    return run_graph, desk.open_services()


async def _write(effects: Sequence[Effect], desk: FlowContext, cancelled: asyncio.Event) -> PublishResult:
    return await write_results(effects, desk.github, desk.runner, desk.seconds_left, cancelled)


async def _fetch_labels(desk: FlowContext, cancelled: asyncio.Event) -> list[str]:
    """Labels of the repository; without them no label is suggested, which is no reason to stop."""
    try:
        return await call_with_deadline(
            "The repository's labels", desk.github.list_labels, desk.read_seconds_left(), cancelled
        )
    except TriageError as error:
        desk.progress.info(str(error))
        return []


def _build_result(status: Status, done: PublishResult, report: RunReport | None = None) -> FlowResult:
    if done.needs_setup_fix:
        return FlowResult(Status.FAILED, report)
    return FlowResult(Status.DEGRADED if done.failures and status is Status.COMPLETE else status, report)
