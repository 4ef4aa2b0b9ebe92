"""Proposals are stored once as real commits, whatever happens on the way, and refs lead nowhere else."""

from datetime import timedelta
from functools import partial

import pytest

from testing.checkouts.git_repositories import git as run_git
from testing.servers.git_data_api import GitDataApi
from testing.servers.github_api import JOB_TOKEN, SERVER_ERROR_TEXT, SLUG, START, ApiFault, ApiRequest
from testing.servers.pull_requests_api import PullRequestsApi
from tests.fix.proposal_requests import CART, FILES, FIXED, NEW_TEST, TEST, TEST_FILES, make_request, read_files
from tests.outside.github.conftest import BASE_FILES, OpenStore
from triage.base.errors import CannotPublish, GitHubUnavailable, PermissionMissing, TriageError
from triage.domain.proposal import Proposal, TextFile
from triage.fix.proposal_store import GitHubProposalStore

PREFIX = "refs/triage/proposals/7/"
REPO = f"/repos/{SLUG}"
WEEK = timedelta(days=7)


def base_of(git: GitDataApi) -> str:
    return git.refs["refs/heads/main"]


def proposals_in(git: GitDataApi) -> list[str]:
    return [name for name in git.refs if name.startswith("refs/triage/")]


class TestStoring:
    def test_two_commits_that_git_itself_can_read(self, git: GitDataApi, store: GitHubProposalStore) -> None:
        base = base_of(git)
        stored = store.save(*make_request(base))
        assert (stored.ref, stored.base) == (f"{PREFIX}{stored.id}", base)
        assert git.refs[stored.ref] == stored.commit
        assert stored.created_at == START + timedelta(seconds=4), "time of the last commit, the fourth write"
        assert run_git(git.folder, "fsck", "--strict") == ""
        show = partial(run_git, git.folder, "show", "--no-patch")
        assert show("--format=%P", stored.commit) == stored.test_commit
        assert show("--format=%P", str(stored.test_commit)) == base
        diff = partial(run_git, git.folder, "diff", "--name-only")
        assert diff(base, str(stored.test_commit)).split() == [TEST]
        assert diff(str(stored.test_commit), stored.commit).split() == [CART]
        assert git.store.folder.joinpath(stored.ref).read_text().strip() == stored.commit
        assert run_git(git.folder, "cat-file", "blob", f"{stored.commit}:{CART}") == FIXED.strip()
        assert run_git(git.folder, "cat-file", "blob", f"{stored.commit}:{TEST}") == NEW_TEST.strip()

    def test_without_a_test_there_is_one_commit(self, git: GitDataApi, store: GitHubProposalStore) -> None:
        proposal = store.save(*make_request(base_of(git), test_files={}))
        assert proposal.test_commit is None
        assert run_git(git.folder, "show", "--no-patch", "--format=%P", proposal.commit) == base_of(git)

    def test_modes_and_new_files(self, git: GitDataApi, store: GitHubProposalStore) -> None:
        files = {"tools/run.sh": TextFile(text="#!/bin/sh\nx\n", mode="100755"), "new/deep/a.py": TextFile(text="")}
        proposal = store.save(*make_request(base_of(git), files=files, test_files={}))
        listed = run_git(git.folder, "ls-tree", "-r", proposal.commit).splitlines()
        assert [row.split()[0] for row in listed if row.endswith("tools/run.sh")] == ["100755"]
        assert len(listed) == len(BASE_FILES) + 1
        assert read_files(store, proposal) == files

    def test_the_same_patch_is_stored_once(self, git: GitDataApi, open_store: OpenStore) -> None:
        first = open_store().save(*make_request(base_of(git)))
        assert open_store().save(*make_request(base_of(git))) == first
        assert proposals_in(git) == [first.ref]

    def test_an_expired_one_is_not_taken_for_a_new_one(self, git: GitDataApi, store: GitHubProposalStore) -> None:
        old = store.save(*make_request(base_of(git)))
        git.api.date_header = now = START + WEEK + timedelta(minutes=1)
        new = store.save(*make_request(base_of(git))._replace(now=now))
        assert old.ref != new.ref
        assert new.created_at - old.created_at > WEEK

    @pytest.mark.parametrize("change", [{"summary": "Round sums"}, {"base": ""}])
    def test_another_patch_is_another_proposal(
        self, git: GitDataApi, store: GitHubProposalStore, change: dict[str, str]
    ) -> None:
        first = store.save(*make_request(base_of(git)))
        other = git.commit(BASE_FILES, base_of(git)) if "base" in change else base_of(git)
        second = store.save(*make_request(other, summary=change.get("summary", "Round totals")))
        assert proposals_in(git) == [first.ref, second.ref]

    def test_a_message_that_does_not_describe_the_commits(self, git: GitDataApi, store: GitHubProposalStore) -> None:
        with pytest.raises(CannotPublish, match="another commit than the proposal's"):
            store.save(*make_request(base_of(git), message="Round totals\n"))
        assert proposals_in(git) == []

    def test_a_commit_with_other_files_under_our_message_is_noticed(
        self, git: GitDataApi, store: GitHubProposalStore
    ) -> None:
        request = make_request(base_of(git), test_files={})
        other = git.commit({**BASE_FILES, "evil.py": ""}, base_of(git), message=request.commits[0].message)
        git.api.faults = [ApiFault("POST .*/commits", 201, git.read_commit(other), times=1)]
        stored = store.save(*request)
        assert not store.has_exactly(stored, base_of(git), request.commits)


