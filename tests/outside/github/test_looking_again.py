"""After an unclear write the comments are read again before one is posted twice."""

import pytest

from testing.servers.github_api import SLUG, ApiFault, GitHubApi
from triage.domain.effect import COMMENT_MARKER
from triage.outside.github.comments import WAITS_BEFORE_POSTING
from triage.outside.github.issue_tracker import IssueTracker
from triage.say.hidden_state import CommentState, render_state

BOT = "github-actions[bot]"
BODY = render_state(CommentState(text="1" * 16)) + "\nHello"
POST = f"POST /repos/{SLUG}/issues/7/comments"
LIST = f"GET /repos/{SLUG}/issues/7/comments"


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
