"""The fix flow's graph: its state, what is known of one change, and its context, what acts on it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from operator import add
from typing import TYPE_CHECKING, Annotated, NamedTuple

from pydantic import Field

from triage.agents.services import Services
from triage.domain.code import Passage
from triage.domain.issue import Issue, ParsedIssue, Repository
from triage.domain.proposal import Patch, PatchedFile, PendingMutation, ProposalStatus, RequestKind
from triage.domain.report import RunReport
from triage.domain.run import StepRecord
from triage.domain.value import Value
from triage.fix.patch.modules import Module, list_modules
from triage.graph.capabilities import FIX_CAPABILITIES, restrict_services

if TYPE_CHECKING:
    from triage.fix.base_files import BaseFiles
    from triage.fix.local_branch import LocalBranch
    from triage.outside.model.chat_model import ChatModel


class FixState(Value):
    """One change, from the issue to the answer of a person: plain data, what the graph remembers and its steps read."""

    issue: Issue
    """Its thread holds the comments of other people as the page shows them, once the issue was read."""
    repository: Repository
    parsed: ParsedIssue = ParsedIssue()
    report: RunReport | None = None
    """The triage that the fix starts from."""
    change_request: str = ""
    """What a person with write access wants, in their words."""

    example: str = ""
    """The code in the issue, as `FixExample.describe` tells it; empty without one."""

    ticket_key: str = ""
    """The ticket is the issue: its number, for whoever is asked."""
    ticket_type: RequestKind = "Bug"
    technical_summary: str = ""
    acceptance_criteria: list[str] = Field(default_factory=list)

    affected_modules: list[str] = Field(default_factory=list)
    """Those that may change."""
    affected_files: list[str] = Field(default_factory=list)
    """Likely to change, the likeliest first."""
    retrieved_chunks: list[Passage] = Field(default_factory=list)

    summary: str = ""
    """Of the change, in one line."""
    root_cause: str | None = None
    proposed_changes: list[PatchedFile] = Field(default_factory=list)
    proposed_tests: list[PatchedFile] = Field(default_factory=list)
    no_test_reason: str = ""
    unverified: list[str] = Field(default_factory=list)

    human_feedback: list[str] = Field(default_factory=list)
    """What a person said of earlier versions, oldest first."""
    check_output: str = ""
    """What the project's own check printed when it failed with the last version."""
    failed_checks: int = 0
    iteration_count: int = 0
    """How often the change was made again with a person's words."""

    patch: Patch | None = None
    diff: str = ""
    """Of the last version; at the start of a revision, of the one that a person wants changed."""
    diff_summary: str = ""
    """What a person reads before they decide: Markdown."""
    pending_mutation: PendingMutation | None = None
    """The branch that waits for a person; none where a job of its own makes one."""
    human_approved: bool | None = None
    rejection_reason: str = ""
    """A person's words."""

    branch_name: str = ""
    status: ProposalStatus = ProposalStatus.NONE
    error: str | None = None
    """Why there is no proposal, or why an approved one was not carried out: sentences for a person."""
    messages: Annotated[list[str], add] = Field(default_factory=list)
    """One line per step, for whoever follows the run. Words of ours, paths and numbers."""
    steps: Annotated[list[StepRecord], add] = Field(default_factory=list)


class CheckVerdict(NamedTuple):
    """What the project's own check makes of a patch."""

    text: str
    """For the person who decides."""
    output: str = ""
    """What was printed, if it fails. Not masked."""
    may_be_fixed: bool = False
    """Whether the cause is the patch, so that the model can be asked again."""


@dataclass(frozen=True)
class FixContext:
    services: Services
    base_files: BaseFiles
    """Of the commit that a patch starts from."""
    triage: Callable[[Issue, Repository], Awaitable[RunReport]]
    """Makes the report that the fix starts from, if there is none."""
    branch: LocalBranch | None = None
    """Where an approved change goes. None in a job: the proposal is its end."""
    check: Callable[[Patch], CheckVerdict] | None = None
    """Runs the project's own check; none in a job, where `verify` does. Slow; raises TriageError if it cannot run."""

    @property
    def model(self) -> ChatModel:
        """The run's model: `fetch_ticket` ends a run without one."""
        assert self.services.model is not None
        return self.services.model

    @property
    def restricted_services(self) -> Services:
        """The services without what sends something out, for the nodes that make a patch."""
        return restrict_services(self.services, FIX_CAPABILITIES)

    def list_modules(self) -> Sequence[Module]:
        """The parts of the repository to which a patch can be limited. Takes up to seconds."""
        return list_modules(self.base_files.list_editable(), self.services.config.modules)
