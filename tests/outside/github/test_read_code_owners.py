"""CODEOWNERS as GitHub has it: of the default branch, whatever this machine has checked out."""

import pytest

from testing.servers.git_data_api import GitDataApi
from testing.servers.github_api import ApiFault
from triage.base.errors import CannotPublish, TriageError
from triage.fix.proposal_store import GitHubProposalStore
from triage.safety.code_owners import MAX_BYTES


def advance(git: GitDataApi, files: dict[str, str | bytes], modes: str = "100644") -> None:
    git.set_ref("refs/heads/main", git.commit(files, modes=modes))


@pytest.mark.parametrize(
    ("files", "text"),
    [
        ({"a.py": ""}, None),
        ({"src/CODEOWNERS": "no", "codeowners": "no"}, None),
        ({"docs/CODEOWNERS": "docs"}, "docs"),
        ({"docs/CODEOWNERS": "docs", "CODEOWNERS": "root"}, "root"),
        ({"docs/CODEOWNERS": "docs", "CODEOWNERS": "root", ".github/CODEOWNERS": ""}, ""),
    ],
)
def test_the_file_that_github_uses(
    git: GitDataApi, store: GitHubProposalStore, files: dict[str, str | bytes], text: str | None
) -> None:
    advance(git, files)
    assert store.read_code_owners() == text


def test_the_newest_commit_of_the_default_branch_counts(git: GitDataApi, store: GitHubProposalStore) -> None:
    git.default_branch = "release/2"
    git.set_ref("refs/heads/release/2", git.commit({"CODEOWNERS": "* @mona"}))
    advance(git, {"CODEOWNERS": "* @hubot"})
    assert store.read_code_owners() == "* @mona"


@pytest.mark.parametrize(
    ("files", "mode"),
    [
        ({"CODEOWNERS": "docs/owners"}, "120000"),
        ({"CODEOWNERS/a": "* @mona"}, "100644"),
        ({"CODEOWNERS": b"\xff* @mona"}, "100644"),
        ({"CODEOWNERS": "#" * (MAX_BYTES + 1)}, "100644"),
    ],
)
def test_a_file_that_cannot_be_read(
    git: GitDataApi, store: GitHubProposalStore, files: dict[str, str | bytes], mode: str
) -> None:
    advance(git, files, mode)
    with pytest.raises(CannotPublish, match="CODEOWNERS is no"):
        store.read_code_owners()


@pytest.mark.parametrize("what", ["ref/heads/main", "commits", "trees", "blobs"])
def test_a_question_that_github_does_not_answer(git: GitDataApi, store: GitHubProposalStore, what: str) -> None:
    advance(git, {"CODEOWNERS": "* @mona"})
    git.api.faults.append(ApiFault(f"GET /repos/octo/shop/git/{what}", 404))
    with pytest.raises(TriageError):
        store.read_code_owners()
