"""What a job of GitHub Actions does with a backlog, by the input `backlog`."""

import time
from dataclasses import replace
from functools import partial

from triage.app.wiring import RunSetup
from triage.backlog import backlog_services
from triage.backlog.backlog import Caps
from triage.backlog.backlog_files import BacklogFiles
from triage.backlog.list_backlog import ListRequest, describe_list, list_backlog
from triage.backlog.merge_backlog import MergeJob, merge_backlog
from triage.backlog.run_batch import read_plan, run_batch
from triage.base import threads
from triage.base.errors import BadInput
from triage.domain.run import Status
from triage.domain.task import BacklogStage
from triage.job_page.notices import EMPTY_OUTPUTS
from triage.jobs.flow_context import FlowContext

OTHER_REPOSITORY = "The files of the backlog are of another repository. Hand on those that `backlog: list` wrote."
NO_BATCH = "backlog-batch: give the job the number of its batch, such as ${{ matrix.batch }}."


async def run_backlog_job(stage: BacklogStage, setup: RunSetup, context: FlowContext) -> Status:
    """Do one job of a backlog. Raises SetupError for what the workflow's author must fix."""
    jobs = {"list": _list, "run": _run, "merge": _merge}
    return await jobs[stage](setup, context)


async def _list(setup: RunSetup, context: FlowContext) -> Status:
    settings = setup.settings
    request = ListRequest(
        repository=setup.repository,
        server_url=setup.environment.server_url,
        query=settings.backlog_query,
        caps=Caps(usd=settings.backlog_max_cost_usd, tokens=settings.backlog_max_tokens),
        limit=settings.backlog_limit,
        cursor=settings.backlog_after,
        again=settings.backlog_again,
    )
    files = BacklogFiles(setup.root / backlog_services.FOLDER)
    services = backlog_services.open_list_services(setup, files)
    plan = await threads.run_in_daemon_thread(lambda: list_backlog(request, services))
    for note in plan.notes:
        context.runner.annotate("warning", note)
    status = Status.DEGRADED if plan.notes else Status.COMPLETE
    context.runner.write_outputs(EMPTY_OUTPUTS | {"status": status.value} | describe_list(plan))
    return status


async def _run(setup: RunSetup, context: FlowContext) -> Status:
    settings = setup.settings
    batch = settings.backlog_batch
    if batch is None:
        raise BadInput(NO_BATCH)
    files = BacklogFiles(setup.root / backlog_services.FOLDER)
    plan = read_plan(files, batch)
    if plan.repository.casefold() != setup.repository.casefold():
        raise BadInput(OTHER_REPOSITORY)

    def seconds_left() -> float:
        return setup.started + settings.backlog_batch_seconds - time.monotonic()

    open_job = partial(backlog_services.open_batch, setup, files, batch, plan, seconds_left)
    result = await run_batch(open_job, context.cancelled, seconds_left)
    missing = result.missing if result else len(plan.batches[batch - 1])
    status = Status.DEGRADED if missing else Status.COMPLETE
    if missing:
        context.runner.annotate("warning", f"{missing} issues of batch {batch} are not triaged: the table says so.")
    context.runner.write_outputs(EMPTY_OUTPUTS | {"status": status.value})
    return status


async def _merge(setup: RunSetup, context: FlowContext) -> Status:
    settings = setup.settings
    files = BacklogFiles(setup.root / backlog_services.FOLDER)
    if files.read_plan().repository.casefold() != setup.repository.casefold():
        raise BadInput(OTHER_REPOSITORY)
    table = backlog_services.open_table_issue(setup) if settings.backlog_table else None

    def seconds_left() -> float:  # writing many comments takes longer than one triage
        return setup.started + settings.backlog_batch_seconds - time.monotonic()

    context = replace(context, seconds_left=seconds_left)
    await merge_backlog(MergeJob(files, context, settings.backlog_comments, table))
    context.runner.write_outputs(EMPTY_OUTPUTS | {"status": Status.COMPLETE.value})
    return Status.COMPLETE
