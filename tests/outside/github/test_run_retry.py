"""When a request to GitHub is sent again, how long it waits before, and what of PyGithub this relies on."""

import time
from io import BytesIO

import pytest
from github.GithubException import RateLimitExceededException
from urllib3 import HTTPConnectionPool, HTTPResponse
from urllib3.exceptions import HTTPError, MaxRetryError, ProtocolError, ReadTimeoutError, SSLError

from testing.servers.github_api import SLUG, ApiFault, GitHubApi
from tests.outside.github.conftest import OpenTracker
from triage.base.errors import CannotPublish, GitHubUnavailable, RateLimited
from triage.base.threads import in_thread
from triage.outside.github.issue_tracker import IssueTracker
from triage.outside.github.run_retry import retry_reads, retry_writes

SECONDARY = {"message": "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}
POST = f"POST /repos/{SLUG}/issues/7/comments"
POOL = HTTPConnectionPool("github.test")


def answer(status: int, headers: dict[str, str] | None = None, body: bytes = b"{}") -> HTTPResponse:
    return HTTPResponse(BytesIO(body), headers, status, preload_content=False)


def wait_after(status: int, headers: dict[str, str]) -> float | None:
    """The seconds before the next attempt; None without one."""
    body = b'{"message": "API rate limit exceeded for x"}'
    try:
        following = retry_reads(60.0, 0.5).increment("GET", "/x", answer(status, headers, body), None, POOL)
    except RateLimitExceededException:
        return None
    return following.get_retry_after(answer(status, headers)) or following.get_backoff_time()


@pytest.mark.parametrize("status", [403, 429])
@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "1"}, 1.0),
        ({"retry-after": "60"}, 60.0),
        ({"retry-after": "61"}, None),
        ({"retry-after": "99999999999"}, None),
        ({"retry-after": "Sat, 21 Nov 2099 09:00:00 GMT"}, None),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "4102444800"}, None),
    ],
)
def test_a_limit_is_waited_for_as_long_as_github_says(
    status: int, headers: dict[str, str], seconds: float | None
) -> None:
    assert wait_after(status, headers) == seconds


@pytest.mark.parametrize("status", [403, 429])
def test_a_limit_that_ends_soon_is_waited_for(status: int) -> None:
    wait = wait_after(status, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(time.time()) + 20)})
    assert wait is not None
    assert 19.0 < wait < 22.0


@pytest.mark.parametrize("status", [403, 429])
def test_a_limit_without_a_time_is_waited_for_a_minute_once(status: int) -> None:
    retry = retry_writes(60.0)
    limited = answer(status, body=b'{"message": "You have exceeded a secondary rate limit."}')
    following = retry.increment("POST", "/x", limited, None, POOL)
    assert following.get_backoff_time() == 60.0
    limited = answer(status, body=b'{"message": "You have exceeded a secondary rate limit."}')
    with pytest.raises(RateLimitExceededException):
        following.increment("POST", "/x", limited, None, POOL)


async def test_a_wait_beyond_the_callers_time_is_not_begun() -> None:
    def wait() -> float | None:
        return wait_after(403, {"retry-after": "40"})

    assert await in_thread(wait, seconds=30.0) is None
    assert await in_thread(wait, seconds=50.0) == 40.0


def test_a_comment_is_written_after_the_limit(api: GitHubApi, open_tracker: OpenTracker) -> None:
    api.faults = [ApiFault("POST", 403, SECONDARY, {"retry-after": "1"}, times=1)]
    assert open_tracker(max_wait_seconds=5.0).post_comment(7, "text")[0] == api.comments[0]["id"]
    assert api.requests[1].at - api.requests[0].at >= 1.0


@pytest.mark.parametrize("headers", [{}, {"retry-after": "3600"}])
def test_a_limit_that_lasts_is_the_reason(
    api: GitHubApi, tracker: IssueTracker, headers: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    api.faults = [ApiFault(".*", 403, SECONDARY, headers)]
    with pytest.raises(RateLimited, match="the token's rate limit is used up"):
        tracker.fetch_issue(7)
    with pytest.raises(CannotPublish, match="the token's rate limit is used up"):
        tracker.post_comment(7, "text")
    assert len(api.requests) == 2
    assert caplog.records == []


def test_a_read_is_sent_three_times_after_a_server_error(api: GitHubApi, tracker: IssueTracker) -> None:
    api.faults = [ApiFault("GET", 502, b"<html>Unicorn!</html>")]
    with pytest.raises(GitHubUnavailable, match="GitHub answered 502"):
        tracker.fetch_issue(7)
    assert len(api.requests) == 3


def test_a_read_is_repeated_once_after_a_lost_connection(api: GitHubApi, tracker: IssueTracker) -> None:
    api.faults = [ApiFault("GET")]
    with pytest.raises(GitHubUnavailable, match="GitHub did not answer"):
        tracker.fetch_issue(7)
    assert len(api.requests) == 2


@pytest.mark.parametrize(
    "fault", [ApiFault("POST", times=1), ApiFault("POST", 502), ApiFault("POST", 503, {}, {"retry-after": "0"})]
)
def test_a_write_that_github_may_have_taken_is_not_sent_again(
    api: GitHubApi, tracker: IssueTracker, fault: ApiFault
) -> None:
    """Unlike by PyGithub itself, which ends with eleven comments."""
    api.faults = [fault, ApiFault("GET")]
    with pytest.raises(CannotPublish):
        tracker.post_comment(7, "text")
    assert api.request_lines("POST") == [POST]


@pytest.mark.parametrize(
    "error", [SSLError("bad record mac"), HTTPError(), ProtocolError(), ReadTimeoutError(POOL, "/", "")]
)
def test_no_error_sends_a_write_again(error: Exception) -> None:
    with pytest.raises((MaxRetryError, type(error))):
        retry_writes(60.0).increment("POST", "/x", None, error, POOL)


def test_an_answer_that_is_nested_too_deeply_cannot_be_read(api: GitHubApi, tracker: IssueTracker) -> None:
    api.faults = [ApiFault("GET", 200, b"[" * 100_000)]
    with pytest.raises(GitHubUnavailable, match="sent an answer that cannot be read"):
        tracker.fetch_issue(7)
    api.faults = [ApiFault("POST", 201, b"[" * 100_000, stored=True, times=1)]
    assert tracker.post_comment(7, "<!-- bug-triage: v1 {} -->\nwords")[0] == api.comments[0]["id"]
    assert len(api.comments) == 1
