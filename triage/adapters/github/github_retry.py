"""When a request is sent again, and how long to wait before it."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import Any, Self

from urllib3 import BaseHTTPResponse, Retry
from urllib3.connectionpool import ConnectionPool
from urllib3.exceptions import ConnectTimeoutError, MaxRetryError, NewConnectionError, ResponseError

from triage.adapters.github.github_errors import ErrorKind, GitHubError, is_rate_limit
from triage.threads import seconds_left, sleep_unless_abandoned

MAX_ATTEMPTS = 3
REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})
ACCEPTED_STATUS = 202
"""Nothing that is asked here is answered so; PyGithub would ask again for ever."""


@dataclass
class WaitBudget:
    """The seconds that all requests together may spend waiting."""

    seconds_left: float
    sleep: Callable[[float], None] = sleep_unless_abandoned

    @property
    def max_next_wait(self) -> float:
        """Seconds of the next wait at most: of these, and until nobody waits for the answer any more."""
        return min(self.seconds_left, seconds_left())

    def wait(self, seconds: float) -> None:
        """Wait, and remember it."""
        if seconds > 0:
            self.seconds_left -= seconds
            self.sleep(seconds)


class GitHubRetry(Retry):
    """Reads are asked again after any fault. A write only when it cannot have been taken: a limit, or no connection.

    urllib3's and PyGithub's own defaults send a POST again after a 502 or a lost connection, when the comment may
    stand already. Redirects are not followed: they lead to another repository, and would take the token there.
    """

    def __init__(self, *, waits: WaitBudget, **parameters: Any) -> None:
        self.wait_budget = waits
        super().__init__(**{"total": MAX_ATTEMPTS - 1, "read": 1, "raise_on_status": False} | parameters)

    def new(self, **parameters: Any) -> Self:
        """A copy with other counters and the same waits."""
        return super().new(waits=self.wait_budget, **parameters)

    def is_retry(self, method: str, status_code: int, has_retry_after: bool = False) -> bool:  # noqa: ARG002 - urllib3's
        """Whether `increment` is to look at the answer."""
        odd = status_code in REDIRECT_STATUSES or status_code == ACCEPTED_STATUS
        return odd or status_code in (403, 429) or (method == "GET" and status_code >= 500)

    def increment(
        self,
        method: str | None = None,
        url: str | None = None,
        response: BaseHTTPResponse | None = None,
        error: Exception | None = None,
        _pool: ConnectionPool | None = None,
        _stacktrace: TracebackType | None = None,
    ) -> Self:
        """The next state, or the end of trying.

        Raises:
            Fault: The answer is a redirect, or none yet.
            MaxRetryError: Enough tries; the answer is handed to the caller as it is.
        """
        if error is not None and method != "GET" and not isinstance(error, ConnectTimeoutError | NewConnectionError):
            raise error
        if response is not None:
            if response.status in REDIRECT_STATUSES:
                response.drain_conn()
                raise GitHubError(ErrorKind.MOVED, response.status)
            if response.status == ACCEPTED_STATUS:
                response.drain_conn()
                raise GitHubError(ErrorKind.UNKNOWN_OUTCOME, response.status)
            wait = seconds_until_retry(response.status, response.headers)
            if wait is None or wait > self.wait_budget.max_next_wait:
                raise MaxRetryError(_pool, url, ResponseError("not asked again"))  # type: ignore[arg-type]
        return super().increment(method, url, response, error, _pool, _stacktrace)

    def sleep(self, response: BaseHTTPResponse | None = None) -> None:
        """Wait as long as the answer asks, or a little longer each time."""
        asked = seconds_until_retry(response.status, response.headers) if response is not None else None
        self.wait_budget.wait(max(asked or 0.0, min(self.get_backoff_time(), self.wait_budget.max_next_wait)))


def seconds_until_retry(status: int, headers: Mapping[str, str], now: Callable[[], float] = time.time) -> float | None:
    """Seconds that the answer asks to wait before the next try; 0 when it names none, none when there is no next try.

    GitHub's rules: `retry-after` first, then `x-ratelimit-reset` when nothing remains, and else a minute, for which
    there is no time here (docs, rate limits for the REST API). The server's clock counts, not ours.
    """
    answered = parse_http_date(headers.get("date", ""))
    here = answered.timestamp() if answered else now()
    later = headers.get("retry-after")
    if later is not None:
        moment = parse_http_date(later)
        return _parse_digits(later) if moment is None else max(moment.timestamp() - here, 0.0)
    if not is_rate_limit(status, headers):
        return None if status in (403, 429) else 0.0
    reset = _parse_digits(headers.get("x-ratelimit-reset", ""))
    if headers.get("x-ratelimit-remaining") != "0" or reset is None:
        return None
    return max(reset - here, 0.0) + 1.0


def _parse_digits(text: str) -> float | None:
    text = text.strip()
    return float(text) if text.isascii() and text.isdigit() and len(text) <= 12 else None


def parse_http_date(text: str) -> datetime | None:
    """A date as HTTP headers have it; none when it is none."""
    try:
        read = parsedate_to_datetime(text)
        return (read if read.tzinfo else read.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
