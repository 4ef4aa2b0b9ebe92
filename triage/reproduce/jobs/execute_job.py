"""The job that runs strangers' code, in containers. It has no right, no secret, and asks GitHub nothing."""

from triage.base.errors import SetupError, TriageError
from triage.base.threads import OutOfTime, call_with_deadline
from triage.code.git.git import GitError
from triage.domain.task import ReproduceTask
from triage.jobs.run_context import RunResult
from triage.reproduce.evidence import Evidence
from triage.reproduce.jobs.handover import EVIDENCE, SELECTION, Order, Orders, Result, Results, parse_file
from triage.reproduce.jobs.reproduce_job import ReproduceJob, finish


async def execute_reproduction(task: ReproduceTask, job: ReproduceJob) -> RunResult:
    """Run each selected example, and write what happened after each step: the runner may end the job at any time."""
    del task
    orders = parse_file(Orders, job.read_file(SELECTION)).orders
    found: dict[int, Evidence] = {}

    def work() -> None:
        for order in orders:
            _run_order(order, found, job)

    try:
        await call_with_deadline(work, job.run.cancelled)
    except OutOfTime:
        job.run.progress.info("The job was cancelled. What it had found is written.")
    return await finish(job, f"{len(found)} of {len(orders)} examples were run. The next job shows the result.")


def _run_order(order: Order, found: dict[int, Evidence], job: ReproduceJob) -> None:
    try:
        for evidence in job.execute(order.selection) if order.selection else ():
            found[order.number] = evidence
            results = [Result(number=number, evidence=one) for number, one in found.items()]
            job.write_file(EVIDENCE, Results(results=results).model_dump_json())
    except SetupError:
        raise
    except (GitError, TriageError) as problem:
        job.run.progress.info(f"The example of issue {order.number} was not run to its end: {problem}")
