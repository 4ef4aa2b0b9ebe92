"""A pull request is opened once, as a draft, from a branch of this repository; a refusal says what to switch on."""

import pytest

from testing.servers.git_data_api import GitDataApi
from testing.servers.github_api import JOB_TOKEN, SERVER_ERROR_TEXT, SLUG, ApiFault
from testing.servers.pull_requests_api import PullRequestsApi
from tests.outside.github.conftest import BASE_FILES
from triage.base.errors import CannotPublish, GitHubUnavailable, PermissionMissing, PullRequestRefused, TriageError
from triage.domain.proposal import PullRequest
from triage.fix.github.proposal_store import GitHubProposalStore

BRANCH = "triage/7-round-totals"
POST = f"POST /repos/{SLUG}/pulls"
SETTING = '"Allow GitHub Actions to create and approve pull requests" (Settings > Actions > General)'


@pytest.fixture
def branch(git: GitDataApi) -> str:
    git.set_ref(f"refs/heads/{BRANCH}", git.commit({**BASE_FILES, "a": ""}, git.refs["refs/heads/main"]))
    return BRANCH


@pytest.fixture
def commit(git: GitDataApi, branch: str) -> str:
    """Of the branch."""
    return git.refs[f"refs/heads/{branch}"]


def open_it(store: GitHubProposalStore, branch: str, commit: str) -> PullRequest:
    return store.open_pull_request(branch, commit, "[#7] Round totals", "Made by a model.")


class TestOpening:
    def test_a_draft_into_the_default_branch(
        self, git: GitDataApi, pulls: PullRequestsApi, store: GitHubProposalStore, branch: str, commit: str
    ) -> None:
        url = f"https://github.test/{SLUG}/pull/100"
        assert open_it(store, branch, commit) == PullRequest(number=100, url=url, body="Made by a model.")
        assert [(one["title"], one["draft"]) for one in pulls.pulls] == [("[#7] Round totals", True)]
        repo = f"/repos/{SLUG}"
        assert git.api.request_lines() == [f"GET {repo}", f"GET {repo}/pulls", POST, f"GET {repo}/pulls"]

    def test_one_that_is_closed_does_not_count(
        self, pulls: PullRequestsApi, store: GitHubProposalStore, branch: str, commit: str
    ) -> None:
        pulls.add(branch, state="closed")
        assert open_it(store, branch, commit).number == 101
        assert [one["state"] for one in pulls.pulls] == ["closed", "open"]

    def test_one_into_another_branch_does_not_count(
        self, pulls: PullRequestsApi, store: GitHubProposalStore, branch: str, commit: str
    ) -> None:
        """Somebody opened it beforehand: the branch's name can be guessed."""
        pulls.add(branch, base={"ref": "release-1"})
        assert store.find_pull_request(branch, commit) is None
        assert open_it(store, branch, commit).number == 101
        assert pulls.pulls[-1]["base"]["ref"] == "main"

    def test_one_with_other_commits_does_not_count(
        self, git: GitDataApi, pulls: PullRequestsApi, store: GitHubProposalStore, branch: str, commit: str
    ) -> None:
        git.set_ref(f"refs/heads/{branch}", git.commit({**BASE_FILES, "b": ""}, commit))
        pulls.add(branch)
        with pytest.raises(CannotPublish):
            open_it(store, branch, commit)
        assert len(pulls.pulls) == 1

    @pytest.mark.parametrize("hidden", [0, 2])
    @pytest.mark.parametrize(
        ("status", "body", "stored"),
        [(0, b"", True), (0, b"", False), (502, b"<html>", True), (502, b"<html>", False), (201, b"{}", True)],
    )
    def test_a_lost_answer_never_ends_with_two(
        self,
        git: GitDataApi,
        pulls: PullRequestsApi,
        store: GitHubProposalStore,
        branch: str,
        commit: str,
        status: int,
        body: bytes,
        stored: bool,
        hidden: int,
    ) -> None:
        git.api.faults = [ApiFault(POST, status, body, stored=stored, times=1)]
        pulls.hidden_lists = 1 + hidden
        assert open_it(store, branch, commit).number == 100
        assert len(pulls.pulls) == 1
        assert len(git.api.request_lines(POST)) == (1 if stored else 2)

    def test_what_cannot_be_looked_up_is_not_opened_again(
        self, git: GitDataApi, pulls: PullRequestsApi, store: GitHubProposalStore, branch: str, commit: str
    ) -> None:
        git.api.faults = [
            ApiFault("GET .*/pulls", 200, [], times=1),
            ApiFault(POST, 502),
            ApiFault("GET .*/pulls", 500),
        ]
        with pytest.raises(CannotPublish, match="GitHub answered 500"):
            open_it(store, branch, commit)
        assert len(git.api.request_lines(POST)) == 1


