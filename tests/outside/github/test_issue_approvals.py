"""Reactions are set once."""

import pytest

from testing.fakes import FakeIssueApprovals
from testing.servers.github_api import JOB_TOKEN, SLUG, ApiFault, GitHubApi
from testing.servers.issue_writes_api import IssueWritesApi
from triage.base.errors import NoSuchComment, PermissionMissing
from triage.outside.github.issue_approvals import GitHubIssueApprovals

BOT = "github-actions[bot]"


@pytest.fixture
def writes(api: GitHubApi) -> IssueWritesApi:
    api.add_comment("/triage approve 0123456789ab", "mona")
    return IssueWritesApi(api)


class TestReactions:
    def test_the_same_twice_is_one(self, writes: IssueWritesApi, approvals: GitHubIssueApprovals) -> None:
        approvals.react(5000, "+1")
        approvals.react(5000, "+1")
        approvals.react(5000, "confused")
        assert writes.reactions == [(5000, BOT, "+1"), (5000, BOT, "confused")]
        assert writes.api.request_lines()[0] == f"POST /repos/{SLUG}/issues/comments/5000/reactions"

    def test_the_fake_answers_as_the_client_does(self, writes: IssueWritesApi, approvals: GitHubIssueApprovals) -> None:
        ours, fake = writes.api.add_comment("Ours", BOT)["id"], FakeIssueApprovals()
        record = approvals.read_comment_record(ours)
        assert record is not None
        fake.records[ours] = record
        for one in (approvals, fake):
            assert one.read_comment_record(ours) == record
            assert one.read_comment_record(ours + 1) is None
            one.react(ours, "rocket")
            one.react(ours, "rocket")
        assert fake.reactions == [(number, content) for number, _, content in writes.reactions]

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


def test_a_token_that_may_only_read(writes: IssueWritesApi, approvals: GitHubIssueApprovals) -> None:
    writes.api.denied[JOB_TOKEN] = {"issues"}
    with pytest.raises(PermissionMissing, match="`permissions: issues: write`"):
        approvals.react(5000, "+1")
