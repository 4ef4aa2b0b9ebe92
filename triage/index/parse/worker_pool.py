"""Extracts of many files, made by a few worker processes side by side, without a thread: nothing waits for them.

A file that kills its worker, or keeps it too long, is cut by lines like a language without a grammar; should that not
help, only its path is indexed.
"""

import selectors
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Self

from triage.index.parse.extract import ExtractedFiles, Extractor, SourceFile
from triage.index.parse.worker_process import WorkerDied, WorkerProcess, count_processors
from triage.threads import raise_if_abandoned

_MAX_DEATHS = 12
"""Workers lost before we stop starting new ones."""
_MAX_WORKERS = 4
_AHEAD = 4
"""Batches at hand for each worker: while one takes long, the others go on."""
_BATCH_SECONDS = 30.0
"""For a batch. The worker gives up syntax after 10, and ends by itself when one file takes 10."""


@dataclass
class _Job:
    asked: Sequence[SourceFile]
    sources: Sequence[SourceFile]
    """The same files, asked less of."""
    latest: float = 0.0
    """When an answer is due, by `time.monotonic`."""
    extract: ExtractedFiles | None = None


class WorkerPool:
    """Takes files apart; a context manager that ends its processes."""

    def __init__(self, workers: int | None = None) -> None:
        """Start nothing yet: processes come with the first files."""
        self._workers = workers or min(_MAX_WORKERS, count_processors())
        self._idle: list[WorkerProcess] = []
        self._busy: dict[WorkerProcess, _Job] = {}
        self._own = Extractor()
        self._lost = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with ExitStack() as stack:  # all of them, whatever one raises
            for process in [*self._idle, *self._busy]:
                stack.callback(process.stop)

    @property
    def has_given_up(self) -> bool:
        """So many workers were lost that no more are started."""
        return self._lost >= _MAX_DEATHS

    def extract_all(
        self, batches: Iterator[Sequence[SourceFile]]
    ) -> Iterator[tuple[Sequence[SourceFile], ExtractedFiles]]:
        """Every batch with its extract, in order. Never fails for a file: what cannot be taken apart has a path."""
        jobs: deque[_Job] = deque()
        upcoming = next(batches, None)
        while upcoming is not None or jobs:
            raise_if_abandoned()
            while upcoming is not None and len(self._busy) < self._workers and len(jobs) < _AHEAD * self._workers:
                jobs.append(_Job(upcoming, upcoming))
                self._start(jobs[-1])
                upcoming = next(batches, None)
            while jobs and (extract := jobs[0].extract) is not None:
                yield jobs.popleft().asked, extract
            if jobs:
                self._wait()

    def extract(self, sources: Sequence[SourceFile]) -> ExtractedFiles:
        """The extract of one batch. To be called while no other is under way."""
        return next(self.extract_all(iter([sources])))[1]

    def _start(self, job: _Job) -> None:
        while not self.has_given_up:
            process = self._idle.pop() if self._idle else WorkerProcess()
            try:
                process.send(job.sources)
            except WorkerDied:
                self._give_up(process, job)
            else:
                job.latest = time.monotonic() + _BATCH_SECONDS
                self._busy[process] = job
                return
        job.extract = self._own.extract([replace(source, use_grammar=False) for source in job.sources])

    def _wait(self) -> None:
        """Until at least one worker says something, or is overdue."""
        with selectors.DefaultSelector() as selector:
            for process in self._busy:
                selector.register(process.stdout, selectors.EVENT_READ, process)
            soonest = min(job.latest for job in self._busy.values())
            ready = [key.data for key, _ in selector.select(max(0.0, soonest - time.monotonic()))]
        now = time.monotonic()
        for process, job in list(self._busy.items()):
            try:
                if process in ready:
                    job.extract = process.receive()
                elif job.latest <= now:
                    raise WorkerDied
            except WorkerDied:
                del self._busy[process]
                self._give_up(process, job)
                self._start(job)
            else:
                if job.extract is not None:
                    del self._busy[process]
                    self._idle.append(process)

    def _give_up(self, process: WorkerProcess, job: _Job) -> None:
        """Ask less of the file that the worker was at when it was lost."""
        self._lost += 1
        culprit = process.stop()
        if culprit is not None:
            job.sources = [_less(source) if number == culprit else source for number, source in enumerate(job.sources)]


def _less(source: SourceFile) -> SourceFile:
    return replace(source, use_grammar=False) if source.use_grammar else replace(source, data=None)
