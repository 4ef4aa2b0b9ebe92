"""Stops asking an endpoint that keeps failing."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from triage.adapters.llm.model_errors import EndpointBusy
from triage.errors import ModelUnavailable

MAX_FAILURES = 2
"""Calls in a row, each with all its attempts. They take a minute or two, and every agent has a rules fallback."""


class CircuitBreaker:
    """Counts the calls in a row that failed because the endpoint is busy, unreachable or too slow."""

    def __init__(self) -> None:
        self._failures = 0

    def check(self) -> None:
        """Raises ModelUnavailable if the endpoint is not asked any more."""
        if self._failures >= MAX_FAILURES:
            raise ModelUnavailable("endpoint keeps failing: not asked any more")

    @contextmanager
    def count_failures(self) -> Iterator[None]:
        """Wraps one call with all its attempts."""
        self.check()
        try:
            yield
        except (EndpointBusy, asyncio.CancelledError):
            self._failures += 1
            raise

    def reset(self) -> None:
        """Is called after every response."""
        self._failures = 0
