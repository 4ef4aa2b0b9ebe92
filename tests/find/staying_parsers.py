"""Worker processes that parse, and stay for the next index: each takes 0.2 seconds of processor time to start."""

from concurrent.futures import ProcessPoolExecutor
from functools import cache

import pytest

from triage.find.parse.worker_pool import WorkerPool, count_syntax_errors

_idle: list[ProcessPoolExecutor] = []
_count_once = cache(count_syntax_errors)
"""Of one text, in one process."""


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
    """Let one test use what processes of another are there for, or have said."""
    monkeypatch.setattr("triage.find.build_corpus.WorkerPool", _StayingPool)
    monkeypatch.setattr("triage.fix.base_files.count_syntax_errors", _count_once)


def stop_parsers() -> None:
    """End those that are left."""
    while _idle:
        _idle.pop().shutdown()
