"""The steps of a backlog, in a job of GitHub Actions or at a terminal. Each opens what it needs.

Clients are imported where they are opened, as in `app.app`.
"""

import asyncio
import json
import math
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from triage.agents.services import Services
from triage.app.app import App, utc_now
from triage.app.command_line import Repo, Verbose, run_until_signal
from triage.app.open_app import open_terminal_app
from triage.backlog.backlog_files import BATCH_SECONDS, LIST, Backlog, BacklogFiles
from triage.backlog.backlog_page import render_backlog
from triage.backlog.list_backlog import list_backlog
from triage.base.errors import BadInput, WrongUsage
from triage.base.os_signals import EXIT_CODES
from triage.base.threads import OutOfTime, call_with_deadline, in_thread
from triage.domain.issue import Issue, Repository
from triage.domain.report import RunReport
from triage.domain.run import Status
from triage.domain.task import BACKLOG_QUERY
from triage.outside.output.job_output import FOLDER
from triage.run.job_context import JobContext, export_telemetry
from triage.say.comment import withhold_details

LIST_WAIT_SECONDS = 300.0
"""The longest wait for a rate limit, while a list is read."""
RunGraph = Callable[[Issue, Repository, Services, asyncio.Event], Awaitable[RunReport]]


async def run_backlog_job(name: str, app: App, context: JobContext) -> Status:
    """Do one job of a backlog. Raises SetupError for what the workflow's author must fix."""
    outputs, status = dict[str, str](), Status.COMPLETE
    if name == "backlog-list":
        listed = await in_thread(list_issues, app, app.workspace)
        outputs["backlog-matrix"] = json.dumps({"batch": list(range(1, len(listed.batches) + 1))})
        outputs["backlog-issues"] = str(len(listed.issues))
    elif name == "backlog-run":
        batch = app.settings.backlog_batch
        if batch is None:
            raise BadInput("backlog-batch: give the job the number of its batch, such as ${{ matrix.batch }}.")
        ends_at = app.started + BATCH_SECONDS
        missing = await run_batches(app, app.workspace, [batch], lambda: ends_at - time.monotonic(), context.cancelled)
        if missing:
            status = Status.DEGRADED
            context.output.annotate("warning", f"{missing} issues of batch {batch} are not triaged: the table says so.")
    else:
        context.output.write_summary(write_table(app, app.workspace))
    context.output.write_outputs(outputs | {"status": status.value})
    return status


def list_issues(app: App, folder: Path) -> Backlog:
    """List the repository's issues into the folder. Slow: call it in a thread. Raises as `list_backlog`."""
    from triage.backlog.list_backlog import BacklogClient

    client = app.open_github(BacklogClient, max_wait_seconds=LIST_WAIT_SECONDS)
    backlog = list_backlog(app, app.settings.backlog_query, client.iterate, app.open_past_issues(), utc_now())
    BacklogFiles(folder, app.redactor).write_list(backlog)
    return backlog


async def run_batches(
    app: App, folder: Path, numbers: Sequence[int], seconds_left: Callable[[], float], cancelled: asyncio.Event
) -> int:
    """Triage batches on one index. Asks GitHub for attachments alone. Return how many of their issues are left.

    Raises BadInput if there is no such batch, or a file cannot be read or written.
    """
    from triage.graph.run_graph import run_graph

    backlog = BacklogFiles(folder, app.redactor).read_list()
    if wrong := [number for number in numbers if not 1 <= number <= len(backlog.batches)]:
        raise BadInput(f"There is no batch {wrong[0]}: the list has {len(backlog.batches)}.")
    app = replace(app, settings=app.settings.model_copy(update={"embedding_model": "local"}))
    codebase = replace(app.open_codebase(None), index_once=True)

    def open_services(usd: float) -> Services:
        settings = app.settings.model_copy(update={"max_cost_usd": usd})
        own = replace(app, settings=settings, started=time.monotonic())
        # A copy: a thread of a triage that ran out of time may still add to its own.
        services = own.open_services(lambda *_: replace(codebase))
        return replace(services, iterate_past_issues=lambda _: iter([backlog.past]))

    try:
        facts = await call_with_deadline(codebase.index, cancelled, seconds_left())
    except OutOfTime:
        return sum(len(backlog.batches[number - 1]) for number in numbers)
    app.progress.info(facts.log_line)
    batches = [Batch(app, folder, backlog, number, open_services, seconds_left) for number in numbers]
    return sum([await triage_batch(batch, run_graph, cancelled) for batch in batches])


