"""Retries calls to a busy model endpoint."""

import asyncio
import math
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from tenacity import AsyncRetrying, RetryCallState, Retrying, retry_if_exception_type

from triage.base.errors import TimeLimitExceeded
from triage.base.threads import raise_if_abandoned, seconds_left, sleep_unless_abandoned
from triage.model.budget import current_deadline
from triage.model.model_errors import EndpointBusy

MAX_ATTEMPTS = 3
MIN_REQUEST_SECONDS = 3.0
"""A wait that leaves less for the next request is not made."""


@dataclass(frozen=True)
class RetryPolicy:
    """Three attempts, with waits as long as the endpoint asks.

    Uses tenacity, because LangChain's `with_retry` cannot wait for as long as a header says.
    """

    clock: Callable[[], float]
    """Monotonic seconds, as in `MeterReading.deadline`."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    sleep_in_thread: Callable[[float], None] = sleep_unless_abandoned

    def check_time(self) -> None:
        """Raise TimeLimitExceeded if no time is left, and Abandoned if the caller no longer waits."""
        raise_if_abandoned()
        if self.seconds_left() <= 0:
            raise TimeLimitExceeded("no time left for this call")

    def seconds_left(self) -> float:
        """Return how long the caller waits for this call; infinite without a limit."""
        deadline = current_deadline()
        return min(seconds_left(), math.inf if deadline is None else deadline - self.clock())

    def request_seconds(self, limit: float) -> float:
        """Return a time limit for one attempt, so that all attempts and what follows fit into the time left."""
        return max(1.0, min(limit, self.seconds_left() / (MAX_ATTEMPTS + 2)))

    def attempts(self, may_continue: Callable[[], bool]) -> AsyncRetrying:
        """Return the attempts of one call, as long as `may_continue` and time is left."""
        return AsyncRetrying(sleep=self.sleep, **self._conditions(may_continue))

    def attempts_in_thread(self) -> Retrying:
        return Retrying(sleep=self.sleep_in_thread, **self._conditions(lambda: True))

    def _conditions(self, may_continue: Callable[[], bool]) -> dict[str, Any]:
        def is_last(state: RetryCallState) -> bool:
            has_time = state.upcoming_sleep + MIN_REQUEST_SECONDS <= self.seconds_left()
            return state.attempt_number >= MAX_ATTEMPTS or not may_continue() or not has_time

        return {
            "retry": retry_if_exception_type(EndpointBusy),
            "stop": is_last,
            "wait": _seconds_before_retry,
            "reraise": True,
        }


def _seconds_before_retry(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    if isinstance(error, EndpointBusy) and error.retry_after is not None:
        return error.retry_after
    return float(2 ** (state.attempt_number - 1)) * random.uniform(0.5, 1.0)  # noqa: S311 - jitter
