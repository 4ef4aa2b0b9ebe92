"""What counts as a proposal is read from the commits themselves, under the names that only our refs have."""

from datetime import timedelta

import pytest

from testing.servers.git_data_api import GitDataApi
from testing.servers.github_api import ApiFault
from tests.fix.proposal_requests import make_messages, make_request
from tests.outside.github.conftest import BASE_FILES
from triage.base.errors import GitHubUnavailable
from triage.fix.proposal_store import GitHubProposalStore

PREFIX = "refs/triage/proposals"
DAY = timedelta(days=1)


def forge(git: GitDataApi, ref: str, issue: int, *, tests: bool = False, parents: int = 1) -> str:
    """Lets a ref lead to a commit with a proposal's message."""
    base = git.refs["refs/heads/main"]
    others = [git.commit(BASE_FILES, message=f"{number}\n") for number in range(parents - 1)]
    message = make_messages(issue, base, tests=tests)[1]
    return git.set_ref(ref, git.commit({**BASE_FILES, "a": "b"}, base, *others, message=message))


def listed(store: GitHubProposalStore, issue: int = 7) -> list[str]:
    return [stored.ref for stored in store.list_proposals(issue)]


def test_the_oldest_first(git: GitDataApi, store: GitHubProposalStore) -> None:
    forge(git, f"{PREFIX}/7/f2", 7)
    git.api.seconds += 60
    for name in (f"{PREFIX}/7/01", "refs/heads/triage/7-round-totals"):
        forge(git, name, 7)
    assert listed(store) == [f"{PREFIX}/7/f2", f"{PREFIX}/7/01"]


def test_other_issues_that_begin_with_the_same_digits(git: GitDataApi, store: GitHubProposalStore) -> None:
    forge(git, f"{PREFIX}/1/1", 1)
    forge(git, f"{PREFIX}/12/1", 12)
    assert listed(store, 1) == [f"{PREFIX}/1/1"]


@pytest.mark.parametrize(
    "ref",
    [
        f"{PREFIX}/7/x",
        f"{PREFIX}/7/1/2",
        f"{PREFIX}/07/1",
    ],
)
def test_other_names(git: GitDataApi, store: GitHubProposalStore, ref: str) -> None:
    forge(git, ref, 7)
    assert listed(store) == []


class TestForgedCommits:
    def test_the_trailer_of_another_issue(self, git: GitDataApi, store: GitHubProposalStore) -> None:
        forge(git, f"{PREFIX}/7/1", 8)
        assert listed(store) == []

    def test_a_merge_commit(self, git: GitDataApi, store: GitHubProposalStore) -> None:
        forge(git, f"{PREFIX}/7/1", 7, parents=2)
        assert listed(store) == []

    def test_two_commits_whose_first_has_no_parent_or_two(self, git: GitDataApi, store: GitHubProposalStore) -> None:
        base = git.refs["refs/heads/main"]
        message = make_messages(7, base)[1]
        for number, parents in enumerate(([], [base, git.commit(BASE_FILES, message="y\n")]), 1):
            test = git.commit(BASE_FILES, *parents, message="Test\n")
            git.set_ref(f"{PREFIX}/7/{number}", git.commit(BASE_FILES, test, message=message))
        assert listed(store) == []

    def test_a_commit_on_top_of_a_proposal(self, git: GitDataApi, store: GitHubProposalStore) -> None:
        stored = store.save(*make_request(git.refs["refs/heads/main"]))
        git.set_ref(stored.ref, git.commit(BASE_FILES, stored.commit, message="More\n"))
        assert listed(store) == []

    def test_a_proposal_whose_message_was_changed_is_another_one(
        self, git: GitDataApi, store: GitHubProposalStore
    ) -> None:
        base = git.refs["refs/heads/main"]
        stored = store.save(*make_request(base))
        message = make_messages(7, base)[1].replace("Triage-Revision: 0", "Triage-Revision: 1")
        git.set_ref(stored.ref, git.commit(BASE_FILES, str(stored.test_commit), message=message))
        (found,) = store.list_proposals(7)
        assert found.ref == stored.ref
        assert found.commit != stored.commit

    def test_a_tag_object_or_a_tree(self, git: GitDataApi, store: GitHubProposalStore) -> None:
        commit = forge(git, f"{PREFIX}/7/1", 7)
        tag = f"object {commit}\ntype commit\ntag x\ntagger a <a@b> 1 +0000\n\nx\n"
        git.set_ref(f"{PREFIX}/7/2", git.store.put("tag", tag.encode()))
        git.set_ref(f"{PREFIX}/7/3", git.read_commit(commit)["tree"]["sha"])
        assert listed(store) == [f"{PREFIX}/7/1"]


def test_at_most_fifty_are_read(git: GitDataApi, store: GitHubProposalStore) -> None:
    commit = forge(git, f"{PREFIX}/7/61", 7)
    for number in range(1, 61):
        git.set_ref(f"{PREFIX}/7/{number}", commit)
    assert len(listed(store)) == 50
    assert len(git.api.requests) == 51


def test_a_commit_that_is_gone_meanwhile_is_left_out(git: GitDataApi, store: GitHubProposalStore) -> None:
    gone, there = forge(git, f"{PREFIX}/7/1", 7), forge(git, f"{PREFIX}/7/2", 7, tests=True)
    git.api.faults = [ApiFault(f"GET .*/{gone}", 404)]
    assert gone != there
    assert listed(store) == []
    git.api.faults = [ApiFault(f"GET .*/{there}", 404)]
    assert listed(store) == [f"{PREFIX}/7/1"]


@pytest.mark.parametrize(
    "body",
    [
        b"<html>",
        {"ref": "x"},
        [{"ref": f"{PREFIX}/7/1"}],
    ],
)
def test_an_answer_that_cannot_be_read_is_no_empty_list(
    git: GitDataApi, store: GitHubProposalStore, body: object
) -> None:
    git.api.faults = [ApiFault("GET .*matching-refs", 200, body)]
    with pytest.raises(GitHubUnavailable, match="cannot be read"):
        store.list_proposals(7)


class TestAllIssues:
    def test_only_refs_of_proposals(self, git: GitDataApi, store: GitHubProposalStore) -> None:
        forge(git, f"{PREFIX}/7/1", 7)
        forge(git, f"{PREFIX}/8/1", 8)
        forge(git, f"{PREFIX}/9/1", 8)
        forge(git, "refs/heads/triage/7-x", 7)
        assert [one.ref for one in store.list_proposals()] == [f"{PREFIX}/7/1", f"{PREFIX}/8/1"]

    def test_without_proposals_only_they_are_asked_for(self, git: GitDataApi, store: GitHubProposalStore) -> None:
        assert store.list_proposals() == []
        assert len(git.api.requests) == 1