@dataclass(frozen=True)
class Batch:
    """One batch, and what its triages share."""

    app: App
    folder: Path
    backlog: Backlog
    number: int
    open_services: Callable[[float], Services]
    """Opens a triage that may take so many US dollars."""
    seconds_left: Callable[[], float]
    """In which a triage may begin."""


async def triage_batch(batch: Batch, run_graph: RunGraph, cancelled: asyncio.Event) -> int:
    """Triage what has no report yet, until time is up or the job is cancelled. Return how many issues are left.

    Raises BadInput if a file of the backlog cannot be read or written.
    """
    app, backlog, files = batch.app, batch.backlog, BacklogFiles(batch.folder, batch.app.redactor)
    issues = backlog.batches[batch.number - 1]
    reports = {report.issue.number: report for report in files.read_reports(batch.number)}
    repository = Repository(slug=backlog.repository, server_url=backlog.server_url)
    for issue in issues:
        if issue.number in reports:
            continue
        if cancelled.is_set() or batch.seconds_left() <= 0:
            break
        spent = sum(report.usage.priced_usd for report in reports.values())
        services = batch.open_services(max(0.0, app.settings.limits().usd - spent))
        report = await run_graph(issue, repository, services, cancelled)
        if cancelled.is_set() and report.ended_early:
            break
        report = withhold_details(report) if report.security else report
        reports[issue.number] = report
        files.write_reports(batch.number, list(reports.values()))
        app.progress.info(
            f"Issue {issue.number}: {report.status.value} in {report.seconds:.1f} s, engine {report.engine}"
        )
        await export_telemetry(report, services, cancelled)
    return len(issues) - len(reports)


def write_table(app: App, folder: Path) -> str:
    """Write the table of all batches to the folder, and return it."""
    files = BacklogFiles(folder, app.redactor)
    backlog = files.read_list()
    reports = [report for batch, _ in enumerate(backlog.batches, 1) for report in files.read_reports(batch)]
    page = render_backlog(backlog, reports)
    files.write_table(page)
    return page


def backlog(
    folder: Annotated[Path, typer.Argument(help="Folder for the files, which lie in .triage/ below it.")],
    github: Annotated[str, typer.Option(help="owner/name of the repository, to list its issues.")] = "",
    query: Annotated[str, typer.Option(help=f"Search of GitHub that chooses them; by default {BACKLOG_QUERY}.")] = "",
    repo: Repo = Path(),
    verbose: Verbose = False,
) -> None:
    """Triage at most 1,000 issues of a repository, and print one ranked table. Without --github it goes on."""
    app, output = open_terminal_app(repo, verbose=verbose)
    if query and not github:
        raise WrongUsage("--query needs --github: without it, the issues that were listed are triaged.")
    if github:
        if (folder / FOLDER / LIST).exists():
            raise WrongUsage(f"{folder} has a backlog. Leave out --github to go on with it, or name another folder.")
        settings = app.settings.model_copy(update={"backlog_query": query or app.settings.backlog_query})
        app = replace(app, repository=github, settings=settings).with_project_config()
        with output.progress:
            listed = list_issues(app, folder)
    else:
        listed = BacklogFiles(folder, app.redactor).read_list()
        app = replace(app, repository=listed.repository).with_project_config()
    numbers = range(1, len(listed.batches) + 1)
    with output.progress:
        missing, stopped_by = run_until_signal(
            lambda cancelled: run_batches(app, folder, numbers, lambda: math.inf, cancelled)
        )
    sys.stdout.write(write_table(app, folder))
    if stopped_by:
        output.annotate("warning", f"{missing} issues are not triaged yet. Start it again without --github to go on.")
        raise SystemExit(EXIT_CODES[stopped_by])
