"""When a request to GitHub is sent again: PyGithub's retry, for as long as somebody waits for the answer."""

import time
from collections.abc import Mapping
from typing import Any

from github.GithubException import GithubException, RateLimitExceededException
from github.GithubRetry import GithubRetry
from urllib3.exceptions import MaxRetryError

from triage.base.threads import raise_if_abandoned, seconds_left, sleep_unless_abandoned
from triage.outside.github.github_errors import parse_reset_time

REPEATS = 2
REDIRECTS = (301, 302, 303, 307, 308)
_LIMITS = (403, 429)
"""GitHub answers a rate limit with either. PyGithub tells a 403 that is none by its text."""


class RunRetry(GithubRetry):
    """PyGithub's retry, with three differences.

    A wait is not begun that is longer than `max_rate_limit_wait`, or than the caller waits for the answer. One request
    waits for one rate limit. Redirects, which lead to another repository and would take the token there, are refused.
    """

    RETRY_AFTER_STATUS_CODES = frozenset()
    """A write is not sent again because an error of the server has the header."""

    def increment(
        self,
        method: str | None = None,
        url: str | None = None,
        response: Any = None,
        error: Exception | None = None,
        _pool: Any = None,
        _stacktrace: Any = None,
    ) -> "RunRetry":
        """Return the policy for the next attempt, as urllib3 wants it after each one; raise if there is none."""
        raise_if_abandoned()
        status = response.status if response is not None else None
        try:
            if status in REDIRECTS:
                raise GithubException(status, None, response.headers)
            following: RunRetry = super().increment(method, url, response, error, _pool, _stacktrace)  # type: ignore[assignment]
            if response is not None and not self._has_time(following, response):
                raise MaxRetryError(_pool, url or "")
        except MaxRetryError:
            if status in _LIMITS:
                # PyGithub has read the text of the answer: nobody else can.
                response.close()
                raise RateLimitExceededException(status, None, response.headers) from None
            raise
        except GithubException:
            response.close()
            raise
        return following

    def _has_time(self, following: "RunRetry", response: Any) -> bool:
        """Return whether the wait before the next attempt is short enough; a second rate limit is not waited for."""
        if response.status in _LIMITS and any(past.status in _LIMITS for past in self.history):
            return False
        wait = following.get_retry_after(response)
        if wait is None and response.status == 429:
            wait = seconds_until_reset(response.headers) or self.secondary_rate_wait
            # As PyGithub does after a 403.
            following.get_backoff_time = lambda: wait  # type: ignore[method-assign]
        longest = seconds_left() if self.max_rate_limit_wait is None else min(self.max_rate_limit_wait, seconds_left())
        return (following.get_backoff_time() if wait is None else wait) <= longest

    def sleep(self, response: Any = None) -> None:
        wait = self.get_retry_after(response) if response is not None else None
        sleep_unless_abandoned(wait or self.get_backoff_time())


def seconds_until_reset(headers: Mapping[str, str]) -> float:
    """Return the seconds until a used-up rate limit begins anew; 0 if GitHub does not say."""
    reset = parse_reset_time(headers) if headers.get("x-ratelimit-remaining") == "0" else None
    return max(reset.timestamp() - time.time(), 0.0) + 1.0 if reset else 0.0


def retry_reads(max_wait_seconds: float, backoff_seconds: float) -> RunRetry:
    """Return the retry of requests that change nothing; questions of GraphQL are POST requests."""
    return _make_retry(max_wait_seconds, backoff_seconds, ["GET", "POST"], range(500, 600), read=1)


def retry_writes(max_wait_seconds: float) -> RunRetry:
    """Return the retry of writes: what GitHub may have taken is not sent again."""
    return _make_retry(max_wait_seconds, 0.0, None, (), read=False, other=0)


def _make_retry(max_wait_seconds: float, backoff_seconds: float, methods: Any, statuses: Any, **kinds: Any) -> RunRetry:
    return RunRetry(
        total=REPEATS,
        backoff_factor=backoff_seconds,
        status_forcelist=[*statuses, 429, *REDIRECTS],
        allowed_methods=methods,
        raise_on_status=False,
        max_rate_limit_wait=max_wait_seconds,
        **kinds,
    )
