"""Waits for runs in processes forked from one that has imported everything."""

import contextlib
import subprocess

from testing.runs.action_run import JobResult
from testing.runs.forked_process import ForkedProcess
from testing.runs.job import Job

MAX_RUN_SECONDS = 90.0


def wait_for_run(job: Job, process: ForkedProcess, seconds: float = MAX_RUN_SECONDS) -> JobResult:
    """Waits for the end of the run and returns its result. Kills it if it is late: the exit code is negative then."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    process.kill()
    return job.read_result(process.wait(), job.log.read_bytes())
