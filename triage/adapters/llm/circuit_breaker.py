"""Stops asking an endpoint that keeps failing."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from triage.adapters.llm.model_errors import EndpointBusy
from triage.errors import ModelUnavailable

MAX_FAILURES = 2
"""Calls in a row, each with all its attempts: by then a minute or two are gone, and every agent has a twin."""


class CircuitBreaker:
    """Counts the calls in a row that failed by the endpoint's fault: busy, unreachable, or too slow for our clock."""

    def __init__(self) -> None:
        self._failures = 0

    def check(self) -> None:
        """Before every request.

        Raises:
            ModelUnavailable: The endpoint is not asked any more.
        """
        if self._failures >= MAX_FAILURES:
            raise ModelUnavailable("endpoint keeps failing: not asked any more")

    @contextmanager
    def count_failures(self) -> Iterator[None]:
        """One call with all its attempts."""
        self.check()
        try:
            yield
        except (EndpointBusy, asyncio.CancelledError):
            self._failures += 1
            raise

    def reset(self) -> None:
        """An answer closes the count, also one to a call that was under way."""
        self._failures = 0
