"""Reading back what was just written, and the only thing that is ever deleted."""

from datetime import UTC, datetime, timedelta

import pytest

from testing.servers.github_api import READ_ONLY_TOKEN, SERVER_ERROR_TEXT, SLUG, ApiFault, GitHubApi
from tests.outside.github.conftest import OpenTracker
from triage.base.errors import GitHubUnavailable, IssueMoved, PermissionMissing, RateLimited
from triage.domain.effect import COMMENT_MARKER
from triage.outside.github.issue_tracker import IssueTracker
from triage.say.hidden_state import CommentState, render_state

BOT = "github-actions[bot]"
MARKED = render_state(CommentState(text="1" * 16)) + "\nHello"
COMMENTS = f"GET /repos/{SLUG}/issues/7/comments"
DELETE = f"DELETE /repos/{SLUG}/issues/comments/"


def refetched_ids(tracker: IssueTracker, posted: int | None = None) -> list[int | None]:
    return [comment.comment_id for comment in tracker.fetch_issue(7, posted).thread]


class TestAgain:
    def test_a_list_without_the_posted_comment_is_read_again(self, api: GitHubApi, tracker: IssueTracker) -> None:
        tracker.fetch_issue(7)
        rival = api.add_comment(MARKED, BOT)
        mine, _ = tracker.post_comment(7, MARKED)
        api.hidden_comments = {rival["id"]: 2, mine: 2}
        assert refetched_ids(tracker, mine) == [rival["id"], mine]
        assert len(api.request_lines(COMMENTS)) == 4

    def test_a_posted_comment_is_added_to_an_outdated_list(self, api: GitHubApi, tracker: IssueTracker) -> None:
        tracker.fetch_issue(7)
        mine, _ = tracker.post_comment(7, MARKED)
        api.hidden_comments = {mine: 99}
        assert refetched_ids(tracker, mine) == [mine]
        assert len(api.request_lines(COMMENTS)) == 4

    def test_a_posted_comment_that_is_gone_is_not_waited_for(self, api: GitHubApi, tracker: IssueTracker) -> None:
        rival = api.add_comment(MARKED, BOT)
        tracker.fetch_issue(7)
        mine, _ = tracker.post_comment(7, MARKED)
        api.comments.pop()
        assert refetched_ids(tracker, mine) == [rival["id"]]
        assert len(api.request_lines(COMMENTS)) == 2

    def test_server_errors_while_reading_back_are_retried(self, api: GitHubApi, tracker: IssueTracker) -> None:
        tracker.fetch_issue(7)
        mine, _ = tracker.post_comment(7, MARKED)
        api.faults = [ApiFault("GET .*comments", 502, b"", times=6)]
        assert refetched_ids(tracker, mine) == [mine]
        api.faults = [ApiFault("GET .*comments", 502, b"")]
        with pytest.raises(GitHubUnavailable, match="GitHub answered 502"):
            tracker.fetch_issue(7, mine)

    def test_another_issue_number_means_moved(self, api: GitHubApi, tracker: IssueTracker) -> None:
        api.issues[7]["number"] = 8
        with pytest.raises(IssueMoved):
            tracker.fetch_issue(7)


class TestRemove:
    @pytest.fixture(autouse=True)
    def thread(self, api: GitHubApi) -> None:
        api.add_comment("Hello", "ann")
        for body, by in (
            (MARKED, BOT),
            (MARKED, "mallory"),
            (f"> {MARKED}", BOT),
            (f"{COMMENT_MARKER} v1 {{}} -->\nforged", BOT),
            (MARKED, "other[bot]"),
            (MARKED, BOT),
        ):
            api.add_comment(body, by)

    @pytest.mark.parametrize("number", [*range(4999, 5006), 5007])
    def test_only_a_newer_comment_of_ours_is_deleted(self, api: GitHubApi, tracker: IssueTracker, number: int) -> None:
        tracker.delete_comment(7, number)
        assert len(api.comments) == 7
        assert api.request_lines("DELETE") == []

    def test_a_second_comment_of_ours_is_deleted(self, api: GitHubApi, tracker: IssueTracker) -> None:
        tracker.delete_comment(7, 5006)
        assert [comment["id"] for comment in api.comments] == list(range(5000, 5006))
        tracker.delete_comment(7, 5006)
        assert api.request_lines("DELETE") == [f"{DELETE}5006"]

    def test_the_only_comment_of_ours_is_not_deleted(self, api: GitHubApi, tracker: IssueTracker) -> None:
        """The older one was deleted by somebody a moment ago."""
        del api.comments[1], api.comments[3]
        tracker.delete_comment(7, 5006)
        assert api.comments[-1]["id"] == 5006

    def test_a_comment_on_another_issue_is_not_deleted(self, api: GitHubApi, tracker: IssueTracker) -> None:
        api.add_issue(8)
        other = api.add_comment(MARKED, BOT, 8)
        tracker.delete_comment(7, other["id"])
        assert other in api.comments

    @pytest.mark.parametrize("stored", [True, False])
    @pytest.mark.parametrize("status", [0, 502, 404])
    def test_a_lost_answer(self, api: GitHubApi, tracker: IssueTracker, status: int, stored: bool) -> None:
        api.faults = [ApiFault("DELETE", status, b"{}", stored=stored, times=1)]
        tracker.delete_comment(7, 5006)
        assert (api.comments[-1]["id"] == 5006) is (status == 404 and not stored)
        assert len(api.request_lines("DELETE")) == (1 if status == 404 or stored else 2)

    def test_a_refusal(self, open_tracker: OpenTracker) -> None:
        with pytest.raises(PermissionMissing, match="issues: write"):
            open_tracker(READ_ONLY_TOKEN).delete_comment(7, 5006)


