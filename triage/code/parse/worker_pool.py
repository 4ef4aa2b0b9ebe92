"""Extracts from many files with a few worker processes, without threads.

A file that ends its worker is tried again without a grammar, and then by its path only.
"""

import os
import selectors
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Self

from triage.base.threads import raise_if_abandoned
from triage.code.parse.extract import ExtractedFiles, Extractor, SourceFile
from triage.code.parse.worker_process import WorkerDied, WorkerProcess

_MAX_DEATHS = 12
"""Workers that may die before the pool starts no more."""
_MAX_WORKERS = 4
_BATCHES_AHEAD = 4
"""Batches in progress per worker: the others go on while one batch takes long."""


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
