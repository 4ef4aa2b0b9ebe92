"""Opens what the jobs act through, and chooses the job by its task."""

import os
import time
from collections.abc import Callable, Iterator
from functools import cache

from triage.app.app import App
from triage.base.errors import GitHubUnavailable, IssueMoved
from triage.domain.run import Status
from triage.domain.task import ReproduceTask
from triage.outside.output.job_output import read_own_file, write_file
from triage.reproduce.environments.docker import DockerEnvironments
from triage.reproduce.environments.source import Source
from triage.reproduce.evidence import Evidence, Selection
from triage.reproduce.jobs.execute_job import execute_reproduction
from triage.reproduce.jobs.handover import MAX_FILE_BYTES
from triage.reproduce.jobs.report_job import report_reproduction
from triage.reproduce.jobs.reproduce_job import ReproduceJob
from triage.reproduce.jobs.select_job import select_reproduction
from triage.reproduce.pages import Pages
from triage.reproduce.project_checkout import ProjectCheckout
from triage.reproduce.render_evidence import SUMMARY
from triage.run.job_context import JobContext
from triage.run.write.write_results import write_skip, write_unfinished

JOBS = {
    "reproduce-select": select_reproduction,
    "reproduce-run": execute_reproduction,
    "reproduce-report": report_reproduction,
}


def open_reproduce_job(app: App, context: JobContext) -> ReproduceJob:
    checkout = cache(lambda: ProjectCheckout(app.root, app.config.reproduce))
    return ReproduceJob(
        context=context,
        select=lambda *wish: checkout().select(*wish),
        list_reproduced=lambda: _list_reproduced(app),
        execute=lambda selection, seconds, bisect: _execute(app, checkout(), selection, seconds, bisect),
        open_pages=lambda: Pages(Source(app.root), context.repository),
        read_file=lambda name: read_own_file(app.workspace, name, MAX_FILE_BYTES),
        write_file=lambda name, text: write_file(app.workspace, name, app.redactor.redactor_for("example")(text)),
        selection_sha256=app.settings.selection,
    )


def _list_reproduced(app: App) -> list[int]:
    pages = app.github.iterate_past_issues(1, f'is:open commenter:{app.github.commenter} in:comments "{SUMMARY}"')
    return sorted({issue.number for page in pages for issue in page if issue.state == "open"}, reverse=True)


def _execute(
    app: App, checkout: ProjectCheckout, selection: Selection, seconds: float, bisect: Callable[[Evidence], bool]
) -> Iterator[Evidence]:
    progress = app.progress.info
    with DockerEnvironments(checkout.source, os.environ) as environments:
        environments.ends_at = time.monotonic() + seconds
        yield from checkout.run(selection, environments, bisect, progress)


async def run_reproduce_job(name: str, task: ReproduceTask, job: ReproduceJob) -> Status:
    """Do what this job does. Raises SetupError for what the workflow's author must fix."""
    try:
        return await JOBS[name](task, job)
    except IssueMoved as error:
        return write_skip(str(error), job.context)
    except GitHubUnavailable as error:
        return write_unfinished(str(error), job.context)