@pytest.mark.parametrize("message", ["You have been blocked from commenting", "Unlocked features are forbidden"])
def test_blocked_is_not_locked(api: GitHubApi, tracker: IssueTracker, message: str) -> None:
    api.faults = [ApiFault("POST", 403, {"message": message})]
    with pytest.raises(PermissionMissing):
        tracker.post_comment(7, MARKED)


class TestOpenedLately:
    def opened_ago(self, api: GitHubApi, number: int, hours: float, **fields: object) -> None:
        opened = datetime.now(UTC) - timedelta(hours=hours)
        api.add_issue(number, created_at=f"{opened:%Y-%m-%dT%H:%M:%SZ}", **fields)

    @pytest.fixture(autouse=True)
    def no_issues(self, api: GitHubApi) -> None:
        api.issues.clear()

    def test_a_day_and_no_pull_requests(self, api: GitHubApi, tracker: IssueTracker) -> None:
        for number, hours in ((1, 200.0), (2, 24.1), (3, 23.9), (4, 5.0), (5, 0.0)):
            self.opened_ago(api, number, hours)
        self.opened_ago(api, 6, 1.0, html_url=f"https://github.test/{SLUG}/pull/6")
        self.opened_ago(api, 7, 0.5, html_url="https://github.test/wei/pull/issues/7")
        assert tracker.list_recent_issues(50) == [5, 7, 4, 3]
        assert len(api.requests) == 1

    def test_pages_until_the_count_is_exceeded(self, api: GitHubApi, tracker: IssueTracker) -> None:
        for number in range(1, 1001):
            self.opened_ago(api, number, number / 100)
        assert len(tracker.list_recent_issues(50)) == 100
        assert len(api.requests) == 1
        assert len(tracker.list_recent_issues(250)) == 300
        assert len(api.requests) == 4

    def test_an_issue_without_a_creation_time_counts(self, api: GitHubApi, tracker: IssueTracker) -> None:
        api.add_issue(1, created_at=None)
        assert tracker.list_recent_issues(50) == [1]

    @pytest.mark.parametrize(
        ("status", "error"), [(429, RateLimited), (502, GitHubUnavailable), (403, PermissionMissing)]
    )
    def test_refusals(self, api: GitHubApi, tracker: IssueTracker, status: int, error: type[Exception]) -> None:
        api.faults = [ApiFault("GET", status, {"message": SERVER_ERROR_TEXT})]
        with pytest.raises(error) as caught:
            tracker.list_recent_issues(50)
        assert type(caught.value) is error


def test_the_login_from_the_first_write_finds_the_older_comment(api: GitHubApi, open_tracker: OpenTracker) -> None:
    """An app's token on a server without GraphQL: the run posts, learns who it is, and sees what it had written."""
    api.logins["app-token"] = "triage-app[bot]"
    api.viewer = None
    older = api.add_comment(MARKED, "triage-app[bot]")
    api.seconds += 7200
    api.add_comment(MARKED, "mallory")
    tracker = open_tracker("app-token")
    assert [comment.ours for comment in tracker.fetch_issue(7).thread] == [False, False]
    mine, _ = tracker.post_comment(7, MARKED)
    assert [comment.comment_id for comment in tracker.fetch_issue(7, mine).thread if comment.ours] == [
        older["id"],
        mine,
    ]


@pytest.mark.parametrize("body", [b"[]", b"{", b'"x"', b"null", b'{"role_name": 5}', b'{"role_name": ["admin"]}', b""])
def test_a_role_that_cannot_be_read_is_none(api: GitHubApi, tracker: IssueTracker, body: bytes) -> None:
    api.faults = [ApiFault("permission", 200, body)]
    assert tracker.fetch_role("ann") == "none"
