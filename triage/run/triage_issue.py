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
from triage.domain.task import IssueTask, QuietTask, TriageTask, Trigger
from triage.run.job_context import ROLE_OF_ASKER, JobContext, export_telemetry
from triage.run.may_run.admission import (
    IssueRequest,
    check_added_label,
    check_model_run_cap,
    check_opt_labels,
    check_quiet,
    check_triage,
)
from triage.run.may_run.event import restore_issue_at_trigger
from triage.run.write.plan_suggestions import select_allowed_labels
from triage.run.write.write_results import (
    add_notes,
    forbid_writes,
    publish_report,
    write_quiet,
    write_skip,
    write_unfinished,
)

RunGraph = Callable[[Issue, Repository, Services, asyncio.Event], Awaitable[RunReport]]

AUTOMATIC_TRIGGERS = (Trigger.OPENED, Trigger.REOPENED, Trigger.LABELED)
"""These need no permission."""


async def run_task(task: IssueTask, context: JobContext) -> Status:
    """Do what the event asks for, or say why not. Raises SetupError if the issue cannot be read."""
    if isinstance(task, TriageTask) and (reason := check_added_label(task, context.config)):
        return write_skip(reason, context)
    started = context.now()
    try:
        issue = await context.ask_github(f"Issue #{task.number}", lambda: context.github.fetch_issue(task.number))
    except IssueMoved as error:
        return write_skip(str(error), context)
    except GitHubUnavailable as error:
        return await _triage_without_github(task, context.event.issue if context.event else None, error, context)
    issue_at_trigger = restore_issue_at_trigger(issue, context.event, started, context.now())
    now, fetch_role = issue.snapshot_time or context.now(), context.github.fetch_role

    try:
        if isinstance(task, QuietTask):
            quiet = IssueRequest(task, issue, issue_at_trigger, context.event, now)
            reason = await context.ask_github(ROLE_OF_ASKER, lambda: check_quiet(quiet, fetch_role))
            return write_skip(reason, context) if reason else await write_quiet(issue, task, context)
        request = IssueRequest(task, issue, issue_at_trigger, context.event, now)
        reason = await context.ask_github(ROLE_OF_ASKER, lambda: check_triage(request, fetch_role, context.config))
    except GitHubUnavailable as error:
        return await _triage_without_github(task, issue_at_trigger, error, context)
    return write_skip(reason, context) if reason else await _triage(request, context)


async def _triage(
    request: IssueRequest[TriageTask], context: JobContext, problem: str = "", *, by_rules: bool = False
) -> Status:
    """Run the agents, and write what they found. `problem` says why nothing may be asked of GitHub."""
    issue, cap_reason, labels = request.issue_at_trigger, "", list[str]()
    if not problem:
        labels = await _fetch_labels(context)
        cap_reason = await check_model_run_cap(request, context)
        by_rules = bool(cap_reason)
    repository = context.repository.model_copy(update={"labels": labels})

    def load() -> tuple[RunGraph, Services]:
        from triage.graph.run_graph import run_graph  # takes a second; a skipped event never needs it

        is_asked = request.task.is_asked or bool(request.comment_state and request.comment_state.is_asked)
        services = context.open_services(by_rules=by_rules)
        return run_graph, replace(services, searches_for_features=is_asked or services.searches_for_features)

    try:
        run_graph, services = await call_with_deadline(load, context.cancelled)
        context.progress.info(f"Issue {issue.number}, engine {services.engine}, run {services.identity.request_id}")
        report = await run_graph(issue, repository, services, context.cancelled)
    except OutOfTime:
        return write_unfinished("The run was cancelled before it looked anything up.", context)
    report = report.model_copy(update={"actor": request.task.actor})
    if problem:
        report = report.model_copy(update={"status": Status.DEGRADED})
    report = await publish_report(add_notes(report, problem, cap_reason), request, labels, context)
    await export_telemetry(report, services, context.cancelled, context.seconds_left)
    return report.status


async def _fetch_labels(context: JobContext) -> list[str]:
    """Return the labels that may be suggested; none if GitHub does not say."""
    try:
        labels = await context.ask_github("The repository's labels", context.github.list_labels)
    except TriageError as error:
        context.progress.info(str(error))
        return []
    return select_allowed_labels(context.config, labels)


async def _triage_without_github(
    task: IssueTask, issue: Issue | None, error: GitHubUnavailable, context: JobContext
) -> Status:
    """Triage what the event shows, and write to the job's page only: nobody knows whether we commented already."""
    # The event alone does not say whether another issue may be triaged.
    if not isinstance(task, TriageTask) or task.trigger not in AUTOMATIC_TRIGGERS or not issue or issue.author_is_bot:
        return write_unfinished(str(error), context)
    if reason := check_opt_labels(task, issue, context.config):
        return write_skip(reason, context)
    context = replace(context, policy=forbid_writes(context.policy))
    by_rules = isinstance(error, RateLimited)  # a burst of issues uses the limit up
    problem = f"{error} Nothing was written to the issue."
    return await _triage(IssueRequest(task, issue, issue, None, context.now()), context, problem, by_rules=by_rules)
