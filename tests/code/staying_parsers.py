"""Worker processes that parse, and stay for the next index: each takes 0.2 seconds of processor time to start."""

from collections.abc import Sequence
from contextlib import ExitStack

import pytest

from triage.base.threads import call_when_abandoned
from triage.code.parse import worker_pool
from triage.code.parse.extract import SourceFile
from triage.code.parse.worker_pool import WorkerPool, WorkerProcess

_START = worker_pool._start, worker_pool._START_CODE


class _StayingProcess(WorkerProcess):
    is_resting = False

    def send(self, files: Sequence[SourceFile]) -> None:
        if self._process is not None and self.is_resting:
            self._on_abandon.enter_context(call_when_abandoned(self._process.kill))
        self.is_resting = False
        super().send(files)

    def rest(self) -> None:
        """Forget the run that used it."""
        self._on_abandon.close()
        self.is_resting = True


_idle: list[_StayingProcess] = []


class _Pool(WorkerPool):
    def __init__(self, workers: int | None = None) -> None:
        super().__init__(workers)
        self._idle = _idle  # type: ignore[assignment]  # `WorkerProcess` is replaced, so no others come in

    def __exit__(self, *error: object) -> None:
        with ExitStack() as stack:
            for process in self._busy:
                stack.callback(process.stop)
        for process in _idle:
            process.rest()


def keep_parsers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the indexes of one test use the processes of another, unless the test starts its own in another way."""
    monkeypatch.setattr(worker_pool, "WorkerProcess", _StayingProcess)

    def open_pool(workers: int | None = None) -> WorkerPool:
        is_usual = (worker_pool._start, worker_pool._START_CODE) == _START
        return _Pool(workers) if is_usual else WorkerPool(workers)

    monkeypatch.setattr("triage.code.build_corpus.WorkerPool", open_pool)


def stop_parsers() -> None:
    """End those that are left."""
    while _idle:
        _idle.pop().stop()
