"""The job `gate`, the first: says which job follows, and only reads. It is not the graph's `human_review_gate`."""

from triage.domain.run import Status
from triage.fix.jobs.fix_job import FixJob, FixRequest, check_base, format_refusal, write_result


async def gate_fix(request: FixRequest, job: FixJob) -> Status:
    """Say which job follows, if any."""
    task = request.task
    refusal = request.refusal or (await check_base(job) if task.makes_proposal else "")
    if refusal:
        return await write_result(job, format_refusal(task, refusal), {"fix-task": "answer"})
    following = "propose" if task.makes_proposal else "apply"
    return await write_result(job, f"The next job: {following}.", {"fix-task": following})
