"""When a request to GitHub is sent again, and how long the client waits before it."""

import pytest
from urllib3 import HTTPHeaderDict

from testing.each_row import each_row
from testing.servers.github_api import SLUG, ApiFault, GitHubApi
from triage.base.errors import CannotPublish, GitHubUnavailable
from triage.github.github_client import GitHubClient, WaitBudget, retrying
from triage.github.github_errors import ErrorKind, GitHubError, error_from_response, seconds_until_retry
from triage.github.issue_tracker import IssueTracker

NOW = 1_795_251_600.0
DATE = "Sat, 21 Nov 2026 09:00:00 GMT"


@each_row(
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
def test_seconds_until_retry(status: int, headers: dict[str, str], seconds: float | None) -> None:
    assert seconds_until_retry(status, HTTPHeaderDict(headers), lambda: NOW) == seconds


def test_the_servers_clock_counts() -> None:
    headers = HTTPHeaderDict({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(NOW) + 20), "Date": DATE})
    assert seconds_until_retry(403, headers, lambda: NOW + 86_400) == 21.0


@pytest.mark.parametrize(
    ("idempotent", "status", "attempts"),
    [(True, 404, 1), (True, 403, 1), (True, 500, 3), (False, 422, 1), (False, 500, 1), (False, 503, 1)],
)
def test_only_repeatable_requests_are_repeated_after_a_server_error(
    idempotent: bool, status: int, attempts: int
) -> None:
    assert error_from_response(status, "", {}, idempotent=idempotent).max_attempts == attempts


@pytest.mark.parametrize("idempotent", [True, False])
@pytest.mark.parametrize("status", [403, 429])
def test_a_rate_limit_with_a_wait_is_repeated(idempotent: bool, status: int) -> None:
    error = error_from_response(status, "", {"retry-after": "7"}, idempotent=idempotent)
    assert (error.max_attempts, error.retry_after) == (3, 7.0)


def attempts(budget: WaitBudget, error: GitHubError, backoff_seconds: float = 0.5) -> int:
    """How often a request that always fails with this error is sent."""
    sent = 0

    def send() -> None:
        nonlocal sent
        sent += 1
        raise error

    with pytest.raises(GitHubError):
        retrying(budget, backoff_seconds)(send)
    return sent


def test_the_second_wait_is_longer_than_the_first() -> None:
    slept: list[float] = []
    assert attempts(WaitBudget(60.0, slept.append), GitHubError(ErrorKind.UNKNOWN_OUTCOME, 502, max_attempts=3)) == 3
    assert slept == [1.0]


def test_all_requests_share_one_budget() -> None:
    slept: list[float] = []
    budget = WaitBudget(60.0, slept.append)
    limit = GitHubError(ErrorKind.RATE_LIMITED, 429, retry_after=25.0, max_attempts=3)
    assert attempts(budget, limit) == 3
    assert attempts(budget, limit) == 1, "ten seconds are left"
    assert slept == [25.0, 25.0]
    assert budget.seconds == 10.0


@pytest.mark.parametrize("error", [GitHubError(ErrorKind.GONE, 404), GitHubError(ErrorKind.UNKNOWN_OUTCOME)])
def test_other_errors_are_final(error: GitHubError) -> None:
    assert attempts(WaitBudget(60.0), error) == 1


def test_a_read_is_repeated_once_after_a_lost_connection(api: GitHubApi, tracker: IssueTracker) -> None:
    api.faults = [ApiFault("GET")]
    with pytest.raises(GitHubUnavailable):
        tracker.fetch_issue(7)
    assert len(api.requests) == 2


def test_a_write_is_not_repeated_after_a_lost_connection(api: GitHubApi, tracker: IssueTracker) -> None:
    api.faults = [ApiFault("POST", times=1), ApiFault("GET")]
    with pytest.raises(CannotPublish):
        tracker.post_comment(7, "text")
    assert api.request_lines("POST") == [f"POST /repos/{SLUG}/issues/7/comments"]


@pytest.mark.parametrize("idempotent", [True, False])
def test_a_request_that_never_left_is_repeated_twice(idempotent: bool) -> None:
    slept: list[float] = []
    client = GitHubClient(
        "token",
        "http://127.0.0.1:9",  # nobody listens
        wait_budget=WaitBudget(60.0, slept.append),
        seconds_between_writes=0,
        timeouts_seconds=(1, 1),
        backoff_seconds=0.5,
    )
    with pytest.raises(GitHubError):
        client.write("POST", "/x", {}, idempotent=idempotent)
    client.close()
    assert slept == [1.0], "before the third attempt"
