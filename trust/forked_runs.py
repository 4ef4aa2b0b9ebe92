"""Runs the action in processes forked from one that has imported everything."""

import multiprocessing
import os
import signal
from collections.abc import Mapping
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any
from unittest.mock import patch

from testing.runs.job import MOUNTS, Job, JobResult

MAX_RUN_SECONDS = 90.0
_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["trust.preload"])


def start_run(job: Job, replaced: Mapping[str, Any] | None = None) -> BaseProcess:
    """Starts a run as the entry point does. `replaced` has other values of the program's constants, by dotted name."""
    folders = {name: str(job.folder / name) for name in MOUNTS}
    process = _context.Process(target=_run, args=(job.environment(folders), job.log, dict(replaced or {})))
    process.start()
    return process


def wait_for_run(job: Job, process: BaseProcess, seconds: float = MAX_RUN_SECONDS) -> JobResult:
    """Waits for the end of the run and returns its result. Kills it if it is late: the exit code is negative then."""
    process.join(seconds)
    process.kill()
    process.join()
    return job.read_result(process.exitcode or 0, job.log.read_bytes() if job.log.exists() else b"")


def _run(environment: dict[str, str], log: Path, replaced: dict[str, Any]) -> None:
    os.setsid()
    null = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(null, stream)
    from triage.action import main
    from triage.base.os_signals import SignalHandler

    for name, value in replaced.items():
        patch(name, value).start()
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
    signals = SignalHandler()
    signals.listen()
    with log.open("w", encoding="utf-8", errors="backslashreplace") as lines:
        code = main(environment, signals, lines)
    os._exit(code)
