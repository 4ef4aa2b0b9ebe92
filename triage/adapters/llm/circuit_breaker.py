"""Stops asking an endpoint that keeps failing."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from triage.adapters.llm.model_errors import Busy
from triage.errors import ModelUnavailable

FAILURES = 2
"""Calls in a row, each with all its attempts: by then a minute or two are gone, and every agent has a twin."""


class Breaker:
    """Counts the calls in a row that failed by the endpoint's fault: busy, unreachable, or too slow for our clock."""

    def __init__(self) -> None:
        self._failed = 0

    def check(self) -> None:
        """Before every request.

        Raises:
            ModelUnavailable: The endpoint is not asked any more.
        """
        if self._failed >= FAILURES:
            raise ModelUnavailable("endpoint keeps failing: not asked any more")

    @contextmanager
    def call(self) -> Iterator[None]:
        """One call with all its attempts."""
        self.check()
        try:
            yield
        except (Busy, asyncio.CancelledError):
            self._failed += 1
            raise

    def answered(self) -> None:
        """An answer closes the count, also one to a call that was under way."""
        self._failed = 0
