"""Triages one issue on GitHub: read it, check who asks, run the agents, write the results.

A run is skipped at the earliest time that allows it: by the event's payload (`events.route`), here once the issue is
read (`events.admission`), and because minutes have passed, once more before anything is written to the issue
(`publish.deduplicate`).
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

from triage.base.errors import GitHubUnavailable, IssueMoved, RateLimited, TriageError
from triage.base.threads import OutOfTime, call_with_deadline
from triage.comment.hidden_state import CommentState, hash_text, parse_state
from triage.domain.issue import Issue, Repository
from triage.domain.report import RunReport
from triage.domain.run import Status
from triage.domain.task import RUN_WINDOW, AnswerTask, QuietTask, Skip, Task, TriageTask, Trigger
from triage.events.admission import EarlierRuns, admit_task, label_skip_reason, logins_to_check
from triage.events.trigger_snapshot import (
    get_trigger_comment,
    restore_issue_at_trigger,
    to_run_key,
    trigger_comment_skip_reason,
)
from triage.jobs.answer_proposal import answer_proposal
from triage.jobs.export_telemetry import export_telemetry
from triage.jobs.flow_context import AdmittedTriage, FlowContext, FlowResult
from triage.jobs.model_run_cap import check_model_run_cap
from triage.jobs.remote_history import add_regression_window
from triage.jobs.write_results import add_notes, publish_report, write_quiet, write_skip, write_unfinished
from triage.ports import Services
from triage.writes.allowed_labels import select_allowed_labels
from triage.writes.deduplicate import find_our_comment
from triage.writes.trusted_facts import TrustedFacts

RunGraph = Callable[[Issue, Repository, Services, asyncio.Event], Awaitable[RunReport]]

AUTOMATIC_TRIGGERS = (Trigger.OPENED, Trigger.REOPENED, Trigger.LABELED)
"""These need no permission."""

NO_SUCH_LABEL = "The repository has no label with the name of needs-info-label. Create it, or remove the setting."


async def run_task(task: Task, context: FlowContext) -> FlowResult:
    """Do what the event asks for, or say why not.

    Raises:
        SetupError: The issue cannot be read; the message says what to fix.
    """
    if isinstance(task, Skip):
        return write_skip(task.reason, context)
    started = context.now()
    try:
        issue = await context.ask_github(f"Issue #{task.number}", lambda: context.github.fetch_issue(task.number))
    except IssueMoved as error:
        return write_skip(str(error), context)
    except GitHubUnavailable as error:
        if isinstance(task, AnswerTask):
            return write_unfinished(str(error), context)
        return await _triage_without_github(task, context.event_issue, error, context)
    if isinstance(task, AnswerTask):
        return await answer_proposal(task, issue, context)
    at_trigger = restore_issue_at_trigger(issue, context.event_issue, started, context.now())
    try:
        admitted = await context.ask_github(
            "The role of whoever asked", lambda: _admit(task, issue, at_trigger, context)
        )
    except GitHubUnavailable as error:
        return await _triage_without_github(task, at_trigger, error, context)
    if isinstance(admitted, Skip):
        return write_skip(admitted.reason, context)
    if isinstance(admitted, QuietTask):
        return await write_quiet(admitted, issue, context)
    return await _triage(admitted, context)


def _admit(
    task: TriageTask | QuietTask, issue: Issue, at_trigger: Issue, context: FlowContext
) -> AdmittedTriage | QuietTask | Skip:
    # Asks GitHub for roles.
    if reason := trigger_comment_skip_reason(task, issue, context.event_issue):
        return Skip(reason=reason)
    now = issue.snapshot_time or context.now()
    roles = {login: context.github.fetch_role(login) for login in logins_to_check(task, issue, now, context.config)}
    comment = find_our_comment(issue)
    state = parse_state(comment.body) if comment else None
    known = state or CommentState()
    written_at = (comment.edited_at or comment.created_at) if comment else None
    earlier = EarlierRuns(
        has_open_questions=bool(known.asked),
        is_quiet=known.quiet,
        has_same_text=known.text_hash == hash_text(at_trigger.title, at_trigger.body),
        is_recent=written_at is not None and written_at > now - RUN_WINDOW,
        runs=known.past_runs,
    )
    trigger = get_trigger_comment(context.event_issue)
    admitted = admit_task(task, issue, now, roles, earlier, context.config, trigger.comment_id if trigger else None)
    if not isinstance(admitted, TriageTask):
        return admitted
    run = to_run_key(admitted, context.event_issue)
    return AdmittedTriage(admitted, at_trigger, issue, state, run)


async def _triage(admitted: AdmittedTriage, context: FlowContext, problem: str = "") -> FlowResult:
    labels: list[str] = []
    cap_reason = ""
    if not problem:
        labels = await _fetch_labels(context)
        cap_reason = await check_model_run_cap(admitted, context)
    if cap_reason:
        context = context.with_rules_engine()
    repository = context.repository.model_copy(update={"labels": select_allowed_labels(context.config, labels)})
    report, services = await _run_agents(admitted.issue_at_trigger, repository, context)
    if problem:
        report = report.model_copy(update={"status": Status.DEGRADED})
    if not problem:
        report = await add_regression_window(report, admitted.issue_at_trigger, context)
    report = add_notes(report, problem, cap_reason)
    codebase = services.codebase
    facts = TrustedFacts(
        repository=repository.model_copy(update={"commit": codebase.commit}), run_url=services.facts.run_url
    )
    result = await publish_report(report, admitted, facts, codebase.list_paths(), context)
    published = (result.report or report).model_copy(update={"status": result.status})
    await export_telemetry(published, services, context.cancelled, context.seconds_left)
    return result


async def _fetch_labels(context: FlowContext) -> list[str]:
    try:
        labels = await context.ask_github("The repository's labels", context.github.list_labels)
    except TriageError as error:  # no label is suggested then
        context.progress.info(str(error))
        return []
    needs_info = context.config.needs_info_label.casefold()
    if needs_info and context.policy.labels == "apply" and needs_info not in {label.casefold() for label in labels}:
        context.progress.info(NO_SUCH_LABEL)
    return labels


async def _run_agents(issue: Issue, repository: Repository, context: FlowContext) -> tuple[RunReport, Services]:
    def load() -> tuple[RunGraph, Services]:
        from triage.graph.run_graph import run_graph  # takes a second; a skipped event never needs it

        return run_graph, context.open_services()

    try:
        run_graph, services = await call_with_deadline(load, context.cancelled)
    except OutOfTime:
        from triage.graph.finish import build_offline_report

        services = (context.open_offline_services or context.open_services)()
        return build_offline_report(issue, repository, services), services
    context.progress.info(f"Issue {issue.number}, engine {services.engine}, run {services.facts.request_id}")
    with context.progress.group("Agents and tools"):
        return await run_graph(issue, repository, services, context.cancelled), services


async def _triage_without_github(
    task: TriageTask | QuietTask, issue: Issue | None, error: GitHubUnavailable, context: FlowContext
) -> FlowResult:
    """Triage what the event shows, and write to the job's page only: nobody knows whether we commented already."""
    admitted = _admit_without_github(task, issue, context)
    if admitted is None:
        return write_unfinished(str(error), context)
    if isinstance(admitted, Skip):
        return write_skip(admitted.reason, context)
    policy = context.policy.model_copy(update={"comment": "never", "labels": "off"})
    context = replace(context, policy=policy)
    if isinstance(error, RateLimited):  # a burst of issues uses the limit up
        context = context.with_rules_engine()
    return await _triage(admitted, context, problem=f"{error} Nothing was written to the issue.")


def _admit_without_github(
    task: TriageTask | QuietTask, issue: Issue | None, context: FlowContext
) -> AdmittedTriage | Skip | None:
    # None: the event alone does not say whether its issue may be triaged.
    if not isinstance(task, TriageTask) or task.trigger not in AUTOMATIC_TRIGGERS or not issue or issue.author_is_bot:
        return None
    if reason := label_skip_reason(task, issue, context.config):
        return Skip(reason=reason)
    return AdmittedTriage(task, issue, issue)
