"""Sends requests to GitHub again, and waits before it."""

from collections.abc import Callable
from dataclasses import dataclass

from tenacity import RetryCallState, Retrying, retry_if_exception_type

from triage.base.threads import seconds_left, sleep_unless_abandoned
from triage.github.github_errors import GitHubError

MAX_BACKOFF_SECONDS = 10.0


@dataclass
class WaitBudget:
    """The seconds that all requests of one client together may spend waiting."""

    seconds: float
    sleep: Callable[[float], None] = sleep_unless_abandoned

    @property
    def max_next_wait(self) -> float:
        """Returns the seconds of the next wait at most: no longer than the caller waits for the answer."""
        return min(self.seconds, seconds_left())

    def wait(self, seconds: float) -> None:
        if seconds > 0:
            self.seconds -= seconds
            self.sleep(seconds)


def retrying(budget: WaitBudget, backoff_seconds: float) -> Retrying:
    """Returns the attempts of one request, which fails with the last `GitHubError`.

    A request is sent again as often as its error allows (`GitHubError.max_attempts`), unless GitHub asks to wait for
    longer than the budget has.
    """

    def seconds_to_wait(state: RetryCallState) -> float:
        # The first repetition does not wait on its own account, as urllib3 has it.
        backoff = backoff_seconds * 2 ** (state.attempt_number - 1) if state.attempt_number > 1 else 0.0
        return max(_error(state).retry_after, min(backoff, MAX_BACKOFF_SECONDS, budget.max_next_wait))

    def is_last(state: RetryCallState) -> bool:
        return state.attempt_number >= _error(state).max_attempts or state.upcoming_sleep > budget.max_next_wait

    return Retrying(
        retry=retry_if_exception_type(GitHubError),
        wait=seconds_to_wait,
        stop=is_last,
        sleep=budget.wait,
        reraise=True,
    )


def _error(state: RetryCallState) -> GitHubError:
    error = state.outcome.exception() if state.outcome else None
    assert isinstance(error, GitHubError)
    return error