class TestRefusals:
    @pytest.mark.parametrize("kind", ["trees", "refs"])
    @pytest.mark.parametrize(
        ("status", "message", "error", "words"),
        [
            (401, "Bad credentials", PermissionMissing, "GitHub does not accept the token"),
            (403, "Resource not accessible by integration", PermissionMissing, "`permissions: contents: write`"),
            (404, "Not Found", PermissionMissing, "`permissions: contents: write`"),
            (403, "Repository was archived so is read-only.", CannotPublish, "the repository is archived"),
            (422, "Repository rule violations found", CannotPublish, "GitHub answered 422"),
            (409, "Git Repository is empty.", CannotPublish, "GitHub answered 409"),
            (429, "Slow down", CannotPublish, "rate limit is used up"),
        ],
    )
    def test_who_must_act(
        self,
        git: GitDataApi,
        store: GitHubProposalStore,
        kind: str,
        status: int,
        message: str,
        error: type[TriageError],
        words: str,
    ) -> None:
        git.api.faults = [ApiFault(f"POST .*/{kind}", status, {"message": message, "x": SERVER_ERROR_TEXT})]
        with pytest.raises(error) as caught:
            store.save(*make_request(base_of(git)))
        assert words in str(caught.value)
        assert SERVER_ERROR_TEXT not in str(caught.value)
        assert proposals_in(git) == []

    def test_a_token_that_may_only_read(self, git: GitDataApi, store: GitHubProposalStore) -> None:
        stored = store.save(*make_request(base_of(git)))
        git.api.denied[JOB_TOKEN] = {"contents"}
        for write in (
            partial(store.save, *make_request(base_of(git), summary="Round sums")),
            partial(store.create_branch, "triage/7-x", stored.commit),
            partial(store.delete, stored),
        ):
            with pytest.raises(PermissionMissing, match="permissions: contents: write"):
                write()
        assert store.list_proposals(7) == [stored]


class TestRaces:
    @pytest.mark.parametrize("stored", [True, False])
    @pytest.mark.parametrize("status", [0, 502])
    @pytest.mark.parametrize("kind", ["trees", "commits", "refs"])
    def test_a_lost_answer(self, git: GitDataApi, open_store: OpenStore, kind: str, status: int, stored: bool) -> None:
        git.api.faults = [ApiFault(f"POST .*/{kind}", status, b"<html>", stored=stored, times=1)]
        found = open_store().save(*make_request(base_of(git)))
        assert proposals_in(git) == [found.ref]
        assert git.refs[found.ref] == found.commit

    def test_a_ref_that_cannot_be_read_back_is_not_written_again(
        self, git: GitDataApi, store: GitHubProposalStore
    ) -> None:
        git.api.faults = [ApiFault("POST .*/refs", 502, stored=True), ApiFault("GET .*/git/ref/", 500)]
        with pytest.raises(CannotPublish):
            store.save(*make_request(base_of(git)))
        assert len(git.api.request_lines(f"POST {REPO}/git/refs")) == 1


def carry_out(git: GitDataApi, store: GitHubProposalStore) -> None:
    """What the jobs do between a patch and its pull request, and do again from where they were killed."""
    if not any(name.startswith("refs/heads/triage/") for name in git.refs):
        store.save(*make_request(base_of(git)))
    for one in store.list_proposals(7):
        assert store.create_branch("triage/7-round-totals", one.commit)
        store.open_pull_request("triage/7-round-totals", one.commit, "[#7] Round totals", "Words")
        store.delete(one)


