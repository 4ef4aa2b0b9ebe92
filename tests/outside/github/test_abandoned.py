"""A tracker whose caller leaves: it sends nothing more, and waits no longer than the caller."""

import gc

import pytest

from testing.abandoned_work import AbandonedWork
from testing.servers.github_api import ApiFault, ApiRequest, GitHubApi
from tests.outside.github.conftest import OpenTracker
from triage.base.threads import Abandoned


@pytest.mark.parametrize(
    ("trouble", "asked"),
    [
        (ApiFault("issues/7$", 403, {"message": "slow down"}, {"retry-after": "40"}), 1),
        (ApiFault("issues/7/comments", 200, [], delay_seconds=1.0), 2),
    ],
    ids=["while it waits for a limit", "while GitHub answers"],
)
async def test_nothing_is_sent_when_the_caller_has_left(
    api: GitHubApi, open_tracker: OpenTracker, trouble: ApiFault, asked: int
):
    api.faults = [trouble]
    tracker = open_tracker(max_wait_seconds=60.0)
    abandoned = AbandonedWork()

    def note(_: ApiRequest) -> None:
        if len(api.requests) == asked:
            abandoned.there.set()

    api.on_request = note

    def work() -> None:
        tracker.fetch_issue(7)
        tracker.list_labels()

    await abandoned.run(work)
    assert isinstance(abandoned.outcome, Abandoned)
    assert len(api.requests) == asked
    abandoned.outcome = None
    gc.collect()  # else it is told in a later test
