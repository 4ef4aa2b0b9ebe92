"""Where a fix at a terminal, or on a server, goes."""

from triage.domain.proposal import Patch, PendingMutation
from triage.fix.base_files import BaseFiles
from triage.fix.commit_text import build_commits, make_branch_name
from triage.git.write import UserRepository


class LocalBranch:
    """A branch of the checkout. Nothing is pushed. Whoever can run this may make branches.

    Commits of what was rejected stay: git deletes them after two weeks.
    """

    def __init__(self, files: BaseFiles, repository: UserRepository) -> None:
        self.files, self._repository = files, repository

    def write_commits(self, patch: Patch) -> list[str]:
        """Return the commits of a patch, to which no branch leads."""
        return self._repository.write_commits(patch.base, build_commits(patch, self.files, is_local=True))

    def make_commits(self, patch: Patch) -> PendingMutation:
        """Return the last commit of a patch, and a name for its branch that no earlier fix of the issue has taken."""
        commit, name = self.write_commits(patch)[-1], make_branch_name(patch.issue, patch.issue_title)
        name = f"{name}-{commit[:7]}" if self._repository.has_branch(name) else name
        return PendingMutation(commit=commit, branch=name)

    def create(self, pending: PendingMutation) -> None:
        self._repository.create_branch(pending.branch, pending.commit)
