"""A pull request is opened once, as a patch, from a branch of this repository; a refusal says what to switch on."""

from dataclasses import dataclass

import pytest

from testing.servers.git_data_api import GitDataApi
from testing.servers.github_api import JOB_TOKEN, SERVER_ERROR_TEXT, SLUG, ApiFault
from testing.servers.pull_requests_api import PullRequestsApi
from tests.outside.github.conftest import BASE_FILES
from triage.base.errors import CannotPublish, PermissionMissing, PullRequestRefused, TriageError
from triage.domain.proposal import PullRequest
from triage.fix.proposal_store import GitHubProposalStore

BRANCH = "triage/7-round-totals"
POST = f"POST /repos/{SLUG}/pulls"
SETTING = '"Allow GitHub Actions to create and approve pull requests" (Settings > Actions > General)'


@dataclass(frozen=True)
class Hub:
    """GitHub with a branch of ours, and what opens a pull request from it."""

    git: GitDataApi
    pulls: PullRequestsApi
    store: GitHubProposalStore
    commit: str
    """Of the branch."""

    def open_pull_request(self) -> PullRequest:
        return self.store.open_pull_request(BRANCH, self.commit, "[#7] Round totals", "Made by a model.")


@pytest.fixture
def hub(git: GitDataApi, pulls: PullRequestsApi, store: GitHubProposalStore) -> Hub:
    commit = git.commit({**BASE_FILES, "a": ""}, git.refs["refs/heads/main"])
    return Hub(git, pulls, store, git.set_ref(f"refs/heads/{BRANCH}", commit))


class TestOpening:
    def test_a_draft_into_the_default_branch(self, hub: Hub) -> None:
        url = f"https://github.test/{SLUG}/pull/100"
        assert hub.open_pull_request() == PullRequest(number=100, url=url)
        assert [(one["title"], one["draft"]) for one in hub.pulls.pulls] == [("[#7] Round totals", True)]
        repo = f"/repos/{SLUG}"
        assert hub.git.api.request_lines() == [
            f"GET {repo}",
            f"GET {repo}/pulls",
            POST,
            f"GET {repo}/pulls",
            f"GET {repo}",
        ]

    def test_one_that_is_closed_does_not_count(self, hub: Hub) -> None:
        hub.pulls.add(BRANCH, state="closed")
        assert hub.open_pull_request().number == 101
        assert [one["state"] for one in hub.pulls.pulls] == ["closed", "open"]

    def test_one_into_another_branch_does_not_count(self, hub: Hub) -> None:
        """Somebody opened it beforehand: the branch's name can be guessed."""
        hub.pulls.add(BRANCH, base={"ref": "release-1"})
        assert hub.open_pull_request().number == 101
        assert hub.pulls.pulls[-1]["base"]["ref"] == "main"

    def test_one_with_other_commits_does_not_count(self, hub: Hub) -> None:
        hub.git.set_ref(f"refs/heads/{BRANCH}", hub.git.commit({**BASE_FILES, "b": ""}, hub.commit))
        hub.pulls.add(BRANCH)
        with pytest.raises(CannotPublish):
            hub.open_pull_request()
        assert len(hub.pulls.pulls) == 1

    @pytest.mark.parametrize("hidden", [0, 2])
    @pytest.mark.parametrize(
        ("status", "body", "stored"),
        [(0, b"", True), (0, b"", False), (502, b"<html>", True), (502, b"<html>", False), (201, b"{}", True)],
    )
    def test_a_lost_answer_never_ends_with_two(
        self, hub: Hub, status: int, body: bytes, stored: bool, hidden: int
    ) -> None:
        hub.git.api.faults = [ApiFault(POST, status, body, stored=stored, times=1)]
        hub.pulls.hidden_lists = 1 + hidden
        assert hub.open_pull_request().number == 100
        assert len(hub.pulls.pulls) == 1
        assert len(hub.git.api.request_lines(POST)) == (1 if stored else 2)

    def test_what_cannot_be_looked_up_is_not_opened_again(self, hub: Hub) -> None:
        hub.git.api.faults = [
            ApiFault("GET .*/pulls", 200, [], times=1),
            ApiFault(POST, 502),
            ApiFault("GET .*/pulls", 500),
        ]
        with pytest.raises(CannotPublish, match="GitHub answered 500"):
            hub.open_pull_request()
        assert len(hub.git.api.request_lines(POST)) == 1


