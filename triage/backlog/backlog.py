"""A backlog: the issues that one pass has listed, their batches, and what became of each issue."""

from datetime import datetime
from typing import Literal

from pydantic import AwareDatetime, Field

from triage.domain.issue import Issue
from triage.domain.report import RunReport
from triage.domain.run import Count, Dollars
from triage.domain.value import Value

MAX_BATCHES = 256
"""Jobs of one matrix (GitHub's documentation, usage limits of workflows)."""
MAX_BATCH_SIZE = 1_000
DEFAULT_BATCH_SIZE = 20
DEFAULT_BATCH_SECONDS = 3_000.0
DEFAULT_USD, DEFAULT_TOKENS = 10.0, 10_000_000
"""For all issues of a backlog together."""
MAX_COMMENTS = 100
"""In one job. A comment takes seven requests if none fails, and a job's token has 1,000 in an hour."""


class ListedIssue(Value):
    """An issue as the list shows it, with its whole thread."""

    issue: Issue
    created_at: AwareDatetime


class Cursor(Value):
    """Where a list ends: it goes on with issues that are at most as new as `created_at`, without `numbers`."""

    created_at: AwareDatetime
    numbers: list[int] = Field(default_factory=list)
    """Issues of this second that were listed."""


class BacklogPage(Value):
    """Some issues, newest first."""

    issues: list[ListedIssue] = Field(default_factory=list)
    unreadable: list[int] = Field(default_factory=list)
    """Numbers of issues whose data cannot be read."""


class LeftOut(Value):
    """A listed issue that no batch has."""

    number: int
    title: str
    reason: str


class Caps(Value):
    """Limits for issues together."""

    usd: Dollars
    tokens: Count


class BacklogPlan(Value):
    """What the jobs after the list share."""

    schema_version: Literal["1"] = "1"
    repository: str
    """`owner/name`."""
    server_url: str
    query: str
    listed_at: datetime
    batches: list[list[int]] = Field(default_factory=list, max_length=MAX_BATCHES)
    """Numbers of issues."""
    left_out: list[LeftOut] = Field(default_factory=list)
    caps: Caps
    """For the issues of all batches together."""
    labels: list[str] = Field(default_factory=list)
    """Of the repository: those that may be suggested."""
    next_cursor: str = ""
    """Where the next list goes on; empty if there are no more issues."""
    notes: list[str] = Field(default_factory=list)
    """What is missing, one sentence each."""

    @property
    def issue_count(self) -> int:
        return sum(map(len, self.batches))


class BatchRecord(Value):
    """A line in the file of a batch. A triage has two: one before it begins, and one when it has ended."""

    number: int
    reserved: Caps | None = None
    """What a triage that begins may take."""
    spent: Caps | None = None
    """What it took."""
    report: RunReport | None = None
    reason: str = ""
    """Why there is no report."""
    is_final: bool = True
    """Whether a batch that starts again leaves the issue as it is."""
