"""What a patch changes, and what of it is another file on the default branch now."""

import pytest

from testing.checkouts.git_repositories import git as run_git
from testing.servers.git_data_api import GitDataApi
from testing.servers.github_api import ApiFault
from tests.fix.proposal_requests import CART, FILES, TEST, TEST_FILES, make_messages, make_request, read_files
from tests.outside.github.conftest import BASE_FILES
from triage.base.errors import CannotPublish, GitHubUnavailable
from triage.domain.proposal import Proposal, TextFile
from triage.fix.proposal_store import GitHubProposalStore


@pytest.fixture
def proposal(git: GitDataApi, store: GitHubProposalStore) -> Proposal:
    new = {"shop/new/tax.py": TextFile(text="RATE = 1\n")}
    return store.save(*make_request(git.refs["refs/heads/main"], files={**FILES, **new}))


def advance(git: GitDataApi, files: dict[str, str | bytes], modes: str = "100644") -> None:
    """Puts a commit with these files on the default branch."""
    git.set_ref("refs/heads/main", git.commit(files, git.refs["refs/heads/main"], modes=modes))


def forged(git: GitDataApi, store: GitHubProposalStore, files: dict[str, str | bytes], mode: str) -> Proposal:
    base = git.refs["refs/heads/main"]
    message = make_messages(7, base, tests=False)[1]
    git.set_ref("refs/triage/proposals/7/1", git.commit(files, base, message=message, modes=mode))
    (found,) = store.list_proposals(7)
    return found


class TestChangedOnBase:
    def test_nothing_changed(self, git: GitDataApi, store: GitHubProposalStore, proposal: Proposal) -> None:
        assert store.list_changed_on_base(proposal) == []
        advance(git, {**BASE_FILES, "README.md": "Changed\n", "shop/other.py": ""})
        assert store.list_changed_on_base(proposal) == []

    @pytest.mark.parametrize(
        ("files", "changed"),
        [
            ({CART: "x\n"}, [CART]),
            ({CART: "x\n", TEST: "y\n"}, [CART, TEST]),
            ({CART: FILES[CART].text}, [CART]),
            ({"shop/new/tax.py": "RATE = 2\n"}, ["shop/new/tax.py"]),
            ({"shop/new": "a file\n"}, []),
        ],
    )
    def test_files_that_the_patch_touches(
        self,
        git: GitDataApi,
        store: GitHubProposalStore,
        proposal: Proposal,
        files: dict[str, str | bytes],
        changed: list[str],
    ) -> None:
        advance(git, {**BASE_FILES, **files})
        assert store.list_changed_on_base(proposal) == changed

    @pytest.mark.parametrize("change", [{"base": "1" * 40}, {"test_commit": None}])
    def test_commits_that_do_not_follow_each_other(
        self, git: GitDataApi, store: GitHubProposalStore, proposal: Proposal, change: dict[str, str | None]
    ) -> None:
        if change.get("base"):
            change = {"base": git.commit(BASE_FILES, message="other\n")}
        with pytest.raises(CannotPublish, match="do not follow each other"):
            store.list_changed_on_base(proposal.model_copy(update=change))

    def test_what_cannot_be_read_is_not_unchanged(
        self, git: GitDataApi, store: GitHubProposalStore, proposal: Proposal
    ) -> None:
        for path in ("git/trees", "/octo/shop$", "git/ref/heads", "git/commits"):
            git.api.faults = [ApiFault(f"GET .*{path}", 500)]
            with pytest.raises(GitHubUnavailable):
                store.list_changed_on_base(proposal)
        git.api.faults = [ApiFault("GET .*/git/ref/heads", 404)]
        with pytest.raises(GitHubUnavailable):
            store.list_changed_on_base(proposal)


class TestReadingFiles:
    def test_as_the_patch_leaves_them(self, store: GitHubProposalStore, proposal: Proposal) -> None:
        new = {"shop/new/tax.py": TextFile(text="RATE = 1\n")}
        assert read_files(store, proposal) == {**TEST_FILES, **FILES, **new}

    def test_a_change_of_the_mode_alone(self, git: GitDataApi, store: GitHubProposalStore) -> None:
        found = read_files(store, forged(git, store, BASE_FILES, "100755"))
        assert {file.mode for file in found.values()} == {"100755"}
        assert list(found) == sorted(BASE_FILES)

    @pytest.mark.parametrize(
        ("files", "mode"),
        [
            ({"README.md": "Shop\n"}, "100644"),
            ({**BASE_FILES, "link": "../../etc/passwd"}, "120000"),
            ({**BASE_FILES, CART: b"\xff\xfe"}, "100644"),
        ],
    )
    def test_what_no_patch_of_ours_does(
        self, git: GitDataApi, store: GitHubProposalStore, files: dict[str, str | bytes], mode: str
    ) -> None:
        with pytest.raises(CannotPublish, match=r"The proposal (deletes|changes) a file"):
            read_files(store, forged(git, store, files, mode))

    def test_a_tree_that_github_cut(self, git: GitDataApi, store: GitHubProposalStore, proposal: Proposal) -> None:
        tree = run_git(git.folder, "rev-parse", f"{proposal.commit}^{{tree}}")
        git.api.faults = [ApiFault(f"GET .*/git/trees/{tree}", 200, {"sha": tree, "tree": [], "truncated": True})]
        with pytest.raises(GitHubUnavailable, match="cannot be read"):
            read_files(store, proposal)
