"""Extracts from many files with a few processes. A grammar that crashes or takes too much memory ends only those.

Some do so on hostile text. The processes have none of our secrets: in a job keys have left the environment before. At a
terminal the system still shows what a process started with.
"""

import multiprocessing
import os
import resource
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import cache
from multiprocessing import get_context
from typing import Any, Self, TypeVar, TypeVarTuple

from triage.base.threads import call_when_abandoned, raise_if_abandoned
from triage.find.files.languages import Language
from triage.find.parse.definitions import load_grammar, parse_source
from triage.find.parse.extract import ExtractedFiles, Extractor, SourceFile

T = TypeVar("T")
Ts = TypeVarTuple("Ts")
MAX_ERRORS = 10_000
"""More are not counted. A text that the parser gives up has as many."""
MAX_MEMORY_BYTES = 1 << 30
"""Address space. The largest real file needs a tenth of it."""
MAX_FILE_SECONDS = 10
"""The parser itself gives a file up after 2 seconds."""
_MAX_WORKERS = 4
_BATCHES_AHEAD = 4
"""Batches in progress per worker: the others go on while one batch takes long."""
_END_SECONDS = 1.0
"""Python 3.11.2 waits for ever to write to a pipe that nobody reads. Others close it, which must not be done twice."""


class WorkerPool:
    """Worker processes; a context manager that ends them. They start with the first batches."""

    def __init__(self, workers: int | None = None) -> None:
        self.files_without_trees = 0
        """Cut by lines: one of their batch ended its process, or none could be started."""
        self._workers = workers or min(_MAX_WORKERS, os.cpu_count() or 1)
        self._executor: ProcessPoolExecutor | None = None
        self._failures_left = 2
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
        with call_when_abandoned(self.kill):
            for batch in batches:
                jobs.append((batch, self.start(extract_batch, batch)))
                if jobs[-1][1] is None or len(jobs) >= _BATCHES_AHEAD * self._workers:
                    yield from self._finish(jobs)
            while jobs:
                yield from self._finish(jobs)

    def start(self, function: Callable[[*Ts], T], *args: *Ts) -> "Future[T] | None":
        """Call a function in a process; None if there is none, or the pool is found broken."""
        raise_if_abandoned()
        try:
            if self._executor is None and self._failures_left:
                self._executor = ProcessPoolExecutor(self._workers, get_context("spawn"), prepare_worker)
            return self._executor.submit(function, *args) if self._executor else None
        except BrokenExecutor:  # a file has ended a process, and with it the pool
            self._end()
        except (OSError, RuntimeError):  # no process can be started
            self._failures_left -= 1
            self._end()
        return None

    def _finish(
        self, jobs: "deque[tuple[Sequence[SourceFile], Future[ExtractedFiles] | None]]"
    ) -> Iterator[tuple[Sequence[SourceFile], ExtractedFiles]]:
        """Yield the first batch; of a pool that has broken all, one at a time, so that only a culprit loses trees."""
        is_broken = jobs[-1][1] is None
        while jobs:
            raise_if_abandoned()
            batch, job = jobs.popleft()
            found = None
            with suppress(Exception):  # a worker sends what a file made it raise: of a library, memory or recursion
                found = job.result() if job and self._failures_left else None
            is_broken = is_broken or found is None
            yield batch, found or self._extract_alone(batch)
            if not is_broken:
                return

    def _extract_alone(self, batch: Sequence[SourceFile]) -> ExtractedFiles:
        """Extract from a batch in a process; if that fails, here, without syntax trees."""
        with suppress(Exception):  # as above; the process goes on, but for a broken pool
            try:
                # Again if the pool was found broken.
                if job := self.start(extract_batch, batch) or self.start(extract_batch, batch):
                    return job.result()
            except BrokenExecutor:
                self._failures_left -= 1
        raise_if_abandoned()
        self.files_without_trees += len(batch)
        return self._own_extractor.extract([replace(file, use_grammar=False) for file in batch])

    def kill(self) -> None:
        # Public from Python 3.14 on: `kill_workers`.
        for process in list(((self._executor and self._executor._processes) or {}).values()):
            process.kill()

    def _end(self) -> None:
        """End the processes, and wait until the thread that manages them has ended."""
        self.kill()
        executor: Any = self._executor  # as the types do not know
        if executor:
            queue, thread = executor._call_queue, executor._executor_manager_thread
            executor.shutdown(wait=False, cancel_futures=True)
            if thread:
                thread.join(_END_SECONDS)
                if thread.is_alive():
                    queue._reader.close()
                    thread.join()
        self._executor = None


@cache
def _get_extractor() -> Extractor:
    return Extractor()


def extract_batch(files: Sequence[SourceFile]) -> ExtractedFiles:
    """Extract, in a worker. It knows the words of the batches before."""
    try:
        # SIGALRM ends the process, whatever a grammar does.
        return _get_extractor().extract(files, on_file=lambda: signal.alarm(MAX_FILE_SECONDS))
    except Exception:  # whatever it is: the extractor may know half of a word
        _get_extractor.cache_clear()
        raise
    finally:
        signal.alarm(0)


def prepare_worker() -> None:
    """Take from a process of the pool what it needs not: the environment, the terminal, and memory without bound."""
    os.environ.clear()
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # enough, and a hundredth of the memory
    for stream in (1, 2):  # where libraries write when they crash
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal, to all processes: ours is the parent's to handle
    threading.Thread(target=_end_with_parent, daemon=True).start()
    limit_process(MAX_MEMORY_BYTES)


def _end_with_parent() -> None:
    # The processes of a pool hold its pipes open for one another, so none would notice.
    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(1)


def limit_process(memory_bytes: int) -> None:
    """Limit the address space, and write no core file.

    Where the system refuses a limit, the process goes on with the one that it has: the user's own may be lower. macOS
    takes none below what is mapped already, which is more than this, so that memory is not limited there.
    """
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def count_errors(text: str, language: Language) -> int:
    """Return the number of errors and missing tokens, at most `MAX_ERRORS`, of a text in a language with a grammar."""
    tree = parse_source(load_grammar(language)[0], text.encode("utf-8", "replace"))
    pending, errors = [tree.root_node] if tree else [], 0 if tree else MAX_ERRORS
    while pending and errors < MAX_ERRORS:
        node = pending.pop()
        errors += node.is_error or node.is_missing
        pending += [child for child in node.children if child.has_error or child.is_missing]
    return errors


def count_syntax_errors(text: str, language: Language) -> int | None:
    """Return the number of errors and missing tokens, at most `MAX_ERRORS`; None for a language without a grammar.

    A text that ends its process has as many.
    """
    if not language.grammar:
        return None
    with WorkerPool(workers=1) as pool, call_when_abandoned(pool.kill), suppress(Exception):  # as above
        if job := pool.start(count_errors, text, language):
            return job.result(MAX_FILE_SECONDS)
    return MAX_ERRORS
