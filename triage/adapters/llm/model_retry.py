"""How often a busy endpoint is asked again, and when."""

import asyncio
import math
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from tenacity import AsyncRetrying, RetryCallState, Retrying, retry_if_exception_type, stop_after_attempt
from tenacity.stop import stop_base

from triage.adapters.llm.budget import deadline
from triage.adapters.llm.model_errors import Busy
from triage.errors import TimeSpent
from triage.threads import pause, seconds_left, stop_if_abandoned

ATTEMPTS = 3
REQUEST_SECONDS = 3.0
"""What an answer takes at least: a wait that leaves less is not made."""


@dataclass(frozen=True)
class Patience:
    """Three attempts, with as much time between them as the endpoint says.

    They are tenacity's own, for LangChain's `with_retry` cannot wait for what a header says.
    """

    clock: Callable[[], float]
    """Monotonic seconds; the meter's deadline is on it."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    sleep_in_thread: Callable[[float], None] = pause

    def check(self) -> None:
        """Before every request. Raises TimeSpent, and Abandoned."""
        stop_if_abandoned()
        if self._seconds_left() <= 0:
            raise TimeSpent("no time left for this call")

    def request_seconds(self, most: float) -> float:
        """For one of several attempts, so that all of them and what comes after fit into the time left."""
        return max(1.0, min(most, self._seconds_left() / (ATTEMPTS + 2)))

    def attempts(self, may_go_on: Callable[[], bool]) -> AsyncRetrying:
        """Attempts of a call, as long as it may go on and time is left."""
        return AsyncRetrying(
            retry=retry_if_exception_type(Busy), stop=self._stop(may_go_on), wait=_wait, sleep=self.sleep, reraise=True
        )

    def attempts_in_thread(self) -> Retrying:
        """The same for a call that blocks."""
        return Retrying(
            retry=retry_if_exception_type(Busy),
            stop=self._stop(lambda: True),
            wait=_wait,
            sleep=self.sleep_in_thread,
            reraise=True,
        )

    def _stop(self, may_go_on: Callable[[], bool]) -> Callable[[RetryCallState], bool]:
        counted: stop_base = stop_after_attempt(ATTEMPTS)

        def stop(state: RetryCallState) -> bool:
            return counted(state) or not may_go_on() or not self._has_time_after(state.upcoming_sleep)

        return stop

    def _has_time_after(self, seconds: float) -> bool:
        """Whether a request can follow a wait."""
        return seconds + REQUEST_SECONDS <= self._seconds_left()

    def _seconds_left(self) -> float:
        ends = deadline()
        return min(seconds_left(), math.inf if ends is None else ends - self.clock())


def _wait(state: RetryCallState) -> float:
    """Seconds before the next attempt: what the endpoint said, else 1, 2, … with jitter."""
    error = state.outcome.exception() if state.outcome else None
    told = error.retry_after if isinstance(error, Busy) else None
    return told if told is not None else float(2 ** (state.attempt_number - 1)) * random.uniform(0.5, 1.0)  # noqa: S311
