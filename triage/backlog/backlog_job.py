"""The steps of a backlog, by the settings of the app, and what a job of GitHub Actions makes of them."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from triage.app.app import App
from triage.backlog import backlog_services
from triage.backlog.backlog import DEFAULT_BATCH_SIZE, BacklogPlan, Caps
from triage.backlog.list_backlog import ListRequest, describe_list, list_backlog
from triage.backlog.merge_backlog import MergeJob, merge_backlog
from triage.backlog.run_batch import BatchResult, read_plan, run_batch
from triage.base.errors import BadInput
from triage.base.threads import in_thread
from triage.domain.run import Status
from triage.job_page.notices import EMPTY_OUTPUTS
from triage.jobs.run_context import Run

FOLDER = Path(".triage", "backlog")
"""Of the action, below the workspace."""
OTHER_REPOSITORY = "The files of the backlog are of another repository. Hand on those that `task: backlog-list` wrote."
NO_BATCH = "backlog-batch: give the job the number of its batch, such as ${{ matrix.batch }}."


def list_issues(app: App, folder: Path, batch_size: int = DEFAULT_BATCH_SIZE) -> BacklogPlan:
    """List the repository's issues into the folder. Slow: call it in a thread. Raises as `list_backlog`."""
    settings = app.settings
    request = ListRequest(
        repository=app.repository,
        server_url=app.environment.server_url,
        query=settings.backlog_query,
        caps=Caps(usd=settings.backlog_max_cost_usd, tokens=settings.backlog_max_tokens),
        limit=settings.backlog_limit,
        batch_size=batch_size,
        cursor=settings.backlog_after,
        again=settings.backlog_again,
    )
    return list_backlog(request, backlog_services.open_list_services(app, backlog_services.open_files(app, folder)))


async def run_issues(app: App, folder: Path, cancelled: asyncio.Event) -> BatchResult:
    """Triage the batch of the settings. Raises BadInput if there is no such batch."""
    batch, files = app.settings.backlog_batch, backlog_services.open_files(app, folder)
    if batch is None:
        raise BadInput(NO_BATCH)
    plan = read_plan(files, batch)
    _check_repository(app, plan)
    seconds_left = _count_down(app)
    open_job = partial(backlog_services.open_batch, app, files, batch, plan, seconds_left)
    result = await run_batch(open_job, cancelled, seconds_left)
    return result or BatchResult(done=0, missing=len(plan.batches[batch - 1]))


async def merge_results(app: App, folder: Path, run: Run) -> str:
    """Write the table of all batches, and comments if the settings want them. Returns the table's page."""
    files = backlog_services.open_files(app, folder)
    _check_repository(app, files.read_plan())
    # Writing many comments takes longer than one triage.
    run = replace(run, seconds_left=_count_down(app))
    return await merge_backlog(MergeJob(files, run, app.settings.backlog_comments))


def _check_repository(app: App, plan: BacklogPlan) -> None:
    if plan.repository.casefold() != app.repository.casefold():
        raise BadInput(OTHER_REPOSITORY)


def _count_down(app: App) -> Callable[[], float]:
    return lambda: app.started + app.settings.backlog_batch_seconds - time.monotonic()


async def run_backlog_job(name: str, app: App, run: Run) -> Status:
    """Do one job of a backlog. Raises SetupError for what the workflow's author must fix."""
    folder, outputs, status = app.workspace / FOLDER, dict(EMPTY_OUTPUTS), Status.COMPLETE
    if name == "backlog-list":
        plan = await in_thread(list_issues, app, folder)
        for note in plan.notes:
            status = Status.DEGRADED
            run.output.annotate("warning", note)
        outputs |= describe_list(plan)
    elif name == "backlog-run":
        result = await run_issues(app, folder, run.cancelled)
        if result.missing:
            status = Status.DEGRADED
            batch = app.settings.backlog_batch
            text = f"{result.missing} issues of batch {batch} are not triaged: the table says so."
            run.output.annotate("warning", text)
    else:
        await merge_results(app, folder, run)
    run.output.write_outputs(outputs | {"status": status.value})
    return status
