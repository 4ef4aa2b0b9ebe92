"""Runs that get a signal, at one of their requests or at a moment, and what is left of them."""

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
"""After the signal; what does not publish must not be asked any more."""
SIGNALS = (signal.SIGINT, signal.SIGTERM)
WAIT_SECONDS = 30.0


@dataclass
class CancelledRun:
    """One run that got a signal."""

    at: str
    sent: signal.Signals
    seconds: float
    done: JobResult
    comments: int
    asked_on: int
    late: int
    left: int

    @property
    def finished_normally(self) -> bool:
        """The run was over before the signal, or had nothing left to do."""
        return not self.done.exit_code

    @property
    def page(self) -> str:
        """What the job's page shows."""
        said = {"This report is partial": "partial report", "triage: not done": "one line", "": "report"}
        return next(name for words, name in said.items() if words in self.done.summary) if self.done.summary else "none"

    @property
    def has_traceback(self) -> bool:
        """A traceback was logged."""
        return "Traceback" in self.done.log


@dataclass(frozen=True)
class Cancellations:
    """Runs of one job, by this Python or in an image."""

    prepare: Callable[[Job], object] = lambda job: None
    """Called before the run is started."""
    engine: str = "docker"
    image: str | None = None

    def run_to_end(self) -> tuple[float, list[str]]:
        """Seconds of a run that nobody cancels, and its requests."""
        with self._scene() as (outside, job):
            began = time.monotonic()
            job.wait(self._start(job))
            return time.monotonic() - began, [request.what for request in outside.requests]

    def cancel_at_request(self, number: int, what: str, *, hangs: bool) -> CancelledRun:
        """A signal as soon as a request has come in, which is answered, or hangs like all that follow."""
        at = f"{number} {what.replace('/repos/octo/shop', '')}{', which hangs' if hangs else ''}"
        with self._scene() as (outside, job):
            there = threading.Event()
            outside.on_request = lambda count, _: there.set() if count == number else None
            if hangs:
                outside.delay_for = lambda count, _: HANG_SECONDS if count >= number else 0.0
            sent = SIGNALS[number % 2]
            return self._cancelled(job, outside, at, sent, lambda: there.wait(WAIT_SECONDS))

    def cancel_after(self, seconds: float, sent: signal.Signals) -> CancelledRun:
        """A signal so many seconds after the start."""
        with self._scene() as (outside, job):
            return self._cancelled(job, outside, f"{seconds:.2f} s", sent, lambda: time.sleep(seconds))

    @contextmanager
    def _scene(self) -> Iterator[tuple[ExternalServices, Job]]:
        with tempfile.TemporaryDirectory() as folder, serve_all(Path(folder)) as (outside, job):
            self.prepare(job)
            yield outside, job

    def _start(self, job: Job) -> "subprocess.Popen[bytes]":
        return job.start_in_container(self.engine, self.image) if self.image else job.start_here()

    def _cancelled(
        self, job: Job, outside: ExternalServices, at: str, sent: signal.Signals, wait: Callable[[], object]
    ) -> CancelledRun:
        running = self._start(job)
        wait()
        if self.image:
            job.signal_container(self.engine, sent, running)
        else:
            running.send_signal(sent)
        struck = time.monotonic()
        try:
            running.wait(WAIT_SECONDS)
        except subprocess.TimeoutExpired:
            at += ", killed"
        seconds = time.monotonic() - struck
        left = len(find_session_processes(running.pid))
        running.kill()
        done = job.wait(running)
        after = [asked for asked in outside.requests if asked.at > struck and not asked.is_publishing]
        late = [asked for asked in after if asked.at > struck + MAX_LATE_SECONDS]
        return CancelledRun(at, sent, seconds, done, len(outside.comments), len(after), len(late), left)
