"""How often a busy endpoint is asked again, and when."""

import asyncio
import math
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from tenacity import AsyncRetrying, RetryCallState, Retrying, retry_if_exception_type, stop_after_attempt
from tenacity.stop import stop_base

from triage.adapters.llm.budget import current_deadline
from triage.adapters.llm.model_errors import EndpointBusy
from triage.errors import TimeLimitExceeded
from triage.threads import raise_if_abandoned, seconds_left, sleep_unless_abandoned

MAX_ATTEMPTS = 3
MIN_REQUEST_SECONDS = 3.0
"""What an answer takes at least: a wait that leaves less is not made."""


@dataclass(frozen=True)
class RetryPolicy:
    """Three attempts, with as much time between them as the endpoint says.

    They are tenacity's own, for LangChain's `with_retry` cannot wait for what a header says.
    """

    clock: Callable[[], float]
    """Monotonic seconds; the meter's deadline is on it."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    sleep_in_thread: Callable[[float], None] = sleep_unless_abandoned

    def check_time(self) -> None:
        """Before every request. Raises TimeSpent, and Abandoned."""
        raise_if_abandoned()
        if self._seconds_left() <= 0:
            raise TimeLimitExceeded("no time left for this call")

    def request_seconds(self, most: float) -> float:
        """For one of several attempts, so that all of them and what comes after fit into the time left."""
        return max(1.0, min(most, self._seconds_left() / (MAX_ATTEMPTS + 2)))

    def attempts(self, may_go_on: Callable[[], bool]) -> AsyncRetrying:
        """Attempts of a call, as long as it may go on and time is left."""
        return AsyncRetrying(
            retry=retry_if_exception_type(EndpointBusy),
            stop=self._stop(may_go_on),
            wait=_seconds_before_retry,
            sleep=self.sleep,
            reraise=True,
        )

    def attempts_in_thread(self) -> Retrying:
        """The same for a call that blocks."""
        return Retrying(
            retry=retry_if_exception_type(EndpointBusy),
            stop=self._stop(lambda: True),
            wait=_seconds_before_retry,
            sleep=self.sleep_in_thread,
            reraise=True,
        )

    def _stop(self, may_go_on: Callable[[], bool]) -> Callable[[RetryCallState], bool]:
        counted: stop_base = stop_after_attempt(MAX_ATTEMPTS)

        def stop(state: RetryCallState) -> bool:
            return counted(state) or not may_go_on() or not self._has_time_for_request(state.upcoming_sleep)

        return stop

    def _has_time_for_request(self, seconds: float) -> bool:
        """Whether a request can follow a wait."""
        return seconds + MIN_REQUEST_SECONDS <= self._seconds_left()

    def _seconds_left(self) -> float:
        ends = current_deadline()
        return min(seconds_left(), math.inf if ends is None else ends - self.clock())


def _seconds_before_retry(state: RetryCallState) -> float:
    """Seconds before the next attempt: what the endpoint said, else 1, 2, … with jitter."""
    error = state.outcome.exception() if state.outcome else None
    told = error.retry_after if isinstance(error, EndpointBusy) else None
    return told if told is not None else float(2 ** (state.attempt_number - 1)) * random.uniform(0.5, 1.0)  # noqa: S311
