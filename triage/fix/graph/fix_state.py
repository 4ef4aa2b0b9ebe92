"""What the graph of the fix flow remembers: plain data."""

from operator import add
from typing import Annotated

from pydantic import Field

from triage.domain.proposal import PatchDraft, PendingMutation, ProposalStatus
from triage.domain.run import StepRecord
from triage.fix.fix import FixInput


class FixState(FixInput):
    """One proposal, from the issue to the pull request."""

    draft: PatchDraft | None = None
    diff: str = ""
    """Of the last version; at the start of a revision, of the one that a person wants changed."""
    diff_summary: str = ""
    """What a person reads before they decide: Markdown."""
    pending_mutation: PendingMutation | None = None
    """The pull request that waits for a person. With it, the flow starts at the gate."""
    human_approved: bool | None = None

    branch_name: str = ""
    pr_url: str | None = None
    status: ProposalStatus = ProposalStatus.NONE
    error: str | None = None
    """Why there is no proposal, or why an approved one was not carried out: sentences for a person."""
    messages: Annotated[list[str], add] = Field(default_factory=list)
    """One line per step, for whoever follows the run. Words of ours, paths and numbers."""
    steps: Annotated[list[StepRecord], add] = Field(default_factory=list)