class TestRefusals:
    def test_the_setting_is_off(self, hub: Hub) -> None:
        hub.pulls.lets_actions_open = False
        with pytest.raises(PullRequestRefused) as caught:
            hub.open_pull_request()
        assert str(caught.value) == f"The pull request could not be opened in {SLUG}: switch on {SETTING}."

    def test_the_permission_is_missing(self, hub: Hub) -> None:
        hub.git.api.denied[JOB_TOKEN] = {"pull-requests"}
        with pytest.raises(PullRequestRefused, match="`permissions: pull-requests: write`") as caught:
            hub.open_pull_request()
        assert SETTING in str(caught.value)
        assert hub.pulls.pulls == []

    def test_no_drafts(self, hub: Hub) -> None:
        hub.pulls.knows_drafts = False
        with pytest.raises(PullRequestRefused, match="Open it by hand"):
            hub.open_pull_request()
        assert hub.pulls.pulls == []

    @pytest.mark.parametrize(
        ("status", "message", "error", "words"),
        [
            (401, "Bad credentials", PermissionMissing, "GitHub does not accept the token"),
            (404, "Not Found", PullRequestRefused, "pull-requests: write"),
            (422, "GitHub Actions is not permitted to create or approve pull requests.", PullRequestRefused, SETTING),
            (422, "Validation Failed", PullRequestRefused, SETTING),
            (403, "Repository was archived so is read-only.", CannotPublish, "the repository is archived"),
            (429, "Slow down", CannotPublish, "rate limit is used up"),
        ],
    )
    def test_who_must_act(self, hub: Hub, status: int, message: str, error: type[TriageError], words: str) -> None:
        hub.git.api.faults = [ApiFault(POST, status, {"message": message, "x": SERVER_ERROR_TEXT})]
        with pytest.raises(error) as caught:
            hub.open_pull_request()
        assert type(caught.value) is error
        assert words in str(caught.value)
        assert SERVER_ERROR_TEXT not in str(caught.value)
        assert hub.pulls.pulls == []

    def test_a_branch_without_commits_of_its_own(self, hub: Hub) -> None:
        hub.git.set_ref("refs/heads/triage/7-x", hub.git.refs["refs/heads/main"])
        with pytest.raises(PullRequestRefused, match="GitHub answered 422"):
            hub.store.open_pull_request("triage/7-x", hub.git.refs["refs/heads/main"], "x", "y")


class TestFinding:
    def test_the_one_that_is_open(self, hub: Hub) -> None:
        hub.pulls.add(BRANCH, draft=True)
        hub.pulls.add(BRANCH, state="closed")
        hub.pulls.add("triage/7-round-totals-2")
        assert hub.open_pull_request().number == 100

    @pytest.mark.parametrize("repository", ["mallory/shop", None])
    def test_the_same_branch_of_another_repository(self, hub: Hub, repository: str | None) -> None:
        hub.pulls.add(BRANCH, repository=repository)
        everything = list(hub.pulls.pulls)
        hub.git.api.faults = [ApiFault("GET .*/pulls", 200, everything)]  # as if GitHub did not read the filter
        with pytest.raises(PullRequestRefused):
            hub.open_pull_request()

    @pytest.mark.parametrize("body", [b"{}", [{"number": 1}], b"<html>"])
    def test_an_answer_that_cannot_be_read_is_not_none(self, hub: Hub, body: object) -> None:
        hub.git.api.faults = [ApiFault("GET .*/pulls", 200, body)]
        with pytest.raises(CannotPublish):
            hub.open_pull_request()
        assert hub.pulls.pulls == []
