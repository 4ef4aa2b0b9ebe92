"""What we change of PyGithub, by its public ways: an upgrade that takes one of them away fails here."""

import pytest
from github import Github
from github.GithubException import GithubException

from testing.servers.github_api import ApiFault, GitHubApi
from tests.github.conftest import OpenTracker
from triage.base.errors import IssueMoved
from triage.github.issue_tracker import IssueTracker


def test_our_connections_are_for_our_client_only(api: GitHubApi, tracker: IssueTracker) -> None:
    """Another client of this process follows redirects, as PyGithub does."""
    tracker.fetch_issue(7)
    api.requests.clear()
    api.faults = [ApiFault("x$", 301, {}, {"location": f"{api.url}/y"})]
    other = Github(base_url=api.url, retry=None)
    with pytest.raises(GithubException):
        other.requester.requestJsonAndCheck("GET", "/x")
    other.close()
    assert api.request_lines() == ["GET /x", "GET /y"]


def test_redirects_are_not_followed(api: GitHubApi, open_tracker: OpenTracker) -> None:
    api.faults = [ApiFault("issues/7$", 301, {}, {"location": f"{api.url}/repositories/5/issues/7"})]
    with pytest.raises(IssueMoved):
        open_tracker().fetch_issue(7)
    assert len(api.requests) == 1
