"""How long GitHub asks to wait, by its headers; and when there is no next try."""

import pytest
from urllib3 import HTTPHeaderDict
from urllib3.connection import HTTPConnection
from urllib3.exceptions import ConnectTimeoutError, HTTPError, NewConnectionError, ProtocolError, SSLError

from triage.adapters.github.github_retry import GitHubRetry, WaitBudget, seconds_until_retry

NOW = 1_795_251_600.0
DATE = "Sat, 21 Nov 2026 09:00:00 GMT"


@pytest.mark.parametrize(
    ("status", "headers", "seconds"),
    [
        (500, {}, 0.0),
        (503, {"Retry-After": "7"}, 7.0),
        (403, {}, None),
        (429, {}, None),
        (403, {"Retry-After": "1"}, 1.0),
        (403, {"Retry-After": " 30 "}, 30.0),
        (429, {"Retry-After": "Sat, 21 Nov 2026 09:05:00 GMT", "Date": DATE}, 300.0),
        (429, {"Retry-After": "Sat, 21 Nov 2026 08:00:00 GMT", "Date": DATE}, 0.0),
        (403, {"Retry-After": "soon"}, None),
        (403, {"Retry-After": "-5"}, None),
        (403, {"Retry-After": "١"}, None),
        (403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(NOW) + 20), "Date": DATE}, 21.0),
        (403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(NOW) - 20), "Date": DATE}, 1.0),
        (403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "later"}, None),
        (403, {"X-RateLimit-Remaining": "0"}, None),
        (403, {"X-RateLimit-Remaining": "4999", "X-RateLimit-Reset": str(int(NOW) + 20)}, None),
        (429, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(NOW) + 20)}, 21.0),
        (403, {"Retry-After": "5", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "9999999999"}, 5.0),
    ],
)
def test_asked_wait(status: int, headers: dict[str, str], seconds: float | None) -> None:
    assert seconds_until_retry(status, HTTPHeaderDict(headers), lambda: NOW) == seconds


def test_the_servers_clock_counts() -> None:
    headers = HTTPHeaderDict({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(NOW) + 20), "Date": DATE})
    assert seconds_until_retry(403, headers, lambda: NOW + 86_400) == 21.0


@pytest.mark.parametrize(
    ("method", "status", "looks"),
    [
        ("GET", 200, False),
        ("GET", 404, False),
        ("GET", 403, True),
        ("GET", 500, True),
        ("POST", 403, True),
        ("POST", 429, True),
        ("POST", 301, True),
        ("POST", 500, False),
        ("PATCH", 503, False),
    ],
)
def test_what_is_looked_at(method: str, status: int, looks: bool) -> None:
    assert GitHubRetry(waits=WaitBudget(60.0)).is_retry(method, status, has_retry_after=True) is looks


def test_all_requests_share_one_patience() -> None:
    slept: list[float] = []
    waits = WaitBudget(60.0, slept.append)
    first = GitHubRetry(waits=waits)
    first.new(total=1).wait_budget.wait(40.0)
    first.wait_budget.wait(0.0)
    assert slept == [40.0]
    assert waits.seconds_left == 20.0


@pytest.mark.parametrize(
    ("method", "error", "again"),
    [
        ("GET", ProtocolError("lost"), True),
        ("GET", SSLError("lost"), True),
        ("POST", ProtocolError("lost"), False),
        ("POST", SSLError("lost while the answer was read"), False),
        ("PATCH", SSLError("lost while the answer was read"), False),
        ("POST", ConnectTimeoutError("never sent"), True),
        ("POST", NewConnectionError(HTTPConnection("127.0.0.1"), "never sent"), True),
    ],
)
def test_a_write_is_sent_again_only_when_it_never_left(method: str, error: HTTPError, again: bool) -> None:
    patience = GitHubRetry(waits=WaitBudget(60.0))
    if again:
        assert patience.increment(method, "/", error=error).total == 1
    else:
        with pytest.raises(type(error)):
            patience.increment(method, "/", error=error)
