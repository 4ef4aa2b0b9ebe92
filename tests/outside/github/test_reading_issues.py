"""Issues, labels and roles, read from a server that plays GitHub."""

import threading
from datetime import UTC, datetime

import pytest

from testing.servers.github_api import (
    JOB_TOKEN,
    PERSON_TOKEN,
    SERVER_ERROR_TEXT,
    SLUG,
    ApiFault,
    GitHubApi,
    serve_github_api,
)
from tests.outside.github.conftest import OpenTracker
from triage.base.errors import (
    BadInput,
    GitHubUnavailable,
    IssueMoved,
    NoSuchIssue,
    PermissionMissing,
    TriageError,
)
from triage.domain.effect import COMMENT_MARKER
from triage.domain.issue import IssueComment
from triage.outside.github.issue_tracker import IssueTracker

MARKED = f"{COMMENT_MARKER} state -->\nHello"


class TestIssue:
    def test_all_fields(self, api: GitHubApi, tracker: IssueTracker) -> None:
        api.add_issue(8, labels=[{"name": "bug"}, {"name": None}, {"name": "old"}], state="closed", locked=True)
        api.add_comment("Me too", "ann", 8, updated_at="2026-11-21T09:00:01Z", author_association="MEMBER")
        issue = tracker.fetch_issue(8)
        assert (issue.title, issue.body, issue.author, issue.author_is_bot) == ("It breaks", "Badly.", "mona", False)
        assert (issue.labels, issue.state, issue.locked, issue.is_pull_request) == (
            ["bug", "old"],
            "closed",
            True,
            False,
        )
        assert issue.url == f"https://github.com/{SLUG}/issues/8"
        assert issue.opened_at == datetime(2026, 11, 21, 9, tzinfo=UTC)
        assert issue.thread == [
            IssueComment(
                author="ann",
                body="Me too",
                created_at=datetime(2026, 11, 21, 9, tzinfo=UTC),
                edited_at=datetime(2026, 11, 21, 9, 0, 1, tzinfo=UTC),
                by_member=True,
                comment_id=5000,
                url=f"https://github.com/{SLUG}/issues/8#issuecomment-5000",
            )
        ]

    def test_of_a_long_thread_the_newest_comments_are_whole(self, api: GitHubApi, tracker: IssueTracker) -> None:
        api.add_comment(MARKED + "x" * 5_000, "github-actions[bot]")
        api.add_comment("what I saw " + "x" * 5_000, "mona")
        for _ in range(250):
            api.add_comment("/triage\n" + "x" * 65_000, "mallory")
        thread = tracker.fetch_issue(7).thread
        assert [number for number, one in enumerate(thread) if not one.is_shortened] == [0, 1, 248, 249, 250, 251]
        assert thread[9].body.startswith("/triage\n")
        assert sum(len(comment.body) for comment in thread) < 600_000

    def test_nothing_but_null(self, api: GitHubApi, tracker: IssueTracker) -> None:
        api.add_issue(8, title=None, body=None, user=None, locked=None)
        api.add_comment(None, None, 8, created_at=None)
        issue = tracker.fetch_issue(8)
        assert (issue.title, issue.body, issue.author, issue.locked) == ("", "", "ghost", False)
        assert (issue.thread[0].author, issue.thread[0].body, issue.thread[0].ours) == ("ghost", "", False)

    def test_a_pull_request(self, api: GitHubApi, tracker: IssueTracker) -> None:
        api.add_issue(8, pull_request={"url": "x"}, user={"login": "dependabot[bot]", "type": "Bot"})
        issue = tracker.fetch_issue(8)
        assert issue.is_pull_request
        assert issue.author_is_bot

    @pytest.mark.parametrize(("comments", "pages"), [(0, 1), (1, 1), (99, 1), (100, 2), (250, 3)])
    def test_the_whole_thread(self, api: GitHubApi, tracker: IssueTracker, comments: int, pages: int) -> None:
        for number in range(comments):
            api.add_comment(f"number {number}")
        thread = tracker.fetch_issue(7).thread
        assert [comment.body for comment in thread] == [f"number {number}" for number in range(comments)]
        assert len(api.request_lines(f"GET /repos/{SLUG}/issues/7/comments")) == pages

    def test_odd_text(self, api: GitHubApi, tracker: IssueTracker) -> None:
        api.add_issue(8, body="\x00\ud800 😀\r\n" * 3)
        assert tracker.fetch_issue(8).body == "\x00\ud800 😀\r\n" * 3

    def test_without_a_token(self, api: GitHubApi, open_tracker: OpenTracker) -> None:
        assert open_tracker("").fetch_issue(7).number == 7
        assert api.requests[0].token == ""


