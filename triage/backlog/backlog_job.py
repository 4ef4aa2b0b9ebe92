"""The steps of a backlog, in a job of GitHub Actions or at a terminal. Each opens what it needs.

Clients are imported where they are opened, as in `app.app`.
"""

import asyncio
import json
import math
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from triage.agents.services import Services
from triage.app.app import App, utc_now
from triage.app.command_line import Repo, Verbose, run_until_signal
from triage.app.open_app import open_terminal_app
from triage.backlog.backlog_files import BATCH_SECONDS, Backlog, BacklogFiles
from triage.backlog.backlog_page import render_backlog
from triage.backlog.list_backlog import list_backlog
from triage.base.errors import BadInput
from triage.base.os_signals import EXIT_CODES
from triage.base.progress import ProgressLog
from triage.base.threads import OutOfTime, call_with_deadline, in_thread
from triage.domain.issue import Issue, Repository
from triage.domain.report import RunReport
from triage.domain.run import Status
from triage.domain.task import BACKLOG_QUERY
from triage.run.run_context import JobContext, export_telemetry
from triage.say.comment import withhold_details

LIST_WAIT_SECONDS = 300.0
"""The longest wait for a rate limit, while a list is read."""
RunGraph = Callable[[Issue, Repository, Services, asyncio.Event], Awaitable[RunReport]]
NO_BATCH = "backlog-batch: give the job the number of its batch, such as ${{ matrix.batch }}."


async def run_backlog_job(name: str, app: App, run: JobContext) -> Status:
    """Do one job of a backlog. Raises SetupError for what the workflow's author must fix."""
    outputs, status = dict[str, str](), Status.COMPLETE
    if name == "backlog-list":
        outputs |= describe_list(await in_thread(list_issues, app, app.workspace))
    elif name == "backlog-run":
        batch = app.settings.backlog_batch
        if batch is None:
            raise BadInput(NO_BATCH)
        ends_at = app.started + BATCH_SECONDS
        missing = await run_batch(app, app.workspace, batch, lambda: ends_at - time.monotonic(), run.cancelled)
        if missing:
            status = Status.DEGRADED
            run.output.annotate("warning", f"{missing} issues of batch {batch} are not triaged: the table says so.")
    else:
        run.output.write_summary(write_table(app, app.workspace))
    run.output.write_outputs(outputs | {"status": status.value})
    return status


def list_issues(app: App, folder: Path) -> Backlog:
    """List the repository's issues into the folder. Slow: call it in a thread. Raises as `list_backlog`."""
    from triage.backlog.list_backlog import BacklogClient

    client = app.open_github(BacklogClient, max_wait_seconds=LIST_WAIT_SECONDS)
    backlog = list_backlog(app, app.settings.backlog_query, client.iterate, app.open_past_issues(), utc_now())
    BacklogFiles(folder, app.redactor).write_list(backlog)
    return backlog


def describe_list(backlog: Backlog) -> dict[str, str]:
    """Return the outputs of a list, for the jobs that follow."""
    return {
        "backlog-matrix": json.dumps({"batch": list(range(1, len(backlog.batches) + 1))}),
        "backlog-issues": str(len(backlog.issues)),
    }


async def run_batch(
    app: App, folder: Path, batch: int, seconds_left: Callable[[], float], cancelled: asyncio.Event
) -> int:
    """Triage a batch. Asks GitHub for attachments alone. Return how many of its issues are left.

    Raises:
        BadInput: There is no such batch, or a file cannot be read or written.
    """
    from triage.graph.run_graph import run_graph

    files = BacklogFiles(folder, app.redactor)
    backlog = files.read_list()
    if not 1 <= batch <= len(backlog.batches):
        raise BadInput(f"There is no batch {batch}: the list has {len(backlog.batches)}.")
    app = replace(app, settings=app.settings.model_copy(update={"embedding_model": "local"}))
    codebase = replace(app.open_checkout(None), index_once=True)

    def open_services(usd: float) -> Services:
        settings = app.settings.model_copy(update={"max_cost_usd": usd})
        own = replace(app, settings=settings, started=time.monotonic())
        # A copy: a thread of a triage that ran out of time may still add to its own.
        return replace(own.open_services(lambda *_: replace(codebase)), past_issues=lambda _: iter([backlog.past]))

    try:
        facts = await call_with_deadline(codebase.index, cancelled, seconds_left())
    except OutOfTime:
        return len(backlog.batches[batch - 1])
    app.progress.info(facts.log_line)
    job = BatchJob(backlog, batch, files, app.settings.limits().usd, open_services, app.progress, seconds_left)
    return await triage_batch(job, run_graph, cancelled)