REQUESTS = 20


class TestKilledAndRunAgain:
    def test_the_number_of_requests(self, git: GitDataApi, store: GitHubProposalStore) -> None:
        carry_out(git, store)
        assert len(git.api.requests) == REQUESTS

    @pytest.mark.parametrize("last", range(1, REQUESTS + 1))
    def test_it_ends_the_same(self, git: GitDataApi, pulls: PullRequestsApi, open_store: OpenStore, last: int) -> None:
        def kill(asked: ApiRequest) -> ApiFault | None:
            # What comes after the kill are requests that a dead process does not send. GitHub did the last one.
            count = len(git.api.requests)
            return ApiFault("", stored=count == last) if count >= last else None

        git.api.on_request = kill
        with pytest.raises(TriageError):
            carry_out(git, open_store())
        git.api.on_request = lambda asked: None
        carry_out(git, open_store())
        (branch,) = [name for name in git.refs if name != "refs/heads/main"]
        assert branch == "refs/heads/triage/7-round-totals"
        assert [pull["head"]["sha"] for pull in pulls.pulls] == [git.refs[branch]]
        assert git.read_commit(git.refs[branch])["parents"][0]["sha"] != base_of(git)


class TestDeleting:
    def test_only_where_it_still_leads_to_the_proposal(self, git: GitDataApi, store: GitHubProposalStore) -> None:
        stored = store.save(*make_request(base_of(git)))
        git.set_ref(stored.ref, base_of(git))
        store.delete(stored)
        assert git.refs[stored.ref] == base_of(git)
        git.set_ref(stored.ref, stored.commit)
        git.api.requests.clear()
        store.delete(stored)
        assert git.api.request_lines() == [
            f"GET {REPO}/git/ref/triage/proposals/7/{stored.id}",
            f"DELETE {REPO}/git/{stored.ref}",
        ]
        store.delete(stored)
        assert proposals_in(git) == []

    @pytest.mark.parametrize("ref", ["refs/heads/main", "refs/heads/triage/7-x", "refs/tags/v1", "refs/triage/other"])
    def test_never_another_ref(self, git: GitDataApi, store: GitHubProposalStore, ref: str) -> None:
        stored = store.save(*make_request(base_of(git)))
        git.set_ref(ref, stored.commit)
        with pytest.raises(ValueError, match="only refs of proposals"):
            store.delete(stored.model_copy(update={"ref": ref}))
        assert ref in git.refs

    @pytest.mark.parametrize("is_handled", [False, True])
    def test_a_lost_answer(self, git: GitDataApi, store: GitHubProposalStore, is_handled: bool) -> None:
        stored = store.save(*make_request(base_of(git)))
        git.api.faults = [ApiFault("DELETE", stored=is_handled, times=1)]
        store.delete(stored)
        assert proposals_in(git) == []


class TestBranches:
    def test_a_name_that_is_taken(self, git: GitDataApi, store: GitHubProposalStore) -> None:
        commit = store.save(*make_request(base_of(git))).commit
        assert store.create_branch("triage/7-x", commit)
        assert store.create_branch("triage/7-x", commit)
        assert not store.create_branch("triage/7-x", base_of(git))
        assert git.refs["refs/heads/triage/7-x"] == commit

    @pytest.mark.parametrize("stored", [True, False])
    def test_a_lost_answer(self, git: GitDataApi, store: GitHubProposalStore, stored: bool) -> None:
        git.api.faults = [ApiFault("POST .*/refs", stored=stored, times=1)]
        assert store.create_branch("triage/7-x", base_of(git))

    def test_a_commit_that_does_not_exist(self, git: GitDataApi, store: GitHubProposalStore) -> None:
        with pytest.raises(CannotPublish, match="GitHub answered 422"):
            store.create_branch("triage/7-x", "1" * 40)

    def test_github_does_not_answer(self, git: GitDataApi, store: GitHubProposalStore) -> None:
        git.api.faults = [ApiFault("")]
        with pytest.raises(CannotPublish, match="did not answer"):
            store.create_branch("triage/7-x", base_of(git))
        with pytest.raises(GitHubUnavailable):
            store.list_proposals(7)


