"""Stores proposals as commits on GitHub, reads them back, and makes branches and pull requests from them.

What fails says who must act.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice, pairwise, starmap
from typing import TYPE_CHECKING

from triage.base.errors import CannotPublish
from triage.domain.proposal import PatchCommit, Proposal, PullRequest, TextFile
from triage.fix.check_command import OFF_DEFAULT_BRANCH, is_expired
from triage.fix.commit_text import normalize_message, parse_proposal
from triage.fix.git_data import GitData, read_commit_facts
from triage.outside.github.github_errors import (
    ErrorKind,
    github_errors,
    translate_contents_errors,
    translate_pull_request_errors,
    translate_read_errors,
    unless_gone,
    unreadable_response,
)
from triage.safety.code_owners import MAX_BYTES as MAX_CODE_OWNERS_BYTES
from triage.safety.code_owners import PLACES as CODE_OWNERS_PLACES

if TYPE_CHECKING:
    from github.PullRequest import PullRequest as GitHubPullRequest

PROPOSAL_REFS = "refs/triage/proposals/"
MAX_REFS = 50
"""More are not read at once."""
_PROPOSAL_REF = re.compile(r"refs/triage/proposals/(?P<issue>[1-9][0-9]{0,9})/[0-9a-f]{1,12}")


WORKFLOWS = ".github/workflows"
PLAIN_MODES = ("100644", "100755")


@dataclass
class GitHubProposalStore(GitData):
    """Patches as commits below `refs/triage/proposals`. Raises TriageError as `github_errors` makes it.

    No file of a checkout is written, and no hook runs.
    """

    refuses_secrets = True

    def _read_default_branch(self) -> str:
        with github_errors():
            return self.repository.default_branch

    def list_proposals(self, issue: int | None = None) -> list[Proposal]:
        """Return the issue's proposals, or those of all issues, oldest first. Other commits are left out."""
        with translate_read_errors(self.slug):
            refs = self.list_refs(f"{PROPOSAL_REFS}{issue}/" if issue is not None else PROPOSAL_REFS)
            found = starmap(self._read_proposal, islice(refs.items(), MAX_REFS))
            return sorted((one for one in found if one), key=lambda one: one.created_at)

    def _read_proposal(self, ref: str, commit: str) -> Proposal | None:
        """Return what a ref stands for; None if its commit is no proposal for the issue in the ref's name."""
        named = _PROPOSAL_REF.fullmatch(ref)
        if named is None:
            return None
        head = unless_gone(lambda: read_commit_facts(self.read_commit(commit)))
        proposal = parse_proposal(head) if head else None
        if head and proposal is None and len(head.parents) == 1 and "Triage-Commits: 2" in head.message:
            parent = unless_gone(lambda: read_commit_facts(self.read_commit(head.parents[0])))
            proposal = parse_proposal(head, parent)
        if proposal is None or proposal.issue != int(named["issue"]):
            return None
        return proposal.model_copy(update={"ref": ref})

    def save(self, issue: int, base: str, commits: Sequence[PatchCommit], now: datetime) -> Proposal:
        """Create commits on a base, as `commit_text.build_commits` gives them, and a ref that has the proposal's id.

        Those that are stored already are not stored again, until they are too old at a time by GitHub's clock.
        Raises PermissionMissing if the token may not write contents.
        """
        with translate_contents_errors(self.slug):
            for stored in self.list_proposals(issue):
                if not is_expired(stored, now) and self.has_exactly(stored, base, commits):
                    return stored
            base_commit = unless_gone(lambda: self.read_commit(base))
            if base_commit is None:
                raise CannotPublish(f"The proposal is not stored: {OFF_DEFAULT_BRANCH}")
            made = [base_commit]
            for commit in commits:
                made.append(self.commit_files(made[-1], commit))
            proposal = parse_proposal(*map(read_commit_facts, reversed(made[1:])))
            name = f"{PROPOSAL_REFS}{issue}/{proposal.id}" if proposal else ""
            if proposal is None or self.create_ref(name, proposal.commit) != proposal.commit:
                raise CannotPublish("GitHub stored another commit than the proposal's. It is not used.")
            return proposal.model_copy(update={"ref": name})

    def delete(self, stored: Proposal) -> None:
        """Delete the ref of a proposal, if it still leads to the proposal's commit. Never a branch."""
        if not stored.ref.startswith(PROPOSAL_REFS):
            raise ValueError("only refs of proposals are deleted")
        with translate_contents_errors(self.slug):
            if self.read_ref(stored.ref) == stored.commit:
                self.delete_ref(stored.ref)

    def has_exactly(self, stored: Proposal, base: str, commits: Sequence[PatchCommit]) -> bool:
        """Return whether a proposal has these commits and nothing else: base, files and messages."""
        if stored.base != base:
            return False
        try:
            found = self.read_commits(stored)
        except CannotPublish:
            return False
        return list(map(_with_normal_message, found)) == list(map(_with_normal_message, commits))

    def read_commits(self, proposal: Proposal) -> list[PatchCommit]:
        """Return the proposal's commits, the first one first. Together they have what the difference of the ends shows.

        Raises CannotPublish if the first one holds something else besides.
        """
        with translate_read_errors(self.slug):
            commits = []
            for sha, (before, after) in zip(proposal.commits, pairwise(self._read_trees(proposal)), strict=True):
                files = {path: self._read_file(after, path) for path in self.list_changed(before, after)}
                message = read_commit_facts(self.read_commit(sha)).message
                commits.append(PatchCommit(files=files, message=message))
            return commits

    def is_on_default_branch(self, commit: str) -> bool:
        """Return whether the default branch leads to this commit now, or to one that stands on it."""
        with translate_read_errors(self.slug):
            return self.is_ancestor(commit, self._read_default_head())

    def has_changed_workflows(self, commit: str) -> bool:
        """Return whether the workflow files of a commit are others than those of the default branch now."""
        with translate_read_errors(self.slug):
            trees = self.read_commit(commit).tree.sha, self._read_newest_tree()
            then, now = (self.find_entry(tree, WORKFLOWS) for tree in trees)
            return then != now

    def _read_default_head(self) -> str:
        newest = self.read_ref(f"refs/heads/{self._read_default_branch()}")
        if newest is None:
            raise unreadable_response()
        return newest

    def list_changed_on_base(self, proposal: Proposal) -> list[str]:
        """Return paths of the patch whose file on the default branch is another one now than at its base."""
        with translate_read_errors(self.slug):
            before, *_, after = self._read_trees(proposal)
            paths = self.list_changed(before, after)
            now = self._read_newest_tree()
            return [path for path in paths if self.find_entry(before, path) != self.find_entry(now, path)]

    def read_code_owners(self) -> str | None:
        """Return the text of CODEOWNERS at the newest commit of the default branch; None if there is no such file.

        Raises CannotPublish if it is no plain text file, or larger than GitHub takes.
        """
        with translate_read_errors(self.slug):
            tree = self._read_newest_tree()
            found = (self.find_entry(tree, path) for path in CODE_OWNERS_PLACES)
            entry = next((entry for entry in found if entry), None)
            if entry is None:
                return None
            data = self.read_blob(entry.sha) if entry.mode in PLAIN_MODES else None
        if data is None or len(data) > MAX_CODE_OWNERS_BYTES:
            raise CannotPublish("CODEOWNERS is no plain file, or larger than the 3 MB that GitHub takes.")
        try:
            return data.decode()
        except UnicodeDecodeError:
            raise CannotPublish("CODEOWNERS is not UTF-8 text.") from None

    def _read_newest_tree(self) -> str:
        return self.read_commit(self._read_default_head()).tree.sha

    def _read_trees(self, proposal: Proposal) -> list[str]:
        """Returns the trees of the base and of each commit on it. Together they hold what the last one shows."""
        commits = [self.read_commit(sha) for sha in (proposal.base, *proposal.commits)]
        if any(child.parents != [parent.sha] for parent, child in pairwise(map(read_commit_facts, commits))):
            raise CannotPublish("The proposal's commits do not follow each other. It is not carried out.")
        before, *tests, after = trees = [one.tree.sha for one in commits]
        if any(self._hides_files(before, one, after) for one in tests):
            raise CannotPublish("The proposal's first commit holds what its diff does not show. It is not carried out.")
        return trees

    def _hides_files(self, before: str, between: str, after: str) -> bool:
        changed = self.list_changed(before, between)
        return any(self.find_entry(between, path) != self.find_entry(after, path) for path in changed)

    def _read_file(self, tree: str, path: str) -> TextFile:
        """Return a file of a tree. Raises CannotPublish if it is gone, or no plain text."""
        entry = self.find_entry(tree, path)
        if entry is None or entry.mode not in PLAIN_MODES:
            raise CannotPublish("The proposal deletes a file, or changes one that is no plain file. It is not used.")
        try:
            text = self.read_blob(entry.sha).decode()
        except UnicodeDecodeError:
            raise CannotPublish("The proposal changes a file that is not UTF-8 text. It is not used.") from None
        return TextFile.model_validate({"text": text, "mode": entry.mode})

    def create_branch(self, name: str, commit: str) -> bool:
        """Create a branch at a commit. False if the name is taken and leads to another commit."""
        with translate_contents_errors(self.slug):
            return self.create_ref(f"refs/heads/{name}", commit) == commit

    def _find_pull_request(self, branch: str, commit: str) -> PullRequest | None:
        owner, _, _ = self.slug.partition("/")
        with github_errors():
            pulls = self.repository.get_pulls(state="open", head=f"{owner}:{branch}").get_page(0)
            # GitHub lists all pull requests when it cannot read the parameter `head`.
            found = next((pull for pull in pulls if self._is_from(pull, branch, commit)), None)
            return PullRequest(number=found.number, url=found.html_url) if found else None

    def _is_from(self, pull: "GitHubPullRequest", branch: str, commit: str) -> bool:
        # Open, and its head is this commit of this repository's branch, into the default one. A fork may be deleted.
        slug = pull.head.repo.full_name if pull.head.repo else ""
        head = (slug.casefold(), pull.head.ref, pull.head.sha, pull.base.ref)
        return pull.state == "open" and head == (self.slug.casefold(), branch, commit, self._read_default_branch())

    def open_pull_request(self, branch: str, commit: str, title: str, body: str) -> PullRequest:
        """Open a draft pull request into the default branch, unless one of the commit is open: that is returned.

        Raises PullRequestRefused if GitHub does not let this token open one.
        """
        with translate_pull_request_errors(self.slug):
            base = self._read_default_branch()
            if found := self._find_pull_request(branch, commit):
                return found
            self.mask_secrets([title, body, branch])
            return self.write_and_read(
                lambda: self.writable.create_pull(base, branch, title=title, body=body, draft=True),
                lambda: self._find_pull_request(branch, commit),
                ErrorKind.EXISTS,  # GitHub itself refuses a second one of the same two branches
            )


def _with_normal_message(commit: PatchCommit) -> PatchCommit:
    return commit.model_copy(update={"message": normalize_message(commit.message)})
