"""Reactions are set once."""

import pytest

from testing.servers.github_api import JOB_TOKEN, SLUG, ApiFault, GitHubApi
from testing.servers.issue_writes_api import IssueWritesApi
from triage.base.errors import NoSuchComment, PermissionMissing
from triage.outside.github.issue_tracker import IssueTracker

BOT = "github-actions[bot]"


@pytest.fixture
def writes(api: GitHubApi) -> IssueWritesApi:
    api.add_comment("/triage approve 0123456789ab", "mona")
    return IssueWritesApi(api)


class TestReactions:
    def test_the_same_twice_is_one(self, writes: IssueWritesApi, tracker: IssueTracker) -> None:
        tracker.react(5000, "+1")
        tracker.react(5000, "+1")
        tracker.react(5000, "confused")
        assert writes.reactions == [(5000, BOT, "+1"), (5000, BOT, "confused")]
        assert writes.api.request_lines()[0] == f"POST /repos/{SLUG}/issues/comments/5000/reactions"

    @pytest.mark.parametrize("stored", [True, False])
    @pytest.mark.parametrize("status", [0, 502])
    def test_a_lost_answer(self, writes: IssueWritesApi, tracker: IssueTracker, status: int, stored: bool) -> None:
        writes.api.faults = [ApiFault("POST", status, b"", stored=stored, times=1)]
        tracker.react(5000, "eyes")
        assert writes.reactions == [(5000, BOT, "eyes")]

    def test_a_deleted_comment(self, writes: IssueWritesApi, tracker: IssueTracker) -> None:
        with pytest.raises(NoSuchComment):
            tracker.react(4999, "eyes")


def test_a_token_that_may_only_read(writes: IssueWritesApi, tracker: IssueTracker) -> None:
    writes.api.denied[JOB_TOKEN] = {"issues"}
    with pytest.raises(PermissionMissing, match="`permissions: issues: write`"):
        tracker.react(5000, "+1")