class TestOurs:
    def test_our_comment_has_our_marker_and_our_login(self, api: GitHubApi, tracker: IssueTracker) -> None:
        api.add_comment(MARKED, "github-actions[bot]")
        api.add_comment("Hello", "github-actions[bot]")
        api.add_comment(f" {MARKED}", "github-actions[bot]")
        assert [comment.ours for comment in tracker.fetch_issue(7).thread] == [True, False, False]
        assert api.request_lines("POST") == []

    def test_anybody_can_write_the_marker(self, api: GitHubApi, tracker: IssueTracker) -> None:
        api.viewer = "github-actions[bot]"
        for by in ("mallory", "github-actions", "other[bot]", None):
            api.add_comment(MARKED, by)
        assert [comment.ours for comment in tracker.fetch_issue(7).thread] == [False] * 4
        assert api.request_lines("POST") == ["POST /graphql"]

    def test_a_persons_or_an_apps_own_token(self, api: GitHubApi, open_tracker: OpenTracker) -> None:
        api.viewer = "mona"
        api.add_comment(MARKED, "mona")
        api.add_comment(MARKED, "mallory")
        assert [comment.ours for comment in open_tracker(PERSON_TOKEN).fetch_issue(7).thread] == [True, False]

    @pytest.mark.parametrize(
        ("viewer", "commenter"),
        [("github-actions[bot]", "app/github-actions"), ("mona", "mona"), (None, "app/github-actions")],
    )
    def test_a_search_names_an_app_otherwise(
        self, api: GitHubApi, tracker: IssueTracker, viewer: str | None, commenter: str
    ) -> None:
        api.viewer = viewer
        assert tracker.commenter == commenter

    @pytest.mark.parametrize("body", [b"<html>", b"[]", b"{}", b'{"data": null}', b'{"data": {"viewer": 5}}'])
    def test_unreadable_logins(self, api: GitHubApi, tracker: IssueTracker, body: bytes) -> None:
        api.faults = [ApiFault("graphql", 200, body)]
        api.add_comment(MARKED, "mona")
        assert not tracker.fetch_issue(7).thread[0].ours


class TestRefusals:
    @pytest.mark.parametrize(
        ("status", "message", "error", "words"),
        [
            (401, "Bad credentials", PermissionMissing, "GitHub does not accept the token (401)"),
            (
                403,
                "Resource not accessible by integration",
                PermissionMissing,
                "`permissions: contents: read, issues: write`",
            ),
            (403, "Forbidden", PermissionMissing, f"The token may not read issues of {SLUG}"),
            (404, "Not Found", NoSuchIssue, f"Issue #7 does not exist in {SLUG}, or the token may not read it"),
            (410, "This issue was deleted", IssueMoved, "Issue #7 was deleted"),
            (422, "Validation Failed", NoSuchIssue, "Issue #7 does not exist"),
            (429, "Too many", GitHubUnavailable, "Issue #7 could not be read: the token's rate limit is used up."),
            (403, "API rate limit exceeded for x", GitHubUnavailable, "rate limit is used up"),
            (403, "You have exceeded a secondary rate limit", GitHubUnavailable, "rate limit is used up"),
            (500, "Oops", GitHubUnavailable, "GitHub answered 500"),
        ],
    )
    def test_who_must_act(
        self, api: GitHubApi, tracker: IssueTracker, status: int, message: str, error: type[TriageError], words: str
    ) -> None:
        api.faults = [ApiFault("GET", status, {"message": message, "documentation_url": SERVER_ERROR_TEXT})]
        with pytest.raises(error) as caught:
            tracker.fetch_issue(7)
        message_text = str(caught.value)
        assert words in message_text
        assert SERVER_ERROR_TEXT not in message_text
        assert "\n" not in message_text
        assert caught.value.__suppress_context__

    @pytest.mark.parametrize("status", [301, 302, 307, 308])
    def test_the_token_goes_to_no_other_host(self, api: GitHubApi, tracker: IssueTracker, status: int) -> None:
        with serve_github_api() as other:
            api.faults = [ApiFault("GET", status, {}, {"location": f"{other.url}/repos/{SLUG}/issues/7"})]
            with pytest.raises(IssueMoved, match="Issue #7 was moved"):
                tracker.fetch_issue(7)
            assert other.requests == []

    def test_labels_and_the_repository(self, api: GitHubApi, tracker: IssueTracker) -> None:
        api.faults = [ApiFault("labels", 404, {"message": "Not Found"})]
        with pytest.raises(NoSuchIssue, match=f"^The repository {SLUG} does not exist, or the token"):
            tracker.list_labels()

    @pytest.mark.parametrize("slug", ["", "shop", "octo/shop/x", "octo/..", "../shop", "octo/sh op", "octo/shop?x=1"])
    def test_a_malformed_repository(self, slug: str) -> None:
        with pytest.raises(BadInput, match="owner/name"):
            IssueTracker(JOB_TOKEN, slug)


