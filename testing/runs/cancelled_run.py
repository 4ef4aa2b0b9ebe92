"""Runs that get a signal at one of their requests or after a time, and what they leave."""

import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from testing.runs.action_run import JobResult
from testing.runs.external_services import HANG_SECONDS, ExternalServices, find_session_processes, serve_all
from testing.runs.job import Job

MAX_LATE_SECONDS = 1.0
"""After the signal, only requests that publish may follow."""
SIGNALS = (signal.SIGINT, signal.SIGTERM)
WAIT_SECONDS = 30.0


@dataclass
class CancelledRun:
    """A run that got a signal."""

    at: str
    sent: signal.Signals
    seconds: float
    done: JobResult
    comments: int
    late: int
    left: int


def run_to_end() -> tuple[float, list[str]]:
    """Returns the seconds and the requests of a run that is not cancelled."""
    with _set_up() as (services, job):
        began = time.monotonic()
        job.wait(job.start_here())
        return time.monotonic() - began, [request.what for request in services.requests]


def cancel_at_request(number: int, what: str, *, hangs: bool) -> CancelledRun:
    """Sends a signal when a request arrives, which is answered, or hangs like all that follow."""
    at = f"{number} {what.replace('/repos/octo/shop', '')}{', which hangs' if hangs else ''}"
    with _set_up() as (services, job):
        there = threading.Event()
        services.on_request = lambda count, _: there.set() if count == number else None
        if hangs:
            services.delay_for = lambda count, _: HANG_SECONDS if count >= number else 0.0
        return _cancel(job, services, at, SIGNALS[number % 2], lambda: there.wait(WAIT_SECONDS))


def cancel_after(seconds: float, sent: signal.Signals) -> CancelledRun:
    """Sends a signal after this many seconds."""
    with _set_up() as (services, job):
        return _cancel(job, services, f"{seconds:.2f} s", sent, lambda: time.sleep(seconds))


@contextmanager
def _set_up() -> Iterator[tuple[ExternalServices, Job]]:
    with tempfile.TemporaryDirectory() as folder, serve_all(Path(folder)) as (services, job):
        yield services, job


def _cancel(
    job: Job, services: ExternalServices, at: str, sent: signal.Signals, wait: Callable[[], object]
) -> CancelledRun:
    running = job.start_here()
    wait()
    running.send_signal(sent)
    cancelled_at = time.monotonic()
    try:
        running.wait(WAIT_SECONDS)
    except subprocess.TimeoutExpired:
        at += ", killed"
    seconds = time.monotonic() - cancelled_at
    # Python's tracker of semaphores ends when it sees that its parent has.
    ends_at = time.monotonic() + MAX_LATE_SECONDS
    while (left := len(find_session_processes(running.pid))) and time.monotonic() < ends_at:
        time.sleep(0.05)
    running.kill()
    done = job.wait(running)
    after = [request for request in services.requests if not request.is_publishing]
    late = [request for request in after if request.at > cancelled_at + MAX_LATE_SECONDS]
    return CancelledRun(at, sent, seconds, done, len(services.github.comments), len(late), left)
