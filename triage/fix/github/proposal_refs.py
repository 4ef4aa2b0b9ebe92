"""Reads proposals from the refs that lead to them."""

import re
from dataclasses import dataclass

from triage.domain.proposal import StoredProposal
from triage.fix.commit_text import parse_proposal
from triage.fix.github.git_data import GitData
from triage.github.github_errors import ErrorKind, GitHubError

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

    def list_for_issue(self, issue: int) -> list[StoredProposal]:
        """Returns the issue's proposals and branches, oldest first; of the same time, proposals first."""
        # Branches first: they say what is done already, however many proposals there are.
        refs = {**self.git.list_refs(f"refs/heads/triage/{issue}-"), **self.git.list_refs(f"{PROPOSAL_REFS}{issue}/")}
        found = [self.read(ref, commit) for ref, commit in list(refs.items())[:MAX_REFS]]
        return sorted((one for one in found if one), key=_order)

    def read(self, ref: str, commit: str) -> StoredProposal | None:
        """Returns what a ref stands for; None if its commit is no proposal for the issue in the ref's name."""
        named = _PROPOSAL_REF.fullmatch(ref) or _BRANCH_REF.fullmatch(ref)
        if named is None:
            return None
        try:
            head = self.git.read_commit(commit).to_facts()
            proposal = parse_proposal(self.slug, head)
            if proposal is None and len(head.parents) == 1 and "Triage-Commits: 2" in head.message:
                proposal = parse_proposal(self.slug, head, self.git.read_commit(head.parents[0]).to_facts())
        except GitHubError as error:
            if error.kind is ErrorKind.GONE:
                return None
            raise
        is_meant = proposal is not None and proposal.issue == int(named["issue"])
        return StoredProposal(proposal=proposal, ref=ref) if proposal and is_meant else None

    def find_free_number(self, issue: int) -> int:
        """Returns a number above those of all refs of the issue, whatever they lead to."""
        matches = [_PROPOSAL_REF.fullmatch(ref) for ref in self.git.list_refs(f"{PROPOSAL_REFS}{issue}/")]
        return 1 + max((int(match["number"]) for match in matches if match), default=0)


def _order(stored: StoredProposal) -> tuple[object, ...]:
    named = _PROPOSAL_REF.fullmatch(stored.ref)
    number = int(named["number"]) if named else 0
    return stored.proposal.created_at, stored.is_branch, number, stored.ref