class TestFirstCommit:
    def test_its_files_are_read(self, git: GitDataApi, store: GitHubProposalStore) -> None:
        proposal = store.save(*make_request(base_of(git)))
        assert [one.files for one in store.read_commits(proposal)] == [TEST_FILES, FILES]
        alone = store.save(*make_request(base_of(git), summary="Round sums", test_files={}))
        assert [one.files for one in store.read_commits(alone)] == [FILES]

    @pytest.mark.parametrize(
        "hidden",
        [
            {**TEST_FILES, TEST: TextFile(text="import subprocess\n")},
            {**TEST_FILES, TEST: TEST_FILES[TEST].model_copy(update={"mode": "100755"})},
        ],
    )
    def test_what_the_last_commit_takes_back_is_refused(
        self, git: GitDataApi, store: GitHubProposalStore, hidden: dict[str, TextFile]
    ) -> None:
        request = make_request(base_of(git), test_files=hidden, files={**FILES, **TEST_FILES})
        self.refuse(store, store.save(*request))

    @pytest.mark.parametrize("path", ["evil.py", "shop/cart.py", "shop/new/evil.py"])
    def test_files_that_only_the_first_commit_has(self, git: GitDataApi, store: GitHubProposalStore, path: str) -> None:
        base, request = base_of(git), make_request(base_of(git))
        first = git.commit(
            {**BASE_FILES, TEST: NEW_TEST, path: "import os\n"}, base, message=request.commits[0].message
        )
        head = git.commit({**BASE_FILES, TEST: NEW_TEST, CART: FIXED}, first, message=request.commits[1].message)
        git.set_ref(f"{PREFIX}1", head)
        (stored,) = store.list_proposals(7)
        self.refuse(store, stored)

    def refuse(self, store: GitHubProposalStore, proposal: Proposal) -> None:
        for read in (store.read_commits, store.list_changed_on_base):
            with pytest.raises(CannotPublish, match="first commit holds what its diff does not show"):
                read(proposal)


class TestDefaultBranch:
    def test_a_commit_of_it(self, git: GitDataApi, store: GitHubProposalStore) -> None:
        old = base_of(git)
        git.set_ref("refs/heads/main", git.commit({**BASE_FILES, "a": ""}, old))
        assert store.is_on_default_branch(old)
        assert store.is_on_default_branch(base_of(git))

    def test_a_commit_of_another_branch(self, git: GitDataApi, store: GitHubProposalStore) -> None:
        ahead = git.set_ref("refs/heads/feature", git.commit({**BASE_FILES, "a": ""}, base_of(git)))
        assert not store.is_on_default_branch(ahead)
        git.set_ref("refs/heads/main", git.commit({**BASE_FILES, "b": ""}, base_of(git)))
        assert not store.is_on_default_branch(ahead)

    def test_one_that_was_on_it_before_a_forced_push(self, git: GitDataApi, store: GitHubProposalStore) -> None:
        old = base_of(git)
        git.set_ref("refs/heads/main", git.commit({**BASE_FILES, "a": ""}))
        assert not store.is_on_default_branch(old)

    def test_the_branch_that_is_the_default_now(self, git: GitDataApi, store: GitHubProposalStore) -> None:
        git.default_branch = "release/2"
        new = git.set_ref("refs/heads/release/2", git.commit({**BASE_FILES, "a": ""}, base_of(git)))
        assert store.is_on_default_branch(new)

    def test_workflows_that_changed_since(self, git: GitDataApi, store: GitHubProposalStore) -> None:
        old, workflow = base_of(git), ".github/workflows/ci.yml"
        assert not store.has_changed_workflows(old)
        git.set_ref("refs/heads/main", git.commit({**BASE_FILES, "a": ""}, old))
        assert not store.has_changed_workflows(old)
        new = git.set_ref("refs/heads/main", git.commit({**BASE_FILES, workflow: "on: push"}, old))
        assert store.has_changed_workflows(old)
        assert not store.has_changed_workflows(new)

    def test_a_commit_that_nobody_knows(self, store: GitHubProposalStore) -> None:
        assert not store.is_on_default_branch("1" * 40)

    @pytest.mark.parametrize("path", ["/octo/shop$", "git/ref/heads", "/compare/"])
    @pytest.mark.parametrize("status", [500, 403])
    def test_no_answer_is_no_yes(self, git: GitDataApi, store: GitHubProposalStore, path: str, status: int) -> None:
        git.api.faults = [ApiFault(f"GET .*{path}", status)]
        with pytest.raises(TriageError):
            store.is_on_default_branch(base_of(git))
