"""GitHub on loopback, and clients that talk to it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from testing.servers.git_data_api import GitDataApi
from testing.servers.github_api import JOB_TOKEN, SLUG, GitHubApi, serve_github_api
from testing.servers.pull_requests_api import PullRequestsApi
from triage.fix.proposal_store import GitHubProposalStore
from triage.outside.github.issue_tracker import IssueTracker

OpenTracker = Callable[..., IssueTracker]
OpenStore = Callable[..., GitHubProposalStore]
QUICK: dict[str, Any] = {
    "seconds_between_writes": 0.0,
    "backoff_seconds": 0.0,
    "max_wait_seconds": 0.0,
    "timeout_seconds": 5,
    "reread_seconds": 0.0,
}
BASE_FILES: dict[str, str | bytes] = {
    "README.md": "Shop\n",
    "shop/cart.py": "def total(prices):\r\n    return sum(prices)\r\n",
    "shop/tests/test_cart.py": "def test_nothing():\n    assert True\n",
    "tools/run.sh": "#!/bin/sh\n",
}


@pytest.fixture(autouse=True)
def no_wait_between_writes() -> None:
    """The clients here wait as they are told: the waits are tested too."""


@pytest.fixture
def api() -> Iterator[GitHubApi]:
    with serve_github_api() as running:
        running.add_issue()
        yield running


@pytest.fixture
def open_tracker(api: GitHubApi) -> OpenTracker:
    """Opens trackers that do not wait."""

    def open_one(token: str = JOB_TOKEN, **options: Any) -> IssueTracker:
        return IssueTracker(token, SLUG, api.url, **(QUICK | options))

    return open_one


@pytest.fixture
def tracker(open_tracker: OpenTracker) -> IssueTracker:
    return open_tracker()


@pytest.fixture
def git(api: GitHubApi, tmp_path: Path) -> GitDataApi:
    """A repository whose `main` has one commit."""
    server = GitDataApi(api, tmp_path)
    server.set_ref("refs/heads/main", server.commit(BASE_FILES))
    return server


@pytest.fixture
def pulls(git: GitDataApi) -> PullRequestsApi:
    return PullRequestsApi(git)


@pytest.fixture
def open_store(api: GitHubApi, pulls: PullRequestsApi) -> OpenStore:
    """Opens stores that do not wait."""

    def open_one(token: str = JOB_TOKEN, **options: Any) -> GitHubProposalStore:
        return GitHubProposalStore(token, SLUG, api.url, **(QUICK | options))

    return open_one


@pytest.fixture
def store(open_store: OpenStore) -> GitHubProposalStore:
    return open_store()
