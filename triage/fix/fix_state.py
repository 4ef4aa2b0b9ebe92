"""What is known of one change, from the issue to the pull request."""

from operator import add
from typing import Annotated

from pydantic import Field

from triage.domain.code import Passage
from triage.domain.issue import Issue, ParsedIssue, Repository
from triage.domain.proposal import AffectedModule, FileVersion, PatchDraft, PendingMutation, ProposalStatus, RequestKind
from triage.domain.report import RunReport
from triage.domain.run import StepRecord
from triage.domain.value import Value


class RetrievedPassage(Value):
    passage: Passage
    similarity: float
    """Of its file, relative to the best file of the query, which has 1.0."""


class FixState(Value):
    """One change, from the issue to the pull request: plain data, what the graph remembers and its steps read."""

    issue: Issue
    """Its thread holds the comments of other people as the page shows them, once the issue was read."""
    repository: Repository
    parsed: ParsedIssue = ParsedIssue()
    report: RunReport | None = None
    """The triage that the fix starts from."""
    change_request: str = ""
    """What a person with write access wants, in their words."""

    ticket_key: str = ""
    ticket_summary: str = ""
    ticket_type: RequestKind = "Bug"
    technical_summary: str = ""
    acceptance_criteria: list[str] = Field(default_factory=list)

    affected_modules: list[AffectedModule] = Field(default_factory=list)
    affected_files: list[str] = Field(default_factory=list)
    """Likely to change, the likeliest first."""
    retrieved_chunks: list[RetrievedPassage] = Field(default_factory=list)

    summary: str = ""
    """Of the change, in one line."""
    root_cause: str | None = None
    proposed_changes: list[FileVersion] = Field(default_factory=list)
    proposed_tests: list[FileVersion] = Field(default_factory=list)
    no_test_reason: str = ""
    unverified: list[str] = Field(default_factory=list)

    human_feedback: list[str] = Field(default_factory=list)
    """What a person said of earlier versions, oldest first."""
    check_output: str = ""
    """What the project's own check printed when it failed with the last version."""
    check_failures: int = 0
    iteration_count: int = 0
    """How often the change was made again with a person's words."""

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
