"""Responses that never end, or that are nested so deeply that no parser reads them."""

from collections.abc import Callable

import pytest
from pydantic import BaseModel

from testing.servers.endless_body import EndlessBody
from testing.servers.github_api import ApiFault, GitHubApi
from tests.github.conftest import OpenTracker
from triage.base.errors import CannotPublish, GitHubUnavailable, PermissionMissing
from triage.github.github_client import MAX_RESPONSE_BYTES
from triage.github.graphql import MAX_NODES, CommentPage, IssueNode, NodePage
from triage.github.issue_tracker import IssueTracker
from triage.github.suggestions import TargetList

TOO_LARGE = r"GitHub sent an answer larger than 20 MB\. Something else may answer in its place: check GITHUB_API_URL"
UNREADABLE = r"GitHub sent an answer that cannot be read\. Something else may answer in its place: check GITHUB_API_URL"
BUFFERS = 24_000_000
"""What the connection holds that nobody has read."""
Ask = Callable[[IssueTracker], object]
READS: list[Ask] = [
    lambda tracker: tracker.fetch_issue(7),
    lambda tracker: tracker.list_labels(),
    lambda tracker: tracker.list_recent_issues(5),
]


@pytest.mark.parametrize("status", [200, 404, 500])
@pytest.mark.parametrize("ask", READS)
def test_no_more_than_20_megabytes_are_read(api: GitHubApi, tracker: IssueTracker, ask: Ask, status: int):
    body = EndlessBody()
    api.faults = [ApiFault("GET", status, body)]
    with pytest.raises(GitHubUnavailable, match=TOO_LARGE):
        ask(tracker)
    assert abs(body.sent_bytes - MAX_RESPONSE_BYTES) < BUFFERS
    assert len(api.requests) == 1, "the next answer would be as long"


def test_the_limit_counts_what_was_compressed(api: GitHubApi, tracker: IssueTracker):
    body = EndlessBody(gzipped=True)
    api.faults = [ApiFault("GET", 200, body)]
    with pytest.raises(GitHubUnavailable, match=TOO_LARGE):
        tracker.fetch_issue(7)


def test_a_compressed_answer_is_not_asked_for(api: GitHubApi, tracker: IssueTracker):
    tracker.fetch_issue(7)
    assert {request.headers["accept-encoding"] for request in api.requests} == {"identity"}


def test_a_connection_is_used_again_after_an_answer_that_was_too_large(api: GitHubApi, tracker: IssueTracker):
    api.faults = [ApiFault("GET", 200, EndlessBody(), times=1)]
    with pytest.raises(GitHubUnavailable):
        tracker.fetch_issue(7)
    assert tracker.fetch_issue(7).number == 7


@pytest.mark.parametrize("depth", [100, 400, 900, 5_000, 100_000])
@pytest.mark.parametrize("start", [b"[", b'{"number":', b'{"message":', b'{"pull_request":['])
@pytest.mark.parametrize("status", [200, 403])
def test_nested_json_is_an_unreadable_answer(
    api: GitHubApi, open_tracker: OpenTracker, start: bytes, depth: int, status: int
):
    ends = start.translate(bytes.maketrans(b"[{", b"]}"), b'"":abcdefghijklmnopqrstuvwxyz_')[::-1]
    whole = start * depth + b"1" + ends * depth
    api.faults = [ApiFault("GET", status, whole)]
    if status == 200:
        with pytest.raises(GitHubUnavailable, match=UNREADABLE):
            open_tracker().fetch_issue(7)
    else:
        with pytest.raises((GitHubUnavailable, PermissionMissing)):
            open_tracker().fetch_issue(7)


@pytest.mark.parametrize("body", [EndlessBody(), b"[" * 100_000, b'{"id":' * 100_000])
def test_a_write_whose_answer_is_unusable_is_found_again(api: GitHubApi, tracker: IssueTracker, body: object):
    api.faults = [ApiFault("POST", 201, body, stored=True)]
    assert tracker.post_comment(7, "<!-- bug-triage: v1 {} -->\nwords")[0] == api.comments[0]["id"]
    assert len(api.comments) == 1


@pytest.mark.parametrize("body", [EndlessBody(), b"[" * 100_000])
def test_a_write_that_is_not_found_says_why(api: GitHubApi, tracker: IssueTracker, body: object):
    api.faults = [ApiFault("POST", 201, body)]
    with pytest.raises(CannotPublish, match="could not be written to the issue: GitHub sent an answer"):
        tracker.post_comment(7, "words")
    assert api.comments == []


@pytest.mark.parametrize("page", [NodePage, CommentPage, TargetList])
def test_a_longer_list_than_was_asked_for_is_cut_before_it_is_checked(page: type[BaseModel]):
    checked = page.model_validate({"nodes": [{"fullDatabaseId": 1}] * MAX_NODES + ["not checked"] * 5_000})
    assert len(checked.model_dump()["nodes"]) == MAX_NODES


def test_a_list_inside_a_list_is_cut_too():
    issue = {"number": 1, "createdAt": "2026-11-01T10:00:00Z", "labels": {"nodes": [{"name": "bug"}] * 5_000}}
    [found] = NodePage.model_validate({"nodes": [issue]}).parse(IssueNode)
    assert len(found.label_names) == MAX_NODES
