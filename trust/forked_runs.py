"""Whole runs of the action, each in a process forked from one that has imported everything."""

import multiprocessing
import os
import signal
from multiprocessing.process import BaseProcess
from pathlib import Path

from testing.runs.job import MOUNTS, Job, JobResult

MAX_RUN_SECONDS = 90.0
"""For one run; what takes longer is killed, and a failure."""
_forking = multiprocessing.get_context("forkserver")
_forking.set_forkserver_preload(["trust.preload"])


def start_run(job: Job) -> BaseProcess:
    """Start a run as the entry point does."""
    seen_as = {name: str(job.folder / name) for name in MOUNTS}
    process = _forking.Process(target=_run, args=(job.environment(seen_as), job.log))
    process.start()
    return process


def wait_for_run(job: Job, process: BaseProcess, seconds: float = MAX_RUN_SECONDS) -> JobResult:
    """What it left behind; one that is not over in time is killed, and its exit code negative."""
    process.join(seconds)
    process.kill()
    process.join()
    return job.read_result(process.exitcode or 0, job.log.read_bytes() if job.log.exists() else b"")


def _run(environment: dict[str, str], log: Path) -> None:
    os.setsid()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    from triage.action import main
    from triage.os_signals import SignalHandler

    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
    signals = SignalHandler()
    signals.listen()
    with log.open("w", encoding="utf-8", errors="backslashreplace") as lines:
        code = main(environment, signals, lines)
    os._exit(code)
