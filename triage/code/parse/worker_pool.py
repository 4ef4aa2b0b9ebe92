"""Extracts from many files with a few worker processes, without threads.

A file that ends its worker is tried again without a grammar, and then by its path only.
"""

import fcntl
import os
import selectors
import subprocess
import tempfile
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from typing import IO, Self

from triage.base.threads import call_when_abandoned, raise_if_abandoned
from triage.code.parse.extract import ExtractedFiles, Extractor, SourceFile
from triage.code.parse.extract_worker import decode_response, encode_request, read_message, write_message
from triage.code.parse.parser_process import ADD_LIBRARIES, build_worker_command, build_worker_environment

_START_CODE = f"{ADD_LIBRARIES}from triage.code.parse.extract_worker import main; main()"
_PIPE_BYTES = 1 << 20
"""The default maximum of Linux. A request fits in, so that sending it does not wait for the worker."""
_MAX_DEATHS = 12
"""Workers that may die before the pool starts no more."""
_MAX_WORKERS = 4
_BATCHES_AHEAD = 4
"""Batches in progress per worker: the others go on while one batch takes long."""


class WorkerDied(Exception):
    """The worker ended or sent an invalid response."""


class WorkerProcess:
    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._on_abandon = ExitStack()
        self._progress = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the worker lives

    @property
    def stdout(self) -> IO[bytes]:
        """Becomes readable when a response comes or the worker ends."""
        assert self._process is not None
        assert self._process.stdout is not None
        return self._process.stdout

    def send(self, files: Sequence[SourceFile]) -> None:
        """Send a request. Raises WorkerDied."""
        os.ftruncate(self._progress.fileno(), 0)
        try:
            if self._process is None:
                self._process = _start(self._progress.fileno())
                self._on_abandon.enter_context(call_when_abandoned(self._process.kill))
            assert self._process.stdin is not None
            write_message(self._process.stdin, encode_request(files))
        except OSError as error:
            raise WorkerDied from error

    def receive(self) -> ExtractedFiles:
        """Return the response to the last request. Raises WorkerDied."""
        try:
            return decode_response(read_message(self.stdout))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise WorkerDied from error

    def stop(self) -> int | None:
        """End the process and return the number of the file that it was reading, if any. Raises Abandoned."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
        position = int.from_bytes(os.pread(self._progress.fileno(), 4, 0), "little")
        self._progress.close()
        self._on_abandon.close()
        return position - 1 if position else None


def _start(progress: int) -> "subprocess.Popen[bytes]":
    process = subprocess.Popen(  # noqa: S603
        build_worker_command(_START_CODE, str(progress)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd="/",
        pass_fds=[progress],
        env=build_worker_environment(),
    )
    assert process.stdin is not None
    with suppress(OSError, AttributeError):  # The user has too many large pipes, or this is not Linux.
        fcntl.fcntl(process.stdin, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    return process


@dataclass
class _Job:
    batch: Sequence[SourceFile]
    files: Sequence[SourceFile]
    """The batch, with less to do for files that ended a worker."""
    extracted: ExtractedFiles | None = None


class WorkerPool:
    """Worker processes; a context manager that ends them. A process starts with its first batch."""

    def __init__(self, workers: int | None = None) -> None:
        self._workers = workers or min(_MAX_WORKERS, os.cpu_count() or 1)
        self._idle: list[WorkerProcess] = []
        self._busy: dict[WorkerProcess, _Job] = {}
        self._own_extractor = Extractor()
        self._deaths = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        with ExitStack() as stack:  # stops all of them, even if one raises
            for process in [*self._idle, *self._busy]:
                stack.callback(process.stop)

    @property
    def has_given_up(self) -> bool:
        """So many workers died that no more are started. Files are split by lines in this process then."""
        return self._deaths >= _MAX_DEATHS

    def extract_all(
        self, batches: Iterator[Sequence[SourceFile]]
    ) -> Iterator[tuple[Sequence[SourceFile], ExtractedFiles]]:
        """Yield each batch with what was extracted from it, in order. No file makes this fail."""
        jobs: deque[_Job] = deque()
        batch = next(batches, None)
        while batch is not None or jobs:
            raise_if_abandoned()
            while batch is not None and len(self._busy) < self._workers and len(jobs) < _BATCHES_AHEAD * self._workers:
                jobs.append(_Job(batch, batch))
                self._start(jobs[-1])
                batch = next(batches, None)
            while jobs and (extracted := jobs[0].extracted) is not None:
                yield jobs.popleft().batch, extracted
            if jobs:
                self._receive_responses()

    def _start(self, job: _Job) -> None:
        while not self.has_given_up:
            process = self._idle.pop() if self._idle else WorkerProcess()
            try:
                process.send(job.files)
            except WorkerDied:
                self._handle_death(process, job)
            else:
                self._busy[process] = job
                return
        job.extracted = self._own_extractor.extract([replace(file, use_grammar=False) for file in job.files])

    def _receive_responses(self) -> None:
        with selectors.DefaultSelector() as selector:
            for process in self._busy:
                selector.register(process.stdout, selectors.EVENT_READ, process)
            ready = [key.data for key, _ in selector.select()]
        for process in ready:
            job = self._busy.pop(process)
            try:
                job.extracted = process.receive()
            except WorkerDied:
                self._handle_death(process, job)
                self._start(job)
            else:
                self._idle.append(process)

    def _handle_death(self, process: WorkerProcess, job: _Job) -> None:
        self._deaths += 1
        culprit = process.stop()
        job.files = [_reduce(file) if number == culprit else file for number, file in enumerate(job.files)]


def _reduce(file: SourceFile) -> SourceFile:
    return replace(file, use_grammar=False) if file.use_grammar else replace(file, data=None)
