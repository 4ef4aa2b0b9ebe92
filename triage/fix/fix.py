"""What the steps of the fix flow read: everything known so far about one change. The state of its graph extends it."""

from pydantic import Field

from triage.domain.code import Passage
from triage.domain.issue import Issue, ParsedIssue, Repository
from triage.domain.proposal import AffectedModule, FileVersion, RequestKind
from triage.domain.report import RunReport
from triage.domain.value import Value
from triage.fix.fix_answers import Complexity


class RetrievedPassage(Value):
    passage: Passage
    similarity: float
    """Of its file, relative to the best file of the query, which has 1.0."""


class FixInput(Value):
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
    ticket_description: str = ""
    ticket_type: RequestKind = "Bug"
    ticket_labels: list[str] = Field(default_factory=list)
    technical_summary: str = ""
    complexity: Complexity = "medium"
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
