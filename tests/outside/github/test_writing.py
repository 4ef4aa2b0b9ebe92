"""Writes happen once or not at all, whatever happens on the way."""

import itertools
from functools import partial

import pytest

from testing.servers.github_api import SERVER_ERROR_TEXT, SLUG, ApiFault, GitHubApi
from tests.outside.github.conftest import OpenTracker
from triage.base.errors import CannotPublish, NoSuchComment, NoSuchIssue, PermissionMissing, TriageError
from triage.domain.effect import COMMENT_MARKER
from triage.outside.github.issue_tracker import IssueTracker

BODY = f"{COMMENT_MARKER} state -->\r\nHello, 😀\n"
POST = f"POST /repos/{SLUG}/issues/7/comments"
TROUBLES = {
    "lost before": ApiFault(POST),
    "lost after": ApiFault(POST, stored=True),
    "502 before": ApiFault(POST, 502, b"<html>"),
    "502 after": ApiFault(POST, 502, b"<html>", stored=True),
    "503 with retry-after": ApiFault(POST, 503, {}, {"retry-after": "0"}, stored=True),
    "garbage after": ApiFault(POST, 201, b'{"id": ', stored=True),
    "other shape after": ApiFault(POST, 201, {"id": "x"}, stored=True),
    "silence before": ApiFault(POST, delay_seconds=9),
    "silence after": ApiFault(POST, delay_seconds=9, stored=True),
}


QUICK_TROUBLES = ["lost before", "lost after", "502 before", "502 after", "garbage after"]


def trouble(name: str, times: int) -> ApiFault:
    kind = TROUBLES[name]
    return ApiFault(kind.on, kind.status, kind.body, kind.headers, kind.stored, kind.delay_seconds, times)


def bodies(api: GitHubApi) -> list[str]:
    return [comment["body"] for comment in api.comments]


class TestPost:
    def test_returns_id_and_url(self, api: GitHubApi, tracker: IssueTracker) -> None:
        number, url = tracker.post_comment(7, BODY)
        assert (number, url) == (5000, f"https://github.com/{SLUG}/issues/7#issuecomment-5000")
        assert bodies(api) == [BODY]
        assert api.request_lines() == [POST]

    @pytest.mark.parametrize("name", TROUBLES)
    def test_one_error_still_ends_with_one_comment(self, api: GitHubApi, open_tracker: OpenTracker, name: str) -> None:
        api.add_comment("Me too", "ann")
        api.faults = [trouble(name, 1)]
        number, url = open_tracker(timeout_seconds=1).post_comment(7, BODY)
        assert bodies(api) == ["Me too", BODY]
        assert number == api.comments[1]["id"]
        assert url == api.comments[1]["html_url"]
        assert len(api.request_lines(POST)) == (1 if TROUBLES[name].stored else 2)

    @pytest.mark.parametrize(("first", "second"), list(itertools.product(QUICK_TROUBLES, repeat=2)))
    def test_two_errors_never_end_with_two_comments(
        self, api: GitHubApi, tracker: IssueTracker, first: str, second: str
    ) -> None:
        api.faults = [trouble(first, 1), trouble(second, 1)]
        if TROUBLES[first].stored or TROUBLES[second].stored:
            tracker.post_comment(7, BODY)
            assert bodies(api) == [BODY]
        else:
            with pytest.raises(CannotPublish, match=r"GitHub (did not answer|answered 502|sent an answer)"):
                tracker.post_comment(7, BODY)
            assert bodies(api) == []
        assert len(api.request_lines(POST)) <= 2

    def test_what_cannot_be_read_back_is_not_written_again(self, api: GitHubApi, tracker: IssueTracker) -> None:
        api.faults = [trouble("502 after", 1), ApiFault("GET .*comments", 500)]
        with pytest.raises(CannotPublish, match="GitHub answered 500"):
            tracker.post_comment(7, BODY)
        assert bodies(api) == [BODY]
        assert len(api.request_lines(POST)) == 1

    def test_it_is_found_on_the_last_page_and_with_other_line_ends(self, api: GitHubApi, tracker: IssueTracker) -> None:
        for _ in range(205):
            api.add_comment("noise")
        api.faults = [trouble("502 before", 1)]
        found = api.add_comment(BODY.replace("\r\n", "\n").strip(), "github-actions[bot]")
        assert tracker.post_comment(7, BODY)[0] == found["id"]

    def test_an_old_comment_of_ours_does_not_count_as_the_lost_one(self, api: GitHubApi, tracker: IssueTracker) -> None:
        api.add_comment(f"{COMMENT_MARKER} old -->", "github-actions[bot]")
        tracker.fetch_issue(7)
        api.faults = [trouble("502 before", 1)]
        assert tracker.post_comment(7, BODY)[0] == 5001


