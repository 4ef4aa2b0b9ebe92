"""After an unclear write the comments are read again, a few times and while there is time."""

from dataclasses import replace

import pytest

from testing.servers.github_api import SLUG, ApiFault, GitHubApi
from triage.base.errors import CannotPublish, GitHubUnavailable
from triage.base.threads import in_thread
from triage.domain.effect import COMMENT_MARKER
from triage.outside.github.comments import LOOK_SECONDS, WAITS_BEFORE_ENDING, WAITS_BEFORE_POSTING
from triage.outside.github.issue_tracker import IssueTracker
from triage.say.hidden_state import CommentState, render_state

BOT = "github-actions[bot]"
BODY = render_state(CommentState(text="1" * 16)) + "\nHello"
POST = f"POST /repos/{SLUG}/issues/7/comments"
LIST = f"GET /repos/{SLUG}/issues/7/comments"
LOST = {
    "stored, then 502": ApiFault("POST .*comments", 502, stored=True, times=1),
    "stored, then cut": ApiFault("POST .*comments", stored=True, times=1),
    "never arrived": ApiFault("POST .*comments", times=1),
}


def count_looks(tracker: IssueTracker) -> int:
    return next(looks for looks in range(100) if not tracker.wait_to_look_again(7))


def test_a_clear_write_needs_no_further_look(api: GitHubApi, tracker: IssueTracker) -> None:
    tracker.fetch_issue(7)
    posted, _ = tracker.post_comment(7, BODY)
    tracker.fetch_issue(7, posted)
    tracker.edit_comment(7, posted, BODY)
    tracker.delete_comment(7, posted)
    assert count_looks(tracker) == 0


@pytest.mark.parametrize("name", LOST)
def test_a_lost_answer_needs_a_few(api: GitHubApi, tracker: IssueTracker, name: str) -> None:
    api.faults = [replace(LOST[name])]
    tracker.post_comment(7, BODY)
    assert count_looks(tracker) == len(WAITS_BEFORE_ENDING)
    assert count_looks(tracker) == 0


@pytest.mark.parametrize("verb", ["PATCH", "DELETE", "GET .*comments"])
def test_so_do_other_requests_that_stay_without_an_answer(api: GitHubApi, tracker: IssueTracker, verb: str) -> None:
    api.add_comment(BODY, BOT)
    mine = api.add_comment(BODY, BOT)["id"]
    tracker.fetch_issue(7)
    api.faults = [ApiFault(verb, 502)]
    body = f"{BODY}, again"
    with pytest.raises(CannotPublish):
        tracker.edit_comment(7, mine, body) if verb == "PATCH" else tracker.delete_comment(7, mine)
    assert count_looks(tracker) == len(WAITS_BEFORE_ENDING)


def test_so_does_a_list_that_lacks_our_comment(api: GitHubApi, tracker: IssueTracker) -> None:
    posted, _ = tracker.post_comment(7, BODY)
    api.hidden_comments = {posted: 1}
    tracker.fetch_issue(7, posted)
    assert count_looks(tracker) == len(WAITS_BEFORE_ENDING)


def test_what_could_not_be_read_before_the_post_needs_none(api: GitHubApi, tracker: IssueTracker) -> None:
    api.faults = [ApiFault(LIST, 502, times=3)]
    with pytest.raises(GitHubUnavailable):
        tracker.fetch_issue(7)
    tracker.fetch_issue(7, tracker.post_comment(7, BODY)[0])
    assert count_looks(tracker) == 0


def test_a_list_that_cannot_be_read_after_the_post_needs_a_few(api: GitHubApi, tracker: IssueTracker) -> None:
    posted, _ = tracker.post_comment(7, BODY)
    api.faults = [ApiFault(LIST, 502)]
    with pytest.raises(GitHubUnavailable):
        tracker.fetch_issue(7, posted)
    assert count_looks(tracker) == len(WAITS_BEFORE_ENDING)


async def test_no_wait_takes_the_time_of_the_look(api: GitHubApi, tracker: IssueTracker) -> None:
    api.faults = [ApiFault("POST .*comments", stored=True, times=1)]

    def post() -> bool:
        tracker.post_comment(7, BODY)
        return tracker.wait_to_look_again(7)

    assert not await in_thread(post, seconds=LOOK_SECONDS)


@pytest.mark.parametrize(("hidden", "posts"), [(len(WAITS_BEFORE_POSTING) - 1, 1), (len(WAITS_BEFORE_POSTING), 2)])
def test_a_lost_comment_is_looked_for_before_it_is_posted_again(
    api: GitHubApi, tracker: IssueTracker, hidden: int, posts: int
) -> None:
    tracker.fetch_issue(7)
    api.faults = [ApiFault("POST .*comments", 502, stored=True, times=1)]
    api.list_lag = lambda: hidden
    tracker.post_comment(7, BODY)
    assert len(api.request_lines(POST)) == posts


def test_a_list_that_cannot_be_read_is_read_again_before_posting(api: GitHubApi, tracker: IssueTracker) -> None:
    tracker.fetch_issue(7)
    api.faults = [ApiFault("POST .*comments", 502, stored=True, times=1), ApiFault(LIST, 502, times=6)]
    assert tracker.post_comment(7, BODY)[0] == 5000
    assert [comment["body"].startswith(COMMENT_MARKER) for comment in api.comments] == [True]
