"""Fakes of GitHub for the fix flow: comments, proposals, branches and pull requests in memory."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from testing.fakes import NOW
from triage.base.errors import CannotPublish
from triage.domain.effect import Reaction
from triage.domain.proposal import (
    BaseFile,
    CommentRecord,
    PatchCommit,
    PatchProposal,
    PullRequest,
)
from triage.fix.commit_text import CommitFacts, parse_proposal
from triage.outside.github.issue_approvals import GitHubIssueApprovals
from triage.run.may_run.decide_approval import is_expired

PROPOSAL_REFS = "refs/triage/proposals/"
BRANCH_REFS = "refs/heads/"


@dataclass
class _Failing:
    errors: dict[str, Exception] = field(default_factory=dict)
    """By method, the error that it raises before it does anything."""
    calls: list[str] = field(default_factory=list)
    """Methods in the order of the calls, also of those that failed."""

    def _begin(self, method: str) -> None:
        self.calls.append(method)
        if method in self.errors:
            raise self.errors[method]


class FakeIssueApprovals(_Failing, GitHubIssueApprovals):
    """Records what it is given."""

    def __init__(self) -> None:
        _Failing.__init__(self)
        self.records: dict[int, CommentRecord] = {}
        self.reactions: list[tuple[int, Reaction]] = []
        """Comment and reaction, each pair once."""

    def read_comment_record(self, comment_id: int) -> CommentRecord | None:
        self._begin("read_comment_record")
        return self.records.get(comment_id)

    def react(self, comment_id: int, reaction: Reaction) -> None:
        self._begin("react")
        if (comment_id, reaction) not in self.reactions:
            self.reactions.append((comment_id, reaction))


@dataclass
class FakeProposalStore(_Failing):
    """Commits, refs and pull requests of one repository."""

    repository: str = "octo/shop"
    now: datetime = NOW
    """GitHub's clock, also the time of new commits."""
    refs: dict[str, str] = field(default_factory=dict)
    """Commits by full name of the ref, branches as well."""
    commits: dict[str, CommitFacts] = field(default_factory=dict)
    files: dict[str, dict[str, BaseFile]] = field(default_factory=dict)
    """By commit, what it changes since the base of its proposal."""
    code_owners: str | None = None
    """The text of CODEOWNERS on the default branch."""
    changed_on_base: list[str] = field(default_factory=list)
    """Paths that are other files on the default branch than at the base of any proposal."""
    off_default_branch: set[str] = field(default_factory=set)
    """Commits that the default branch does not have. All others are on it."""
    other_workflows: set[str] = field(default_factory=set)
    pull_requests: dict[str, list[PullRequest]] = field(default_factory=dict)
    """By branch, newest last."""
    closed: set[int] = field(default_factory=set)
    """Numbers of pull requests."""

    def list_proposals(self, issue: int) -> list[PatchProposal]:
        self._begin("list_proposals")
        prefixes = (f"{PROPOSAL_REFS}{issue}/", f"{BRANCH_REFS}triage/{issue}-")
        return [stored for stored in self._list_all(prefixes) if stored.issue == issue]

    def list_expired(self, now: datetime, limit: int) -> list[PatchProposal]:
        self._begin("list_expired")
        found = self._list_all((PROPOSAL_REFS,))
        return [one for one in found if is_expired(one, now)][:limit]

    def _list_all(self, prefixes: tuple[str, ...]) -> list[PatchProposal]:
        found = []
        for ref, commit in self.refs.items():
            head = self.commits.get(commit)
            parent = self.commits.get(head.parents[0]) if head else None
            proposal = parse_proposal(self.repository, head, parent) if head else None
            if proposal and ref.startswith(prefixes):
                found.append(proposal.model_copy(update={"ref": ref}))
        return sorted(found, key=lambda one: (one.created_at, one.is_approved))

    def store(self, issue: int, base: str, commits: Sequence[PatchCommit], now: datetime = NOW) -> PatchProposal:
        self._begin("store")
        parent, facts, files = base, list[CommitFacts](), dict[str, BaseFile]()
        for commit in commits:
            files |= commit.files
            facts.append(self._commit(parent, files, commit.message))
            parent = facts[-1].sha
        made = parse_proposal(self.repository, *reversed(facts))
        assert made is not None, "the last message ends with the trailers of a proposal of as many commits"
        prefix = f"{PROPOSAL_REFS}{issue}/"
        for known in self._list_all((prefix, f"{BRANCH_REFS}triage/{issue}-")):
            is_same = (known.draft, known.base) == (made.draft, made.base)
            if is_same and (known.is_approved or not is_expired(known, now)):
                return known
        number = 1 + max((int(ref.removeprefix(prefix)) for ref in self.refs if ref.startswith(prefix)), default=0)
        self.refs[f"{prefix}{number}"] = made.commit
        return made.model_copy(update={"ref": f"{prefix}{number}"})

    def _commit(self, parent: str, files: Mapping[str, BaseFile], message: str) -> CommitFacts:
        content = {path: file.model_dump() for path, file in files.items()}
        text = json.dumps([parent, content, message, str(self.now)], sort_keys=True)
        sha = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()
        self.commits[sha] = CommitFacts(sha=sha, parents=[parent], message=message, committed_at=self.now)
        self.files.setdefault(sha, dict(files))
        return self.commits[sha]

    def delete(self, stored: PatchProposal) -> None:
        self._begin("delete")
        assert stored.ref.startswith(PROPOSAL_REFS), "only refs of proposals are deleted"
        if self.refs.get(stored.ref) == stored.commit:
            del self.refs[stored.ref]

    def read_files(self, proposal: PatchProposal) -> dict[str, BaseFile]:
        self._begin("read_files")
        return self._read_all(proposal)

    def _read_all(self, proposal: PatchProposal) -> dict[str, BaseFile]:
        test = self.files[proposal.test_commit] if proposal.test_commit else {}
        if not test.items() <= self.files[proposal.commit].items():
            raise CannotPublish("The proposal's first commit holds what its diff does not show. It is not carried out.")
        return dict(self.files[proposal.commit])

    def read_commits(self, proposal: PatchProposal) -> list[PatchCommit]:
        self._begin("read_commits")
        self._read_all(proposal)
        found, known = [], dict[str, BaseFile]()
        for sha in proposal.commits:
            changed = {path: file for path, file in self.files[sha].items() if known.get(path) != file}
            found.append(PatchCommit(files=changed, message=self.commits[sha].message))
            known = self.files[sha]
        return found

    def is_on_default_branch(self, commit: str) -> bool:
        self._begin("is_on_default_branch")
        return commit not in self.off_default_branch

    def has_other_workflows(self, commit: str) -> bool:
        self._begin("has_other_workflows")
        return commit in self.other_workflows

    def list_changed_on_base(self, proposal: PatchProposal) -> list[str]:
        self._begin("list_changed_on_base")
        files = self._read_all(proposal)
        return [path for path in self.changed_on_base if path in files]

    def read_code_owners(self) -> str | None:
        self._begin("read_code_owners")
        return self.code_owners

    def create_branch(self, name: str, commit: str) -> bool:
        self._begin("create_branch")
        return self.refs.setdefault(f"{BRANCH_REFS}{name}", commit) == commit

    def find_pull_request(self, branch: str, commit: str) -> PullRequest | None:
        self._begin("find_pull_request")
        return self._find_open(branch) if self.refs.get(f"{BRANCH_REFS}{branch}") == commit else None

    def _find_open(self, branch: str) -> PullRequest | None:
        return next((one for one in self.pull_requests.get(branch, []) if one.number not in self.closed), None)

    def open_pull_request(self, branch: str, commit: str, title: str, body: str) -> PullRequest:
        self._begin("open_pull_request")
        assert self.refs.get(f"{BRANCH_REFS}{branch}") == commit, "the branch leads to the commit"
        if found := self._find_open(branch):
            return found
        number = 100 + sum(len(many) for many in self.pull_requests.values())
        url = f"https://github.test/{self.repository}/pull/{number}"
        opened = PullRequest(number=number, url=url, body=body)
        self.pull_requests.setdefault(branch, []).append(opened)
        return opened

    def build_compare_url(self, branch: str) -> str:
        return f"https://github.test/{self.repository}/compare/{branch}?expand=1"