@dataclass(frozen=True)
class BatchJob:
    """What the triages of a batch share."""

    backlog: Backlog
    batch: int
    files: BacklogFiles
    max_usd: float
    """For all of them together."""
    open_services: Callable[[float], Services]
    """Opens a triage that may take so many US dollars."""
    progress: ProgressLog
    seconds_left: Callable[[], float]
    """In which a triage may begin."""


async def triage_batch(job: BatchJob, run_graph: RunGraph, cancelled: asyncio.Event) -> int:
    """Triage what has no report yet, until time is up or the job is cancelled. Return how many issues are left.

    Raises:
        BadInput: A file of the backlog cannot be read or written.
    """
    backlog = job.backlog
    issues = backlog.batches[job.batch - 1]
    reports = {report.issue.number: report for report in job.files.read_reports(job.batch)}
    repository = Repository(slug=backlog.repository, server_url=backlog.server_url)
    for issue in issues:
        if issue.number in reports:
            continue
        if cancelled.is_set() or job.seconds_left() <= 0:
            break
        spent = sum(report.usage.priced_usd for report in reports.values())
        services = job.open_services(max(0.0, job.max_usd - spent))
        report = await run_graph(issue, repository, services, cancelled)
        if cancelled.is_set() and report.ended_early:
            break
        report = withhold_details(report) if report.security else report
        reports[issue.number] = report
        job.files.write_reports(job.batch, list(reports.values()))
        job.progress.info(
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


backlog = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Triage many issues of a repository: list them once, run batches, merge one ranked table.",
)
FolderArgument = Annotated[Path, typer.Argument(help="Folder for the files, which lie in .triage/ below it.")]


@backlog.command("list")
def print_list(
    folder: FolderArgument,
    github: Annotated[str, typer.Option(help="owner/name of the repository.")],
    query: Annotated[str, typer.Option(help="Search of GitHub that chooses the issues.")] = BACKLOG_QUERY,
    repo: Repo = Path(),
    verbose: Verbose = False,
) -> None:
    """List at most 1,000 issues of a repository, the newest first. Prints the matrix of batches as JSON."""
    app, output = open_terminal_app(repo, verbose=verbose)
    settings = app.settings.model_copy(update={"backlog_query": query})
    app = replace(app, repository=github, settings=settings).with_project_config()
    with output.progress:
        listed = list_issues(app, folder)
    values = describe_list(listed)
    sys.stdout.write(json.dumps(values | {"backlog-matrix": json.loads(values["backlog-matrix"])}) + "\n")


@backlog.command("run")
def run_numbered(
    folder: FolderArgument,
    batch: Annotated[int, typer.Option(help="Number of the batch, from 1.", min=1)],
    repo: Repo = Path(),
    verbose: Verbose = False,
) -> None:
    """Triage a batch on one index. Started again, it goes on where it was. Asks GitHub for attachments alone."""
    app, output = open_terminal_app(repo, verbose=verbose)
    app = replace(app, repository=BacklogFiles(folder, app.redactor).read_list().repository).with_project_config()
    with output.progress:
        missing, stopped_by = run_until_signal(
            lambda cancelled: run_batch(app, folder, batch, lambda: math.inf, cancelled)
        )
    if stopped_by:
        output.annotate("warning", f"{missing} issues of batch {batch} are not triaged yet. Start it again to go on.")
        raise SystemExit(EXIT_CODES[stopped_by])


@backlog.command("merge")
def print_table(folder: FolderArgument, verbose: Verbose = False) -> None:
    """Write one ranked table of all batches to .triage/backlog.md, and print it."""
    app, _ = open_terminal_app(Path(), verbose=verbose)
    sys.stdout.write(write_table(app, folder))
