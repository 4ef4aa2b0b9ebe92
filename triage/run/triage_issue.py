"""Triages one issue on GitHub: read it, check who asks, run the agents, write the results.

A run is skipped at the earliest time that allows it: by the event's payload (`may_run.route`), here once the issue is
read (`may_run.admission`), and because minutes have passed, once more before anything is written to the issue
(`say.our_comment`).
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

from triage.agents.services import Services
from triage.base.errors import GitHubUnavailable, IssueMoved, RateLimited, TriageError
from triage.base.threads import OutOfTime, call_with_deadline
from triage.domain.issue import Issue, Repository
from triage.domain.report import RunReport
from triage.domain.run import Status
from triage.domain.task import RUN_WINDOW, QuietTask, Skip, Task, TriageTask, Trigger
from triage.read.questions import answers_question
from triage.run.may_run.admission import RememberedFacts, check_allowed, label_skip_reason, logins_to_check
from triage.run.may_run.trigger_snapshot import (
    get_trigger_comment,
    restore_issue_at_trigger,
    to_run_key,
    trigger_comment_skip_reason,
)
from triage.run.model_run_cap import check_model_run_cap
from triage.run.run_context import JobContext, RunResult, TriageRequest, export_telemetry
from triage.run.write.plan_suggestions import select_allowed_labels
from triage.run.write.write_results import add_notes, publish_report, write_quiet, write_skip, write_unfinished
from triage.say.hidden_state import CommentState, hash_text, parse_state
from triage.say.our_comment import find_our_comment

RunGraph = Callable[[Issue, Repository, Services, asyncio.Event], Awaitable[RunReport]]

AUTOMATIC_TRIGGERS = (Trigger.OPENED, Trigger.REOPENED, Trigger.LABELED)
"""These need no permission."""

NO_SUCH_LABEL = "The repository has no label with the name of needs-info-label. Create it, or remove the setting."


async def run_task(task: Task, run: JobContext) -> RunResult:
    """Do what the event asks for, or say why not.

    Raises:
        SetupError: The issue cannot be read; the message says what to fix.
    """
    if isinstance(task, Skip):
        return write_skip(task.reason, run)
    started = run.now()
    try:
        issue = await run.ask_github(f"Issue #{task.number}", lambda: run.github.fetch_issue(task.number))
    except IssueMoved as error:
        return write_skip(str(error), run)
    except GitHubUnavailable as error:
        return await _triage_without_github(task, run.event_issue, error, run)
    issue_at_trigger = restore_issue_at_trigger(issue, run.event_issue, started, run.now())
    try:
        request = await run.ask_github(
            "The role of whoever asked", lambda: _check_request(task, issue, issue_at_trigger, run)
        )
    except GitHubUnavailable as error:
        return await _triage_without_github(task, issue_at_trigger, error, run)
    if isinstance(request, Skip):
        return write_skip(request.reason, run)
    if isinstance(request, QuietTask):
        return await write_quiet(issue, request, run)
    return await _triage(request, run)


def _check_request(
    task: TriageTask | QuietTask, issue: Issue, issue_at_trigger: Issue, run: JobContext
) -> TriageRequest | QuietTask | Skip:
    # Asks GitHub for roles.
    if reason := trigger_comment_skip_reason(task, issue, run.event_issue):
        return Skip(reason=reason)
    now = issue.snapshot_time or run.now()
    roles = {login: run.github.fetch_role(login) for login in logins_to_check(task, issue, now, run.config)}
    comment = find_our_comment(issue)
    state = parse_state(comment.body) if comment else None
    remembered = state or CommentState()
    written_at = (comment.edited_at or comment.created_at) if comment else None
    trigger = get_trigger_comment(run.event_issue)
    earlier = RememberedFacts(
        has_open_questions=bool(remembered.asked),
        is_answer=trigger is None or answers_question(trigger.body, remembered.asked),
        is_quiet=remembered.quiet,
        has_same_text=remembered.text_hash == hash_text(issue_at_trigger.title, issue_at_trigger.body),
        is_recent=written_at is not None and written_at > now - RUN_WINDOW,
        runs=remembered.past_runs,
    )
    request = check_allowed(task, issue, now, roles, earlier, run.config, trigger.comment_id if trigger else None)
    if isinstance(request, QuietTask | Skip):
        return request
    return TriageRequest(request, issue_at_trigger, issue, state, to_run_key(request, run.event_issue))


async def _triage(request: TriageRequest, run: JobContext, problem: str = "") -> RunResult:
    labels: list[str] = []
    cap_reason = ""
    if not problem:
        labels = await _fetch_labels(run)
        cap_reason = await check_model_run_cap(request, run)
    if cap_reason:
        run = run.with_rules_engine()
    repository = run.repository.model_copy(update={"labels": select_allowed_labels(run.config, labels)})
    report, services = await _run_agents(request.issue_at_trigger, repository, run)
    report = report.model_copy(update={"actor": request.task.actor})
    if problem:
        report = report.model_copy(update={"status": Status.DEGRADED})
    report = add_notes(report, problem, cap_reason)
    repository = repository.model_copy(update={"commit": services.codebase.commit})
    result = await publish_report(report, request, repository, run)
    published = (result.report or report).model_copy(update={"status": result.status})
    await export_telemetry(published, services, run.cancelled, run.seconds_left)
    return result


async def _fetch_labels(run: JobContext) -> list[str]:
    try:
        labels = await run.ask_github("The repository's labels", run.github.list_labels)
    except TriageError as error:  # no label is suggested then
        run.progress.info(str(error))
        return []
    needs_info = run.config.needs_info_label.casefold()
    if needs_info and run.policy.labels == "apply" and needs_info not in {label.casefold() for label in labels}:
        run.progress.info(NO_SUCH_LABEL)
    return labels


async def _run_agents(issue: Issue, repository: Repository, run: JobContext) -> tuple[RunReport, Services]:
    def load() -> tuple[RunGraph, Services]:
        from triage.graph.run_graph import run_graph  # takes a second; a skipped event never needs it

        return run_graph, run.open_services()

    try:
        run_graph, services = await call_with_deadline(load, run.cancelled)
    except OutOfTime:
        from triage.graph.build_report import build_offline_report

        services = (run.open_base_services or run.open_services)()
        return build_offline_report(issue, repository, services), services
    run.progress.info(f"Issue {issue.number}, engine {services.engine}, run {services.identity.request_id}")
    with run.progress.group("Agents and tools"):
        return await run_graph(issue, repository, services, run.cancelled), services


async def _triage_without_github(
    task: TriageTask | QuietTask, issue: Issue | None, error: GitHubUnavailable, run: JobContext
) -> RunResult:
    """Triage what the event shows, and write to the job's page only: nobody knows whether we commented already."""
    request = _check_request_without_github(task, issue, run)
    if request is None:
        return write_unfinished(str(error), run)
    if isinstance(request, Skip):
        return write_skip(request.reason, run)
    policy = run.policy.model_copy(update={"comment": "never", "labels": "off"})
    run = replace(run, policy=policy)
    if isinstance(error, RateLimited):  # a burst of issues uses the limit up
        run = run.with_rules_engine()
    return await _triage(request, run, problem=f"{error} Nothing was written to the issue.")


def _check_request_without_github(
    task: TriageTask | QuietTask, issue: Issue | None, run: JobContext
) -> TriageRequest | Skip | None:
    # None: the event alone does not say whether its issue may be triaged.
    if not isinstance(task, TriageTask) or task.trigger not in AUTOMATIC_TRIGGERS or not issue or issue.author_is_bot:
        return None
    if reason := label_skip_reason(task, issue, run.config):
        return Skip(reason=reason)
    return TriageRequest(task, issue, issue)
