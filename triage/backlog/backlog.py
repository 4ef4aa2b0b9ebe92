"""A backlog: the issues of one list, and what is not in it."""

from datetime import datetime

from pydantic import Field

from triage.domain.issue import Issue
from triage.domain.past_issues import PastIssue
from triage.domain.value import Value

MAX_ISSUES = 1_000
"""Of one list: GitHub's search returns no more."""
BATCH_SIZE = 20
BATCH_SECONDS = 3_000.0
"""After these a job begins no further triage."""


class LeftOut(Value):
    """A listed issue that is not triaged."""

    number: int
    title: str
    reason: str


class Backlog(Value):
    """What the jobs after the list share."""

    repository: str
    """`owner/name`."""
    server_url: str
    query: str
    listed_at: datetime
    issues: list[Issue] = Field(default_factory=list)
    """Those to triage, newest first."""
    past: list[PastIssue] = Field(default_factory=list)
    """Those to compare with, newest first."""
    left_out: list[LeftOut] = Field(default_factory=list)
    next_query: str = ""
    """Lists what is older; empty if nothing is."""

    @property
    def batches(self) -> list[list[Issue]]:
        return [self.issues[start : start + BATCH_SIZE] for start in range(0, len(self.issues), BATCH_SIZE)]
