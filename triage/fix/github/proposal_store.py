"""Stores proposals as commits on GitHub, reads them back, and makes branches and pull requests from them."""

import re
from dataclasses import KW_ONLY, dataclass
from datetime import UTC, datetime
from functools import cached_property
from itertools import islice, pairwise, starmap
from typing import TYPE_CHECKING
from urllib.parse import quote

from triage.base.errors import CannotPublish
from triage.domain.proposal import PROPOSAL_LIFETIME, BaseFile, PatchProposal, PullRequest
from triage.fix.commit_text import CommitFacts, parse_proposal
from triage.fix.fix_ports import CommitRequest, PatchCommit
from triage.fix.github.git_data import GitData, TreeChanges, TreeEntry, read_facts
from triage.fix.github.pull_requests import (
    PullRequests,
    translate_contents_errors,
    translate_pull_request_errors,
    translate_pull_request_read_errors,
)
from triage.outside.github.github_errors import (
    ErrorKind,
    GitHubError,
    github_errors,
    translate_read_errors,
    unreadable_response,
)
from triage.outside.github.repository_connection import RepositoryConnection
from triage.safety.code_owners import MAX_BYTES as MAX_CODE_OWNERS_BYTES
from triage.safety.code_owners import PLACES as CODE_OWNERS_PLACES

if TYPE_CHECKING:
    from github.GitCommit import GitCommit

PROPOSAL_REFS = "refs/triage/proposals/"
MAX_REFS = 50
"""Of one issue. More are not read."""
_PROPOSAL_REF = re.compile(r"refs/triage/proposals/(?P<issue>[1-9][0-9]{0,9})/(?P<number>[1-9][0-9]{0,8})")
_BRANCH_REF = re.compile(r"refs/heads/triage/(?P<issue>[1-9][0-9]{0,9})-.+")


@dataclass
class ProposalRefs:
    """The refs of proposals, and branches that were made from them. Failures are those of `GitData`."""

    git: GitData
    slug: str

    def list_for_issue(self, issue: int) -> list[PatchProposal]:
        """Returns the issue's proposals and branches, oldest first; of the same time, proposals first."""
        # Branches first: they say what is done already, however many proposals there are.
        refs = {**self.git.list_refs(f"refs/heads/triage/{issue}-"), **self.git.list_refs(f"{PROPOSAL_REFS}{issue}/")}
        found = [self.read(ref, commit) for ref, commit in list(refs.items())[:MAX_REFS]]
        return sorted((one for one in found if one), key=_order)

    def read(self, ref: str, commit: str) -> PatchProposal | None:
        """Returns what a ref stands for; None if its commit is no proposal for the issue in the ref's name."""
        named = _PROPOSAL_REF.fullmatch(ref) or _BRANCH_REF.fullmatch(ref)
        if named is None:
            return None
        try:
            head = read_facts(self.git.read_commit(commit))
            proposal = parse_proposal(self.slug, head)
            if proposal is None and len(head.parents) == 1 and "Triage-Commits: 2" in head.message:
                proposal = parse_proposal(self.slug, head, read_facts(self.git.read_commit(head.parents[0])))
        except GitHubError as error:
            if error.kind is ErrorKind.GONE:
                return None
            raise
        is_meant = proposal is not None and proposal.issue == int(named["issue"])
        return proposal.model_copy(update={"ref": ref}) if proposal and is_meant else None

    def find_free_number(self, issue: int) -> int:
        """Returns a number above those of all refs of the issue, whatever they lead to."""
        matches = [_PROPOSAL_REF.fullmatch(ref) for ref in self.git.list_refs(f"{PROPOSAL_REFS}{issue}/")]
        return 1 + max((int(match["number"]) for match in matches if match), default=0)


def _order(stored: PatchProposal) -> tuple[object, ...]:
    named = _PROPOSAL_REF.fullmatch(stored.ref)
    number = int(named["number"]) if named else 0
    return stored.created_at, stored.is_branch, number, stored.ref


WORKFLOWS = ".github/workflows"
PLAIN_MODES = ("100644", "100755")
MAX_SCANNED = 100
"""Refs of all issues that one look for old proposals reads."""
MAX_NUMBERS = 5
"""Numbers that are tried for a new ref, when other runs take them at the same time."""