class TestRefusals:
    def test_the_setting_is_off(
        self, pulls: PullRequestsApi, store: GitHubProposalStore, branch: str, commit: str
    ) -> None:
        pulls.lets_actions_open = False
        with pytest.raises(PullRequestRefused) as caught:
            open_it(store, branch, commit)
        assert str(caught.value) == f"The pull request could not be opened in {SLUG}: switch on {SETTING}."

    def test_the_permission_is_missing(
        self, git: GitDataApi, pulls: PullRequestsApi, store: GitHubProposalStore, branch: str, commit: str
    ) -> None:
        git.api.denied[JOB_TOKEN] = {"pull-requests"}
        with pytest.raises(PullRequestRefused, match="`permissions: pull-requests: write`") as caught:
            open_it(store, branch, commit)
        assert SETTING in str(caught.value)
        assert pulls.pulls == []

    def test_no_drafts(self, pulls: PullRequestsApi, store: GitHubProposalStore, branch: str, commit: str) -> None:
        pulls.knows_drafts = False
        with pytest.raises(PullRequestRefused, match="no draft pull requests in private repositories"):
            open_it(store, branch, commit)
        assert pulls.pulls == []

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
    def test_who_must_act(
        self,
        git: GitDataApi,
        pulls: PullRequestsApi,
        store: GitHubProposalStore,
        branch: str,
        commit: str,
        status: int,
        message: str,
        error: type[TriageError],
        words: str,
    ) -> None:
        git.api.faults = [ApiFault(POST, status, {"message": message, "x": SERVER_ERROR_TEXT})]
        with pytest.raises(error) as caught:
            open_it(store, branch, commit)
        assert type(caught.value) is error
        assert words in str(caught.value)
        assert SERVER_ERROR_TEXT not in str(caught.value)
        assert pulls.pulls == []

    def test_a_branch_without_commits_of_its_own(
        self, git: GitDataApi, pulls: PullRequestsApi, store: GitHubProposalStore
    ) -> None:
        git.set_ref("refs/heads/triage/7-x", git.refs["refs/heads/main"])
        with pytest.raises(PullRequestRefused, match="GitHub answered 422"):
            open_it(store, "triage/7-x", git.refs["refs/heads/main"])


class TestFinding:
    def test_the_one_that_is_open(
        self, pulls: PullRequestsApi, store: GitHubProposalStore, branch: str, commit: str
    ) -> None:
        pulls.add(branch, body="open", draft=True)
        pulls.add(branch, state="closed", body="newer")
        pulls.add("triage/7-round-totals-2")
        found = store.find_pull_request(branch, commit)
        assert found is not None
        assert (found.number, found.body) == (100, "open")

    @pytest.mark.parametrize("repository", ["mallory/shop", "octo/other", None])
    def test_the_same_branch_of_another_repository(
        self,
        git: GitDataApi,
        pulls: PullRequestsApi,
        store: GitHubProposalStore,
        branch: str,
        commit: str,
        repository: str | None,
    ) -> None:
        pulls.add(branch, repository=repository)
        everything = list(pulls.pulls)
        git.api.faults = [ApiFault("GET .*/pulls", 200, everything)]  # as if GitHub did not read the filter
        assert store.find_pull_request(branch, commit) is None

    def test_a_token_that_may_not_read_them(
        self, git: GitDataApi, store: GitHubProposalStore, branch: str, commit: str
    ) -> None:
        git.api.faults = [ApiFault("GET .*/pulls", 403, {"message": "Resource not accessible by integration"})]
        with pytest.raises(PermissionMissing, match="`permissions: pull-requests: write`"):
            store.find_pull_request(branch, commit)

    @pytest.mark.parametrize("body", [b"{}", [{"number": 1}], b"<html>"])
    def test_an_answer_that_cannot_be_read_is_not_none(
        self, git: GitDataApi, store: GitHubProposalStore, branch: str, commit: str, body: object
    ) -> None:
        git.api.faults = [ApiFault("GET .*/pulls", 200, body)]
        with pytest.raises(GitHubUnavailable):
            store.find_pull_request(branch, commit)
