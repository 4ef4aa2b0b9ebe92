"""Chooses the job of the fix flow by its task. The first one, the gate, is here: it only reads."""

from triage.base.errors import BadInput, GitHubUnavailable, IssueMoved
from triage.domain.run import Status
from triage.domain.task import FixCommand, FixTask
from triage.fix.jobs.apply_fix import apply_fix
from triage.fix.jobs.fix_job import FixJob, find_start_problem, finish, format_refusal, read_fix_request
from triage.fix.jobs.propose_fix import propose_fix
from triage.fix.jobs.report_fix import report_fix
from triage.fix.jobs.store_fix import store_fix
from triage.run.run_context import RunResult
from triage.run.write.write_results import write_skip, write_unfinished


async def gate_fix(task: FixTask, job: FixJob) -> RunResult:
    admitted = await read_fix_request(task, job)
    if not admitted.may_ask:  # no job follows: whatever strangers write, and how often, nobody answers
        return await finish(job, format_refusal(task, admitted.refusal), {}, status=Status.SKIPPED)
    refusal = admitted.refusal or (await find_start_problem(job) if task.makes_proposal else "")
    if refusal:
        return await finish(job, format_refusal(task, refusal), {"fix-task": "answer"})
    following = "propose" if task.makes_proposal else "apply"
    return await finish(job, f"The next job: {following}.", {"fix-task": following})


MAKING: frozenset[FixCommand] = frozenset({"fix", "revise"})
COMMANDS: dict[str, frozenset[FixCommand]] = {
    "fix-gate": frozenset({"fix", "revise", "approve", "reject"}),
    "fix-propose": MAKING,
    "fix-store": MAKING,
    "fix-report": frozenset({"fix", "revise", "approve", "reject"}),
    "fix-apply": frozenset({"approve", "reject"}),
}
"""What each job carries out. The gate answers for all."""
UNSEEN = "comment: never cannot be used with the fix flow: nobody could see what they approve."
JOBS = {
    "fix-gate": gate_fix,
    "fix-propose": propose_fix,
    "fix-store": store_fix,
    "fix-report": report_fix,
    "fix-apply": apply_fix,
}


async def run_fix_job(name: str, task: FixTask, job: FixJob) -> RunResult:
    """Do what this job does of the fix flow.

    Raises:
        SetupError: The workflow's author must fix something.
    """
    if job.run.policy.comment == "never":
        raise BadInput(UNSEEN)
    if task.command not in COMMANDS[name]:
        return write_skip(f"`/triage {task.command}` is not for the job with `task: {name}`.", job.run)
    try:
        return await JOBS[name](task, job)
    except IssueMoved as error:
        return write_skip(str(error), job.run)
    except GitHubUnavailable as error:
        return write_unfinished(str(error), job.run)