class TestRefusals:
    @pytest.mark.parametrize(
        ("status", "message", "error", "words"),
        [
            (401, "Bad credentials", PermissionMissing, "GitHub does not accept the token (401)"),
            (
                403,
                "Resource not accessible by integration",
                PermissionMissing,
                "Give the job `permissions: issues: write`",
            ),
            (403, "Forbidden", PermissionMissing, "Give the job `permissions: issues: write`"),
            (403, "Unable to create comment because issue is locked.", CannotPublish, "it is locked"),
            (422, "No commits between main and triage/7-the-archived-account-locked", CannotPublish, "answered 422"),
            (403, "Repository was archived so is read-only.", CannotPublish, "the repository is archived"),
            (404, "Not Found", CannotPublish, "GitHub answered 404, as for what was deleted meanwhile"),
            (410, "Issues are disabled for this repo", CannotPublish, "GitHub answered 410"),
            (422, "Body is too long (maximum is 65536 characters)", CannotPublish, "GitHub answered 422"),
            (429, "Slow down", CannotPublish, "rate limit is used up"),
            (403, "You have exceeded a secondary rate limit", CannotPublish, "rate limit is used up"),
            (301, "Moved Permanently", CannotPublish, "it was transferred meanwhile"),
            (307, "Temporary Redirect", CannotPublish, "it was transferred meanwhile"),
        ],
    )
    @pytest.mark.parametrize("verb", ["POST", "PATCH"])
    def test_who_must_act(
        self,
        api: GitHubApi,
        tracker: IssueTracker,
        verb: str,
        status: int,
        message: str,
        error: type[TriageError],
        words: str,
    ) -> None:
        api.add_comment("before", "github-actions[bot]")
        elsewhere = {"location": f"{api.url}/repositories/5/issues/7/comments"} if status < 400 else {}
        api.faults = [ApiFault(verb, status, {"message": message, "documentation_url": SERVER_ERROR_TEXT}, elsewhere)]
        write = partial(tracker.post_comment, 7) if verb == "POST" else partial(tracker.edit_comment, 5000)
        with pytest.raises(error) as caught:
            write(BODY)
        assert words in str(caught.value)
        assert SERVER_ERROR_TEXT not in str(caught.value)
        assert len(api.requests) == 1
        assert bodies(api) == ["before"]


class TestEdit:
    def test_replaces(self, api: GitHubApi, tracker: IssueTracker) -> None:
        comment = api.add_comment("before", "github-actions[bot]")
        assert tracker.edit_comment(5000, BODY) == comment["html_url"]
        assert bodies(api) == [BODY]

    @pytest.mark.parametrize("stored", [True, False])
    @pytest.mark.parametrize("status", [0, 502])
    def test_a_lost_answer(self, api: GitHubApi, tracker: IssueTracker, status: int, stored: bool) -> None:
        api.add_comment("before", "github-actions[bot]")
        api.faults = [ApiFault("PATCH", status, b"", stored=stored, times=1)]
        tracker.edit_comment(5000, BODY)
        assert bodies(api) == [BODY]
        assert len(api.request_lines("PATCH")) == (1 if stored else 2)
        assert len(api.request_lines("GET")) == 1

    def test_never_taken(self, api: GitHubApi, tracker: IssueTracker) -> None:
        api.add_comment("before", "github-actions[bot]")
        api.faults = [ApiFault("PATCH", 500, b"")]
        with pytest.raises(CannotPublish):
            tracker.edit_comment(5000, BODY)
        assert len(api.request_lines("PATCH")) == 2

    def test_a_deleted_comment(self, tracker: IssueTracker) -> None:
        with pytest.raises(NoSuchComment, match="deleted meanwhile"):
            tracker.edit_comment(404, BODY)


class TestLabels:
    def test_only_added_and_only_those_that_exist(self, api: GitHubApi, tracker: IssueTracker) -> None:
        api.issues[7]["labels"] = [{"name": "kept"}]
        tracker.add_labels(7, ["BUG", "invented", "good first issue", "a,b"])
        assert [label["name"] for label in api.issues[7]["labels"]] == ["kept", "bug", "Good First Issue"]
        assert api.created_labels == []

    @pytest.mark.parametrize("labels", [[], ["invented"]])
    def test_nothing_to_add_is_not_written(self, api: GitHubApi, tracker: IssueTracker, labels: list[str]) -> None:
        tracker.add_labels(7, labels)
        assert api.request_lines("POST") == []

    @pytest.mark.parametrize("stored", [True, False])
    def test_a_lost_answer(self, api: GitHubApi, tracker: IssueTracker, stored: bool) -> None:
        api.faults = [ApiFault("POST", stored=stored, times=1)]
        tracker.add_labels(7, ["bug"])
        assert [label["name"] for label in api.issues[7]["labels"]] == ["bug"]
        assert len(api.request_lines("POST")) == (1 if stored else 2)

    def test_a_label_that_is_not_taken_is_no_deleted_issue(self, api: GitHubApi, tracker: IssueTracker) -> None:
        api.faults = [ApiFault("POST", 422)]
        with pytest.raises(CannotPublish, match="A label could not be written to the issue: GitHub answered 422"):
            tracker.add_labels(7, ["bug"])

    def test_labels_that_cannot_be_read(self, api: GitHubApi, tracker: IssueTracker) -> None:
        api.faults = [ApiFault("GET .*labels", 404)]
        with pytest.raises(NoSuchIssue):
            tracker.add_labels(7, ["bug"])
        assert api.request_lines("POST") == []


def test_writes_are_spaced(api: GitHubApi, open_tracker: OpenTracker) -> None:
    tracker = open_tracker(seconds_between_writes=0.3)
    tracker.post_comment(7, BODY)
    tracker.edit_comment(5000, "again")
    assert api.requests[1].at - api.requests[0].at >= 0.29