@dataclass
class GitHubProposalStore(RepositoryConnection):
    """Implements `triage.fix.fix_ports.ProposalStore`."""

    refuses_secrets = True
    _: KW_ONLY
    server_url: str = "https://github.com"

    @cached_property
    def _git(self) -> GitData:
        return GitData(self)

    @cached_property
    def _refs(self) -> ProposalRefs:
        return ProposalRefs(self._git, self.slug)

    @cached_property
    def _pull_requests(self) -> PullRequests:
        return PullRequests(self)

    @cached_property
    def _changes(self) -> TreeChanges:
        return TreeChanges(self._git)

    @cached_property
    def _default_branch(self) -> str:
        with github_errors():
            branch = self.repository.default_branch
        if not branch:
            raise unreadable_response()
        return branch

    def list_proposals(self, issue: int) -> list[PatchProposal]:
        with translate_read_errors(self.slug):
            return self._refs.list_for_issue(issue)

    def list_expired(self, limit: int) -> list[PatchProposal]:
        with translate_read_errors(self.slug):
            refs = islice(self._git.list_refs(PROPOSAL_REFS).items(), MAX_SCANNED)
            stored = (self._refs.read(ref, commit) for ref, commit in refs)
            return list(islice((one for one in stored if one and self._is_expired(one)), limit))

    def store(self, request: CommitRequest) -> PatchProposal:
        with translate_contents_errors(self.slug):
            wanted = _parse_request(self.slug, request)
            for stored in self._refs.list_for_issue(request.issue):
                if _is_same_draft(stored, wanted) and (stored.is_branch or not self._is_expired(stored)):
                    return stored
            return self._create_ref(request.issue, self._create_commits(request))

    def _is_expired(self, stored: PatchProposal) -> bool:
        # Without GitHub's clock nothing is expired: the clock of this machine may be wrong.
        now = self._git.server_time
        return now is not None and stored.created_at < now - PROPOSAL_LIFETIME

    def _create_commits(self, request: CommitRequest) -> PatchProposal:
        made = [self._read_base(request.base)]
        for commit in request.commits:
            made.append(self._git.commit_files(made[-1], commit.files, commit.message))
        proposal = parse_proposal(self.slug, *map(read_facts, reversed(made[1:])))
        if proposal is None:
            raise CannotPublish("GitHub stored another commit than the proposal's. It is not used.")
        return proposal

    def _read_base(self, sha: str) -> "GitCommit":
        try:
            return self._git.read_commit(sha)
        except GitHubError as error:
            if error.kind is not ErrorKind.GONE:
                raise
            raise CannotPublish(
                "The commit that the proposal starts from is not in the repository on GitHub. Push it there first."
            ) from None

    def _create_ref(self, issue: int, proposal: PatchProposal) -> PatchProposal:
        first = self._refs.find_free_number(issue)
        for number in range(first, first + MAX_NUMBERS):
            name = f"{PROPOSAL_REFS}{issue}/{number}"
            commit = self._git.create_ref(name, proposal.commit)
            if commit == proposal.commit:
                return proposal.model_copy(update={"ref": name})
            other = self._refs.read(name, commit)
            if other and _is_same_draft(other, proposal):
                return other
        raise CannotPublish("Other runs store proposals for this issue at the same time. Run this job again.")

    def delete(self, stored: PatchProposal) -> None:
        if not stored.ref.startswith(PROPOSAL_REFS):
            raise ValueError("only refs of proposals are deleted")
        with translate_contents_errors(self.slug):
            if self._git.read_ref(stored.ref) == stored.commit:
                self._git.delete_ref(stored.ref)

    def read_files(self, proposal: PatchProposal) -> dict[str, BaseFile]:
        with translate_read_errors(self.slug):
            before, *_, after = self._read_trees(proposal)
            return self._read_changed(before, after)

    def read_commits(self, proposal: PatchProposal) -> list[PatchCommit]:
        with translate_read_errors(self.slug):
            changes = starmap(self._read_changed, pairwise(self._read_trees(proposal)))
            messages = [read_facts(self._git.read_commit(sha)).message for sha in proposal.commits]
            return [PatchCommit(files=files, message=message) for files, message in zip(changes, messages, strict=True)]

    def _read_changed(self, before: str, after: str) -> dict[str, BaseFile]:
        return {path: self._read_file(after, path) for path in self._changes.list_changed(before, after)}

    def is_on_default_branch(self, commit: str) -> bool:
        with translate_read_errors(self.slug):
            return self._git.is_ancestor(commit, self._read_default_head())

    def has_other_workflows(self, commit: str) -> bool:
        with translate_read_errors(self.slug):
            trees = self._git.read_commit(commit).tree.sha, self._read_newest_tree()
            then, now = (self._changes.find(tree, WORKFLOWS) for tree in trees)
            return then != now

    def _read_default_head(self) -> str:
        newest = self._git.read_ref(f"refs/heads/{self._default_branch}")
        if newest is None:
            raise unreadable_response()
        return newest

    def list_changed_on_base(self, proposal: PatchProposal) -> list[str]:
        with translate_read_errors(self.slug):
            before, *_, after = self._read_trees(proposal)
            paths = self._changes.list_changed(before, after)
            now = self._read_newest_tree()
            return [path for path in paths if self._changes.find(before, path) != self._changes.find(now, path)]

    def read_code_owners(self) -> str | None:
        with translate_read_errors(self.slug):
            tree = self._read_newest_tree()
            found = (self._changes.find(tree, path) for path in CODE_OWNERS_PLACES)
            entry = next((entry for entry in found if entry), None)
            return self._read_owners_text(entry) if entry else None

    def _read_owners_text(self, entry: TreeEntry) -> str:
        data = self._git.read_blob(entry.sha) if entry.mode in PLAIN_MODES else None
        if data is None or len(data) > MAX_CODE_OWNERS_BYTES:
            raise CannotPublish("CODEOWNERS is no plain file, or larger than the 3 MB that GitHub takes.")
        try:
            return data.decode()
        except UnicodeDecodeError:
            raise CannotPublish("CODEOWNERS is not UTF-8 text.") from None

    def _read_newest_tree(self) -> str:
        return self._git.read_commit(self._read_default_head()).tree.sha

    def _read_trees(self, proposal: PatchProposal) -> list[str]:
        """Returns the trees of the base and of each commit on it. Together they hold what the last one shows."""
        commits = [self._git.read_commit(sha) for sha in (proposal.base, *proposal.commits)]
        if any(child.parents != [parent.sha] for parent, child in pairwise(map(read_facts, commits))):
            raise CannotPublish("The proposal's commits do not follow each other. It is not carried out.")
        before, *tests, after = trees = [one.tree.sha for one in commits]
        if any(self._hides_files(before, one, after) for one in tests):
            raise CannotPublish("The proposal's first commit holds what its diff does not show. It is not carried out.")
        return trees

    def _hides_files(self, before: str, between: str, after: str) -> bool:
        changed = self._changes.list_changed(before, between)
        return any(self._changes.find(between, path) != self._changes.find(after, path) for path in changed)

    def _read_file(self, tree: str, path: str) -> BaseFile:
        entry = self._changes.find(tree, path)
        if entry is None or entry.mode not in PLAIN_MODES:
            raise CannotPublish("The proposal deletes a file, or changes one that is no plain file. It is not used.")
        try:
            text = self._git.read_blob(entry.sha).decode()
        except UnicodeDecodeError:
            raise CannotPublish("The proposal changes a file that is not UTF-8 text. It is not used.") from None
        return BaseFile.model_validate({"text": text, "mode": entry.mode})

    def create_branch(self, name: str, commit: str) -> bool:
        with translate_contents_errors(self.slug):
            return self._git.create_ref(f"refs/heads/{name}", commit) == commit

    def find_pull_request(self, branch: str, commit: str) -> PullRequest | None:
        with translate_read_errors(self.slug), translate_pull_request_read_errors(self.slug):
            return self._pull_requests.find(branch, commit, self._default_branch)

    def open_pull_request(self, branch: str, commit: str, title: str, body: str) -> PullRequest:
        with translate_pull_request_errors(self.slug):
            return self._pull_requests.open_draft(branch, commit, self._default_branch, title, body)

    def build_compare_url(self, branch: str) -> str:
        return f"{self.server_url}/{self.slug}/compare/{quote(branch, safe='/')}?expand=1"


def _parse_request(slug: str, request: CommitRequest) -> PatchProposal:
    """Returns what the commits will be read as, with invented ids. Nothing that cannot be read again is written."""
    facts, parent, now = list[CommitFacts](), request.base, datetime(2000, 1, 1, tzinfo=UTC)
    for number, commit in enumerate(request.commits, 1):
        sha = f"{number:040x}"
        facts.append(CommitFacts(sha=sha, parents=[parent], message=commit.message, committed_at=now))
        parent = sha
    read = parse_proposal(slug, *reversed(facts))
    wanted = (request.issue, request.base, len(request.commits))
    if read is None or (read.issue, read.base, len(read.commits)) != wanted:
        raise CannotPublish("The proposal's message does not describe its commits. It is not stored.")
    return read


def _is_same_draft(one: PatchProposal, other: PatchProposal) -> bool:
    return (one.draft, one.base) == (other.draft, other.base)
