"""Where a fix at a terminal, or on a server, goes."""

from triage.domain.proposal import PatchDraft, PendingMutation
from triage.fix.base_files import BaseFiles
from triage.fix.commit_text import build_commits, make_branch_name
from triage.git.write import UserRepository


class LocalBranch:
    """A branch of the checkout. Nothing is pushed. Whoever can run this may make branches.

    Commits of what was rejected stay: git deletes them after two weeks.
    """

    def __init__(self, files: BaseFiles, repository: UserRepository) -> None:
        self.files, self._repository = files, repository

    def write_commits(self, draft: PatchDraft) -> list[str]:
        """Return the commits of a draft, to which no branch leads."""
        return self._repository.write_commits(draft.base, build_commits(draft, self.files, is_local=True))

    def make_commits(self, draft: PatchDraft) -> PendingMutation:
        """Return the last commit of a draft, and a name for its branch that no earlier fix of the issue has taken."""
        commit, name = self.write_commits(draft)[-1], make_branch_name(draft.issue, draft.issue_title)
        name = f"{name}-{commit[:7]}" if self._repository.has_branch(name) else name
        return PendingMutation(commit=commit, branch=name)

    def create(self, pending: PendingMutation) -> None:
        self._repository.create_branch(pending.branch, pending.commit)