class TestAgain:
    """A read is sent three times."""

    def test_after_silence(self, api: GitHubApi, open_tracker: OpenTracker) -> None:
        api.faults = [ApiFault("issues/7$", delay_seconds=9)]
        with pytest.raises(GitHubUnavailable, match="GitHub did not answer"):
            open_tracker(timeout_seconds=1).fetch_issue(7)
        assert len(api.requests) == 2

    @pytest.mark.parametrize(
        "body", [b'{"number": ', b"<html>", b"[1, 2]", b"null", b'"x"', b'{"number": "x"}', b"\xff"]
    )
    def test_an_unreadable_answer_is_no_traceback(self, api: GitHubApi, tracker: IssueTracker, body: bytes) -> None:
        api.faults = [ApiFault("issues/7$", 200, body)]
        with pytest.raises(GitHubUnavailable):
            tracker.fetch_issue(7)

    @pytest.mark.parametrize("body", [b"[1]", b'{"message": 5}', b'"x"', b"{", b"\xff", b""])
    def test_an_unreadable_refusal_is_no_traceback(self, api: GitHubApi, tracker: IssueTracker, body: bytes) -> None:
        api.faults = [ApiFault("issues/7$", 404, body)]
        with pytest.raises(TriageError):
            tracker.fetch_issue(7)


class TestLabels:
    def test_all_pages(self, api: GitHubApi, tracker: IssueTracker) -> None:
        api.labels = [f"label {number}" for number in range(101)]
        assert tracker.list_labels() == api.labels


class TestRole:
    @pytest.mark.parametrize(
        ("answer", "role"),
        [
            ({"permission": "admin", "role_name": "admin"}, "admin"),
            ({"permission": "write", "role_name": "maintain"}, "maintain"),
            ({"permission": "read", "role_name": "triage"}, "triage"),
            ({"permission": "none", "role_name": ""}, "none"),
            ({"permission": "write", "role_name": "Security team"}, "write"),
            ({"permission": "push", "role_name": "boss"}, "none"),
            ({"permission": "write"}, "write"),  # older servers
        ],
    )
    def test_exact(self, api: GitHubApi, tracker: IssueTracker, answer: dict[str, str], role: str) -> None:
        api.roles["ann"] = answer
        assert tracker.fetch_role("ann") == role
        assert len(api.requests) == 1

    @pytest.mark.parametrize("status", [0, 301, 401, 403, 404, 429, 500])
    def test_errors_mean_none(self, api: GitHubApi, tracker: IssueTracker, status: int) -> None:
        api.roles["ann"] = {"role_name": "admin"}
        api.faults = [ApiFault("permission", status, {"message": "no"}, {"location": f"{api.url}/x"})]
        assert tracker.fetch_role("ann") == "none"

    def test_a_proxy_in_the_way_is_no_role(self, api: GitHubApi, tracker: IssueTracker) -> None:
        api.faults = [ApiFault("permission", 407)]
        with pytest.raises(GitHubUnavailable, match="proxy"):
            tracker.fetch_role("ann")

    def test_a_bots_login(self, api: GitHubApi, tracker: IssueTracker) -> None:
        api.roles["app[bot]"] = {"role_name": "write"}
        assert tracker.fetch_role("app[bot]") == "write"


def test_an_enterprise_server() -> None:
    with serve_github_api("/api/v3") as api:
        api.add_issue()
        api.viewer = "app[bot]"
        api.add_comment(MARKED, "app[bot]")
        tracker = IssueTracker(JOB_TOKEN, SLUG, api.url, seconds_between_writes=0.0)
        assert tracker.fetch_issue(7).thread[0].ours
        assert set(api.request_lines("POST")) == {"POST /api/graphql"}
        assert all(line.split()[1].startswith("/api/") for line in api.request_lines())


def test_two_threads_may_use_it(api: GitHubApi, tracker: IssueTracker) -> None:
    found: list[int | None] = []
    threads = [threading.Thread(target=lambda: found.append(tracker.fetch_issue(7).number)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [7] * 4
