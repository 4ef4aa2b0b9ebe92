"""GitHub on loopback, and a tracker that talks to it."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from testing.servers.github_api import JOB_TOKEN, SLUG, GitHubApi, serve_github_api
from triage.adapters.github.issue_tracker import IssueTracker

OpenTracker = Callable[..., IssueTracker]


@pytest.fixture
def api() -> Iterator[GitHubApi]:
    with serve_github_api() as running:
        running.add_issue()
        yield running


@pytest.fixture
def open_tracker(api: GitHubApi) -> Iterator[OpenTracker]:
    """Opens trackers that do not wait, and closes them."""
    trackers: list[IssueTracker] = []

    def open_one(token: str = JOB_TOKEN, **options: Any) -> IssueTracker:
        quick = {"seconds_between_writes": 0.0, "backoff_seconds": 0.0, "max_wait_seconds": 0.0, "read_seconds": 5.0}
        quick["reread_seconds"] = 0.0
        trackers.append(IssueTracker(token, SLUG, api.url, **(quick | options)))
        return trackers[-1]

    yield open_one
    for tracker in trackers:
        tracker.close()


@pytest.fixture
def tracker(open_tracker: OpenTracker) -> IssueTracker:
    return open_tracker()
