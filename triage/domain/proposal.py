"""What a person is asked to approve: frozen values, and what GitHub says about them.

What is carried out is the value whose id the person named, and nothing else (`triage.approval`).
"""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from triage.domain.value import Value

PROPOSAL_LIFETIME = timedelta(days=7)
"""An older proposal is not carried out."""
MAX_REVISIONS = 3
"""Times that a patch is made again with a person's words."""

Approvers = Literal["write", "owners"]
"""Who may approve a patch."""
ProposalTests = Literal["", "proved", "unproved", "failed", "unclear", "uncounted", "none"]
"""What the project's tests said of a patch; empty if nobody reported it."""

CommitId = Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]
TextHash = Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]
"""Of an issue's title and body, see `publish.hidden_state.hash_text`."""
ProposalId = Annotated[str, Field(pattern=r"^[0-9a-f]{12}$")]
"""The first digits of the SHA-256 of a proposal's canonical JSON."""


class SuggestionProposal(Value):
    """Labels, an issue type and an assignee for one issue."""

    kind: Literal["suggestions"] = "suggestions"
    repository: str
    """`owner/name`."""
    issue: int
    issue_text: TextHash
    created_at: datetime
    """UTC, in whole seconds."""
    labels: list[str] = Field(default_factory=list)
    issue_type: str = ""
    assignee: str = ""


class PatchProposal(Value):
    """A patch as commits on GitHub. Everything here is read from the commits themselves."""

    kind: Literal["patch"] = "patch"
    repository: str
    """`owner/name`."""
    issue: int
    issue_text: TextHash
    created_at: datetime
    """Time of the last commit by GitHub's clock, in whole seconds."""
    base: CommitId
    test_commit: CommitId | None = None
    """The commit with the tests alone, as `commit` has them too; none if the patch has no test, or nothing else."""
    commit: CommitId
    """The whole patch. Its parent is `test_commit`, or `base` without one."""
    draft: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    """SHA-256 of the draft that the commits were made from."""
    revision: int = Field(0, ge=0, le=MAX_REVISIONS)
    """How often it was made again with a person's words."""

    @property
    def commits(self) -> list[str]:
        """All commits on the base, the first one first."""
        return [self.test_commit, self.commit] if self.test_commit else [self.commit]


Proposal = SuggestionProposal | PatchProposal


class ProposalStatus(StrEnum):
    NONE = "none"
    AWAITING = "awaiting"
    APPROVED = "approved"
    REJECTED = "rejected"
    EXPIRED = "expired"
    ABANDONED = "abandoned"


ReviewerStrategy = Literal["write", "owners"]
"""Who may approve: anybody with write access, or one of the owners of the touched paths."""


class PendingMutation(Value):
    """A tool call that would change something. It runs only after a person said yes, and as it is here."""

    tool_call_id: str
    name: str
    args: str
    """Canonical JSON."""
    created_at: datetime
    approval_id: ProposalId
    """The first digits of the SHA-256 of everything above (`approval.tool_gate`)."""
    status: Literal["pending", "approved", "rejected", "expired"] = "pending"


class StoredProposal(Value):
    """A patch proposal and where it stands."""

    proposal: PatchProposal
    ref: str
    """`refs/triage/proposals/<issue>/<n>`, or `refs/heads/triage/<issue>-<slug>` once it is approved."""

    @property
    def is_branch(self) -> bool:
        return self.ref.startswith("refs/heads/")

    @property
    def branch_name(self) -> str:
        """Of a branch; empty for a ref that is none."""
        return self.ref.removeprefix("refs/heads/") if self.is_branch else ""


class CommentRecord(Value):
    """One of our comments with its text, and whether anybody else has edited it, read in one question."""

    comment_id: int
    body: str
    is_ours_alone: bool
    """GitHub says that its author and everybody who edited it is the login of our token."""


class PullRequest(Value):
    number: int
    url: str
    is_draft: bool = True
    body: str = ""
