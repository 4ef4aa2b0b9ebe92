"""Worker processes that parse, and stay for the next index: each takes 0.2 seconds of processor time to start."""

from concurrent.futures import ProcessPoolExecutor

import pytest

from triage.find.parse.worker_pool import WorkerPool

_idle: list[ProcessPoolExecutor] = []


class _StayingPool(WorkerPool):
    def __init__(self) -> None:
        super().__init__()
        self._executor = _idle.pop() if _idle else None

    def __exit__(self, *error: object) -> None:
        if self._executor and error[0] is None:
            _idle.append(self._executor)
        else:
            super().__exit__(*error)


def keep_parsers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the indexes of one test use the processes of another."""
    monkeypatch.setattr("triage.find.build_corpus.WorkerPool", _StayingPool)


def stop_parsers() -> None:
    """End those that are left."""
    while _idle:
        _idle.pop().shutdown()
