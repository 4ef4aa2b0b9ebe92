"""The ports of proposals without any secret of ours in what is written.

A file or a message with a secret is refused, and not masked: what is stored must be what a person approves.
"""

from collections.abc import Iterable

from triage.base.errors import CannotPublish
from triage.domain.effect import Reaction
from triage.domain.proposal import BaseFile, CommentRecord, PatchProposal, PullRequest, StoredProposal
from triage.proposal_ports import CommitRequest, IssueApprovals, ProposalStore
from triage.safety.secrets.redactor import SecretRedactor


class RedactingIssueApprovals:
    """Reads pass as they are: an approval compares them with what it was given."""

    def __init__(self, approvals: IssueApprovals, redactor: SecretRedactor) -> None:
        self._approvals, self._redactor = approvals, redactor

    def read_comment_record(self, comment_id: int) -> CommentRecord | None:
        return self._approvals.read_comment_record(comment_id)

    def react(self, comment_id: int, reaction: Reaction) -> None:
        self._approvals.react(comment_id, reaction)

    def set_issue_type(self, number: int, name: str) -> None:
        """As the port. Raises CannotPublish for a secret."""
        _refuse_secrets(self._redactor, "issue type", [name])
        self._approvals.set_issue_type(number, name)

    def add_assignee(self, number: int, login: str) -> None:
        """As the port. Raises CannotPublish for a secret."""
        _refuse_secrets(self._redactor, "assignee", [login])
        self._approvals.add_assignee(number, login)


class RedactingProposalStore:
    """Every write raises CannotPublish for a secret."""

    def __init__(self, store: ProposalStore, redactor: SecretRedactor) -> None:
        self._store, self._redactor = store, redactor

    def list_proposals(self, issue: int) -> list[StoredProposal]:
        return self._store.list_proposals(issue)

    def list_expired(self, limit: int) -> list[StoredProposal]:
        return self._store.list_expired(limit)

    def store(self, request: CommitRequest) -> StoredProposal:
        files = [*request.test_files.items(), *request.files.items()]
        texts = [part for path, file in files for part in (path, file.text)]
        _refuse_secrets(self._redactor, "proposal", [*texts, request.test_message, request.message])
        return self._store.store(request)

    def delete(self, stored: StoredProposal) -> None:
        self._store.delete(stored)

    def read_files(self, proposal: PatchProposal) -> dict[str, BaseFile]:
        return self._store.read_files(proposal)

    def read_test_files(self, proposal: PatchProposal) -> dict[str, BaseFile]:
        return self._store.read_test_files(proposal)

    def read_messages(self, proposal: PatchProposal) -> list[str]:
        return self._store.read_messages(proposal)

    def is_on_default_branch(self, commit: str) -> bool:
        return self._store.is_on_default_branch(commit)

    def list_changed_on_base(self, proposal: PatchProposal) -> list[str]:
        return self._store.list_changed_on_base(proposal)

    def read_code_owners(self) -> str | None:
        return self._store.read_code_owners()

    def create_branch(self, name: str, commit: str) -> bool:
        _refuse_secrets(self._redactor, "branch's name", [name])
        return self._store.create_branch(name, commit)

    def find_pull_request(self, branch: str, commit: str) -> PullRequest | None:
        return self._store.find_pull_request(branch, commit)

    def open_pull_request(self, branch: str, commit: str, title: str, body: str) -> PullRequest:
        _refuse_secrets(self._redactor, "pull request", [branch, title, body])
        return self._store.open_pull_request(branch, commit, title, body)

    def build_compare_url(self, branch: str) -> str:
        return self._store.build_compare_url(branch)


def _refuse_secrets(redactor: SecretRedactor, what: str, texts: Iterable[str]) -> None:
    if any(redactor.has_match(text) for text in texts):
        raise CannotPublish(
            f"The {what} has a secret of this job in it and was not written. Somebody has written the secret where "
            "others can read it: replace it."
        )
