"""Chooses the job of the fix flow by its task. Those of `gate` and `propose` say in `next-job` which follows."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from triage.base.errors import BadInput, GitHubUnavailable, IssueMoved
from triage.domain.issue import Issue
from triage.domain.run import Status
from triage.domain.task import FixCommand, FixTask
from triage.fix.base_files import open_base_files
from triage.fix.jobs.apply_fix import apply_fix
from triage.fix.jobs.fix_job import (
    FixJob,
    FixRequest,
    JobArtifacts,
    check_base,
    format_refusal,
    read_fix_request,
    write_job_result,
    write_refusal,
)
from triage.fix.jobs.propose_fix import propose_fix
from triage.fix.jobs.report_fix import report_fix
from triage.fix.jobs.store_fix import store_fix
from triage.fix.proposal_store import GitHubProposalStore
from triage.run.job_context import JobContext
from triage.run.write.write_results import write_skip, write_unfinished

if TYPE_CHECKING:
    from triage.app.app import App
    from triage.reproduce.fix_example import FixExample

OBJECT_WRITE_SECONDS = 0.25
"""Between two git objects, which notify nobody. A patch has 20 files; GitHub allows 80 such requests in a minute."""


def open_fix_job(app: "App", context: JobContext, open_example: "Callable[[Issue], FixExample | None]") -> FixJob:
    """Open what a job of the fix flow acts through. Raises BadInput as `App.github`."""
    return FixJob(
        context,
        proposal_store=app.open_github(GitHubProposalStore, seconds_between_writes=OBJECT_WRITE_SECONDS),
        open_base_files=partial(open_base_files, app.root),
        artifacts=JobArtifacts(app.workspace, app.redactor),
        open_example=open_example,
        approvers=app.settings.approvers,
        tests_outcome=app.settings.proposal_tests,
        run_url=app.environment.run_url,
    )


async def choose_next_job(request: FixRequest, job: FixJob) -> Status:
    """Say which job follows, if any. Only reads."""
    task = request.task
    refusal = request.refusal or (await check_base(job) if task.makes_proposal else "")
    if refusal:
        return await write_job_result(job, format_refusal(task, refusal), {"next-job": "report"})
    following = "propose" if task.makes_proposal else "apply"
    return await write_job_result(job, f"The next job: {following}.", {"next-job": following})


MAKING: tuple[FixCommand, ...] = ("fix", "revise")
DECIDING: tuple[FixCommand, ...] = ("approve", "reject")
JOBS = {
    "fix-gate": (choose_next_job, MAKING + DECIDING),
    "fix-propose": (propose_fix, MAKING),
    "fix-store": (store_fix, MAKING),
    "fix-report": (report_fix, MAKING + DECIDING),
    "fix-apply": (apply_fix, DECIDING),
}
"""What each does, and which commands it carries out. `fix-gate` runs for all."""
REPLYING = ("fix-report", "fix-apply")
"""Jobs that may write to the issue."""


async def run_fix_job(name: str, task: FixTask, job: FixJob) -> Status:
    """Do what this job does of the fix flow. Each asks GitHub again whether the person may command it.

    Raises SetupError if the workflow's author must fix something.
    """
    if job.context.policy.comment == "never":
        raise BadInput("comment: never cannot be used with the fix flow: nobody could see what they approve.")
    carry_out, commands = JOBS[name]
    if task.command not in commands:
        return write_skip(f"`/triage {task.command}` is not for the job with `task: {name}`.", job.context)
    try:
        request = await read_fix_request(task, job)
        if request.has_write_access and (not request.refusal or name == "fix-gate"):
            return await carry_out(request, job)
        if request.has_write_access and name in REPLYING:
            return await write_refusal(request, request.refusal, job)
        # Whatever strangers write, and how often, no job follows and nobody answers.
        reply = format_refusal(task, request.refusal)
        return await write_job_result(job, reply, {}, status=Status.SKIPPED)
    except IssueMoved as error:
        return write_skip(str(error), job.context)
    except GitHubUnavailable as error:
        return write_unfinished(str(error), job.context)
