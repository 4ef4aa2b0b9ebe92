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

from testing.runs.external_services import HANG_SECONDS, ExternalServices, find_session_processes, serve_all
from testing.runs.job import Job, JobResult

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
    requests_after: int
    late: int
    left: int

    @property
    def finished_normally(self) -> bool:
        """Whether the run ended before the signal, or had nothing left to do."""
        return not self.done.exit_code

    @property
    def page(self) -> str:
        """Kind of the page of the job."""
        kinds = {"This report is partial": "partial report", "triage: not done": "one line", "": "report"}
        return (
            next(name for words, name in kinds.items() if words in self.done.summary) if self.done.summary else "none"
        )

    @property
    def has_traceback(self) -> bool:
        """Whether the log has a traceback."""
        return "Traceback" in self.done.log


@dataclass(frozen=True)
class Cancellations:
    """Cancels runs of one job, with this Python or in an image."""

    prepare: Callable[[Job], object] = lambda job: None
    """Called before a run starts."""
    engine: str = "docker"
    image: str | None = None

    def run_to_end(self) -> tuple[float, list[str]]:
        """Returns the seconds and the requests of a run that is not cancelled."""
        with self._set_up() as (services, job):
            began = time.monotonic()
            job.wait(self._start(job))
            return time.monotonic() - began, [request.what for request in services.requests]

    def cancel_at_request(self, number: int, what: str, *, hangs: bool) -> CancelledRun:
        """Sends a signal when a request arrives, which is answered, or hangs like all that follow."""
        at = f"{number} {what.replace('/repos/octo/shop', '')}{', which hangs' if hangs else ''}"
        with self._set_up() as (services, job):
            there = threading.Event()
            services.on_request = lambda count, _: there.set() if count == number else None
            if hangs:
                services.delay_for = lambda count, _: HANG_SECONDS if count >= number else 0.0
            sent = SIGNALS[number % 2]
            return self._cancelled(job, services, at, sent, lambda: there.wait(WAIT_SECONDS))

    def cancel_after(self, seconds: float, sent: signal.Signals) -> CancelledRun:
        """Sends a signal after this many seconds."""
        with self._set_up() as (services, job):
            return self._cancelled(job, services, f"{seconds:.2f} s", sent, lambda: time.sleep(seconds))

    @contextmanager
    def _set_up(self) -> Iterator[tuple[ExternalServices, Job]]:
        with tempfile.TemporaryDirectory() as folder, serve_all(Path(folder)) as (services, job):
            self.prepare(job)
            yield services, job

    def _start(self, job: Job) -> "subprocess.Popen[bytes]":
        return job.start_in_container(self.engine, self.image) if self.image else job.start_here()

    def _cancelled(
        self, job: Job, services: ExternalServices, at: str, sent: signal.Signals, wait: Callable[[], object]
    ) -> CancelledRun:
        running = self._start(job)
        wait()
        if self.image:
            job.signal_container(self.engine, sent, running)
        else:
            running.send_signal(sent)
        cancelled_at = time.monotonic()
        try:
            running.wait(WAIT_SECONDS)
        except subprocess.TimeoutExpired:
            at += ", killed"
        seconds = time.monotonic() - cancelled_at
        left = len(find_session_processes(running.pid))
        running.kill()
        done = job.wait(running)
        after = [request for request in services.requests if request.at > cancelled_at and not request.is_publishing]
        late = [request for request in after if request.at > cancelled_at + MAX_LATE_SECONDS]
        return CancelledRun(at, sent, seconds, done, len(services.comments), len(after), len(late), left)
