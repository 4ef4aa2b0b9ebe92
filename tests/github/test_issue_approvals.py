"""Reactions, issue types and assignees are set once, and only counted as set if GitHub shows them."""

from functools import partial

import pytest

from testing.servers.github_api import JOB_TOKEN, SLUG, ApiFault, GitHubApi
from testing.servers.issue_writes_api import IssueWritesApi
from triage.base.errors import CannotPublish, NoSuchComment, PermissionMissing
from triage.github.issue_approvals import GitHubIssueApprovals

BOT = "github-actions[bot]"


@pytest.fixture
def writes(api: GitHubApi) -> IssueWritesApi:
    api.add_comment("/triage apply 0123456789ab", "mona")
    return IssueWritesApi(api)


class TestReactions:
    def test_the_same_twice_is_one(self, writes: IssueWritesApi, approvals: GitHubIssueApprovals) -> None:
        approvals.react(5000, "+1")
        approvals.react(5000, "+1")
        approvals.react(5000, "confused")
        assert writes.reactions == [(5000, BOT, "+1"), (5000, BOT, "confused")]
        assert writes.api.request_lines()[0] == f"POST /repos/{SLUG}/issues/comments/5000/reactions"

    @pytest.mark.parametrize("stored", [True, False])
    @pytest.mark.parametrize("status", [0, 502])
    def test_a_lost_answer(
        self, writes: IssueWritesApi, approvals: GitHubIssueApprovals, status: int, stored: bool
    ) -> None:
        writes.api.faults = [ApiFault("POST", status, b"", stored=stored, times=1)]
        approvals.react(5000, "eyes")
        assert writes.reactions == [(5000, BOT, "eyes")]

    def test_a_deleted_comment(self, writes: IssueWritesApi, approvals: GitHubIssueApprovals) -> None:
        with pytest.raises(NoSuchComment):
            approvals.react(4999, "eyes")


class TestIssueType:
    def test_it_is_set(self, writes: IssueWritesApi, approvals: GitHubIssueApprovals) -> None:
        approvals.set_issue_type(7, "bug")
        approvals.set_issue_type(7, "Bug")
        assert writes.api.issues[7]["type"] == "Bug"

    def test_one_that_does_not_exist(self, writes: IssueWritesApi, approvals: GitHubIssueApprovals) -> None:
        with pytest.raises(CannotPublish, match="GitHub answered 422"):
            approvals.set_issue_type(7, "Story")

    def test_one_that_github_leaves_out(self, writes: IssueWritesApi, approvals: GitHubIssueApprovals) -> None:
        writes.may_triage = False
        with pytest.raises(CannotPublish, match="did not set the issue type"):
            approvals.set_issue_type(7, "Bug")


class TestAssignees:
    def test_one_is_added_beside_others(self, writes: IssueWritesApi, approvals: GitHubIssueApprovals) -> None:
        writes.api.issues[7]["assignees"] = ["mona"]
        approvals.add_assignee(7, "OctoCat")
        approvals.add_assignee(7, "octocat")
        assert writes.api.issues[7]["assignees"] == ["mona", "octocat"]

    def test_somebody_who_cannot_be_assigned(self, writes: IssueWritesApi, approvals: GitHubIssueApprovals) -> None:
        with pytest.raises(CannotPublish, match="did not assign the issue"):
            approvals.add_assignee(7, "mallory")
        writes.may_triage = False
        with pytest.raises(CannotPublish, match="did not assign the issue"):
            approvals.add_assignee(7, "mona")


@pytest.mark.parametrize("stored", [True, False])
def test_lost_answers(writes: IssueWritesApi, approvals: GitHubIssueApprovals, stored: bool) -> None:
    for write in (partial(approvals.set_issue_type, 7, "Bug"), partial(approvals.add_assignee, 7, "mona")):
        writes.api.faults = [ApiFault("(PATCH|POST)", 502, b"", stored=stored, times=1)]
        write()
    assert (writes.api.issues[7]["type"], writes.api.issues[7]["assignees"]) == ("Bug", ["mona"])


def test_a_token_that_may_only_read(writes: IssueWritesApi, approvals: GitHubIssueApprovals) -> None:
    writes.api.denied[JOB_TOKEN] = {"issues"}
    for write in (
        partial(approvals.react, 5000, "+1"),
        partial(approvals.set_issue_type, 7, "Bug"),
        partial(approvals.add_assignee, 7, "mona"),
    ):
        with pytest.raises(PermissionMissing, match="`permissions: issues: write`"):
            write()


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"type": 5, "assignees": 5}'])
def test_an_answer_that_cannot_be_read(writes: IssueWritesApi, approvals: GitHubIssueApprovals, body: bytes) -> None:
    writes.api.faults = [ApiFault("(PATCH|POST)", 200, body)]
    for write in (partial(approvals.set_issue_type, 7, "Bug"), partial(approvals.add_assignee, 7, "mona")):
        with pytest.raises(CannotPublish):
            write()
