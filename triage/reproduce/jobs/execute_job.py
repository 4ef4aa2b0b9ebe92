"""The job that runs strangers' code, in containers. It has no secret, writes nothing to GitHub, and asks it nothing."""

import time
from collections.abc import Callable

from triage.base.errors import GitError, SetupError, TriageError
from triage.base.threads import OutOfTime, call_with_deadline
from triage.domain.run import Status
from triage.domain.task import ReproduceTask, Trigger
from triage.reproduce.evidence import Evidence
from triage.reproduce.jobs.handover import EVIDENCE, SELECTION, Order, dump_results, parse_orders
from triage.reproduce.jobs.reproduce_job import ReproduceJob, finish

MAX_SECONDS = 2_400.0
"""For all issues. The step has 50 minutes: an example that has been started may end."""


async def execute_reproduction(task: ReproduceTask, job: ReproduceJob) -> Status:
    """Run each selected example, and write what happened after each step: the runner may end the job at any time."""
    orders = parse_orders(job.read_file(SELECTION))
    found: dict[int, Evidence] = {}

    def wants_change(evidence: Evidence) -> bool:
        return evidence.verdict == "fixed" if task.number is None else task.trigger is not Trigger.OPENED

    def work() -> None:
        ends_at = time.monotonic() + MAX_SECONDS
        for done, order in enumerate(orders):
            seconds = (ends_at - time.monotonic()) / (len(orders) - done)
            _run_order(order, seconds, wants_change, found, job)

    try:
        await call_with_deadline(work, job.context.cancelled)
    except OutOfTime:
        job.context.progress.info("The job was cancelled. What it had found is written.")
    return await finish(job, f"{len(found)} of {len(orders)} examples were run. The next job shows the result.")


def _run_order(
    order: Order,
    seconds: float,
    wants_change: Callable[[Evidence], bool],
    found: dict[int, Evidence],
    job: ReproduceJob,
) -> None:
    """Run one example; after each version, note what was seen in `found` and in the file for the next job."""
    try:
        for evidence in job.execute(order.selection, seconds, wants_change) if order.selection else ():
            found[order.number] = evidence
            text, left_out = dump_results(found)
            for number in left_out:
                del found[number]
                job.context.progress.info(f"The result of issue {number} is left out: the file would be too large.")
            job.write_file(EVIDENCE, text)
    except SetupError:
        raise
    except (GitError, TriageError) as problem:
        job.context.progress.info(f"The example of issue {order.number} was not run to its end: {problem}")
