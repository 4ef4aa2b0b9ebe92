"""The fakes of `testing.fake_proposals` answer as the clients do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from testing.fake_proposals import FakeIssueApprovals, FakeProposalStore
from testing.servers.git_data_api import GitDataApi
from testing.servers.github_api import START
from testing.servers.issue_writes_api import IssueWritesApi
from tests.fix.github.proposal_requests import CART, make_request
from triage.domain.proposal import PROPOSAL_LIFETIME
from triage.fix.github.proposal_store import GitHubProposalStore
from triage.outside.github.issue_approvals import GitHubIssueApprovals

if TYPE_CHECKING:
    from triage.outside.github.issue_approvals import GitHubIssueApprovals


BRANCH = "triage/7-round-totals"


def use_store(store: Any, base: str) -> list[Any]:
    """Returns what a store answers, without ids, times and hosts."""
    first = store.store(*make_request(base))
    second = store.store(*make_request(base, draft="e" * 64, test_files={}))
    seen: list[Any] = [store.store(*make_request(base)) == first, second.ref, bool(second.test_commit)]
    seen += [store.read_files(first), store.list_changed_on_base(first), store.list_expired(START, 5)]
    commit = first.commit
    seen += [store.read_commits(first), store.read_commits(second)]
    seen += [
        store.is_on_default_branch(base),
        store.has_other_workflows(base),
        store.find_pull_request(BRANCH, commit),
        store.create_branch(BRANCH, first.commit),
    ]
    seen += [store.create_branch(BRANCH, first.commit), store.create_branch(BRANCH, base)]
    opened = store.open_pull_request(BRANCH, commit, "[#7] Round totals", "Words")
    seen += [opened == store.open_pull_request(BRANCH, commit, "x", "y") == store.find_pull_request(BRANCH, commit)]
    seen += [opened.body, store.find_pull_request(BRANCH, base)]
    store.delete(first)
    store.delete(first)
    seen += [sorted(one.ref for one in store.list_proposals(7)), store.list_proposals(70)]
    return [*seen, store.build_compare_url(BRANCH).partition("/octo/")[2]]


def test_a_store(git: GitDataApi, store: GitHubProposalStore) -> None:
    fake = FakeProposalStore()
    base = git.refs["refs/heads/main"]
    answers = use_store(store, base)
    assert use_store(fake, base) == answers
    assert set(re.findall(r"refs/\S+?(?=')", str(answers))) == {f"refs/heads/{BRANCH}", "refs/triage/proposals/7/2"}


def test_what_happens_later(git: GitDataApi, store: GitHubProposalStore) -> None:
    fake = FakeProposalStore()
    base = git.refs["refs/heads/main"]
    one, other = store.store(*make_request(base)), fake.store(*make_request(base))
    git.api.date_header = START + 2 * PROPOSAL_LIFETIME
    fake.now += 2 * PROPOSAL_LIFETIME
    git.set_ref("refs/heads/main", git.commit({CART: "x\n", "CODEOWNERS": "* @mona"}))
    fake.changed_on_base, fake.code_owners = [CART, "README.md"], "* @mona"
    assert store.read_code_owners() == fake.read_code_owners()
    assert store.list_changed_on_base(one) != fake.list_changed_on_base(other) == [CART]
    now = START + 2 * PROPOSAL_LIFETIME
    assert [stored.ref for stored in store.list_expired(now, 5)] == [stored.ref for stored in fake.list_expired(now, 5)]
    assert store.list_expired(now, 5)


def test_approvals(git: GitDataApi, approvals: GitHubIssueApprovals) -> None:
    writes, fake = IssueWritesApi(git.api), FakeIssueApprovals()
    comment = git.api.add_comment("Ours", "github-actions[bot]")["id"]
    record = approvals.read_comment_record(comment)
    assert record is not None
    fake.records[comment] = record
    both: tuple[GitHubIssueApprovals, ...] = (approvals, fake)
    for one in both:
        assert one.read_comment_record(comment) == record
        assert one.read_comment_record(comment + 1) is None
        one.react(comment, "rocket")
        one.react(comment, "rocket")
    assert fake.reactions == [(number, content) for number, _, content in writes.reactions]
