"""Extracts from many files with a few processes. A grammar that crashes or takes too much memory ends only those."""

import os
import signal
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import replace
from functools import cache
from multiprocessing import get_context
from typing import Self

from triage.base.threads import call_when_abandoned, raise_if_abandoned
from triage.code.parse.extract import ExtractedFiles, Extractor, SourceFile
from triage.code.parse.parser_process import prepare_worker

MAX_FILE_SECONDS = 10
"""The parser itself gives a file up after 2 seconds."""
_MAX_WORKERS = 4
_BATCHES_AHEAD = 4
"""Batches in progress per worker: the others go on while one batch takes long."""


class WorkerPool:
    """Worker processes; a context manager that ends them. They start with the first batches."""

    def __init__(self, workers: int | None = None) -> None:
        self.has_lost_trees = False
        """A file ended its process, or none could be started: some files are split by lines."""
        self._workers = workers or min(_MAX_WORKERS, os.cpu_count() or 1)
        self._executor: ProcessPoolExecutor | None = None
        self._starts_left = 2
        self._own_extractor = Extractor()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._end()

    def extract_all(
        self, batches: Iterator[Sequence[SourceFile]]
    ) -> Iterator[tuple[Sequence[SourceFile], ExtractedFiles]]:
        """Yield each batch with what was extracted from it, in order. No file makes this fail."""
        jobs: deque[tuple[Sequence[SourceFile], Future[ExtractedFiles] | None]] = deque()
        with call_when_abandoned(self._kill):
            for batch in batches:
                jobs.append((batch, self._start(batch)))
                if len(jobs) >= _BATCHES_AHEAD * self._workers:
                    yield self._finish(*jobs.popleft())
            while jobs:
                yield self._finish(*jobs.popleft())

    def _start(self, batch: Sequence[SourceFile]) -> "Future[ExtractedFiles] | None":
        while self._executor or self._starts_left:
            raise_if_abandoned()
            try:
                if self._executor is None:
                    self._starts_left -= 1
                    self._executor = ProcessPoolExecutor(self._workers, get_context("spawn"), prepare_worker)
                return self._executor.submit(extract_batch, batch)
            except (OSError, RuntimeError):  # a file has ended a process, or none can be started
                self._end()
        return None

    def _finish(
        self, batch: Sequence[SourceFile], job: "Future[ExtractedFiles] | None"
    ) -> tuple[Sequence[SourceFile], ExtractedFiles]:
        raise_if_abandoned()
        try:
            if job is not None:
                return batch, job.result()
        except Exception:  # noqa: BLE001 - whatever a file has done to its process
            raise_if_abandoned()
        self.has_lost_trees = True
        return batch, self._own_extractor.extract([replace(file, use_grammar=False) for file in batch])

    def _kill(self) -> None:
        # Public from Python 3.14 on: `kill_workers`.
        for process in list(((self._executor and self._executor._processes) or {}).values()):
            process.kill()

    def _end(self) -> None:
        self._kill()
        if self._executor:
            self._executor.shutdown(cancel_futures=True)
        self._executor = None


@cache
def _get_extractor() -> Extractor:
    return Extractor()


def extract_batch(files: Sequence[SourceFile]) -> ExtractedFiles:
    """Extract, in a worker. It knows the words of the batches before."""
    try:
        # SIGALRM ends the process, whatever a grammar does.
        return _get_extractor().extract(files, on_file=lambda: signal.alarm(MAX_FILE_SECONDS))
    except Exception:
        _get_extractor.cache_clear()  # it may know half of a word
        raise
    finally:
        signal.alarm(0)
