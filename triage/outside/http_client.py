"""HTTP requests by `requests`, with the environment's proxies and certificates, with limits, and without redirects."""

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import requests

from triage.base.errors import AnswerTooLarge, TriageError
from triage.base.network import describe_connection_problem, list_causes
from triage.base.threads import raise_if_abandoned

CONNECT_SECONDS = 10.0
_PIECE_BYTES = 65_536
_SECONDS = re.compile(r"\s*(\d{1,12}(?:\.\d{1,9})?)\s*", re.ASCII)
_NOT_SENT = ("ConnectError", "ConnectTimeout", "PoolTimeout", "NewConnectionError", "ConnectTimeoutError")
"""Names of errors of httpx, requests and urllib3 that come before a request is sent."""


class RequestFailed(TriageError):
    """No answer came. The message is our own word for it."""

    def __init__(self, error: Exception) -> None:
        self.problem = describe_connection_problem(error)
        """What somebody must fix; empty where another attempt may succeed."""
        self.was_sent = was_sent(error)
        is_timeout = isinstance(error, requests.Timeout | TimeoutError)
        super().__init__(self.problem or ("timed out" if is_timeout else "connection failed"))


@dataclass(frozen=True)
class HttpResponse:
    status: int
    headers: Mapping[str, str]
    """Names may be looked up in any case."""
    body: bytes


def open_session() -> requests.Session:
    """Return a session that takes no login from `.netrc`, which would replace our keys."""
    session = requests.Session()
    session.auth = lambda request: request
    # A compressed answer costs more memory than it saves time.
    session.headers["Accept-Encoding"] = "identity"
    return session


def send_request(method: str, url: str, *, seconds: float, max_bytes: int, **arguments: Any) -> HttpResponse:
    """Send one request, and return the response, whatever its status. It blocks: call it in a thread.

    Args:
        method: `GET`, `POST`, ...
        url: With a scheme and a host.
        seconds: For the whole response.
        max_bytes: How much of the response is read.
        arguments: Further ones of `requests`, such as `json` and `headers`.

    Raises:
        RequestFailed: No whole response came.
        AnswerTooLarge: It is longer than `max_bytes`.
    """
    raise_if_abandoned()
    deadline = time.monotonic() + seconds
    try:
        with open_session() as session:
            timeout = (min(seconds, CONNECT_SECONDS), seconds)
            response = session.request(method, url, timeout=timeout, allow_redirects=False, stream=True, **arguments)
            body = read_bounded(response, max_bytes, deadline)
    except (requests.RequestException, OSError, ValueError) as error:  # the last for a `location` that is no address
        raise RequestFailed(error) from None
    return HttpResponse(response.status_code, response.headers, bytes(body))


def read_bounded(response: requests.Response, max_bytes: int, deadline: float | None = None) -> bytearray:
    """Read the body of a response that was requested with `stream=True`, and close it.

    The limit counts decoded bytes, since a few compressed ones may unpack to gigabytes. `deadline` is in seconds of
    the monotonic clock: `requests` limits the wait between two pieces only.

    Raises:
        AnswerTooLarge: There is more.
        TimeoutError: The deadline has passed.
        requests.RequestException: The connection broke.
    """
    body = bytearray()
    with response:
        for piece in response.iter_content(_PIECE_BYTES):
            raise_if_abandoned()
            body += piece
            if len(body) > max_bytes:
                raise AnswerTooLarge(max_bytes)
            if deadline is not None and time.monotonic() > deadline:
                raise TimeoutError
    return body


def was_sent(error: BaseException) -> bool:
    """Return whether a server may have got the request that failed, by the names of the error and its causes."""
    return not any(type(cause).__name__ in _NOT_SENT for cause in list_causes(error))


def parse_retry_after(headers: Mapping[str, str], now: Callable[[], float] = time.time) -> float | None:
    """Return the seconds that a `retry-after` header asks to wait; None when it is missing or unreadable.

    The header is a number or a date (RFC 9110, 10.2.3). `headers` have lower-case names.
    """
    value = headers.get("retry-after", "")
    if seconds := _SECONDS.fullmatch(value):
        return float(seconds[1])
    date = parse_http_date(value)
    return None if date is None else max(date.timestamp() - server_timestamp(headers, now), 0.0)


def server_timestamp(headers: Mapping[str, str], now: Callable[[], float] = time.time) -> float:
    """Return when a response was sent, in seconds since 1970, by the server's clock where it is known."""
    date = parse_http_date(headers.get("date", ""))
    return date.timestamp() if date else now()


def parse_http_date(text: str) -> datetime | None:
    """Return a date of an HTTP header in UTC; None for anything else."""
    try:
        date = parsedate_to_datetime(text)
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
