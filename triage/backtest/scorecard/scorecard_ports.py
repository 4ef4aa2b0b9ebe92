"""What a scorecard reads and writes outside."""

from datetime import datetime
from typing import Protocol

from triage.domain.past_issues import ClosedIssues


class ScorecardIssues(Protocol):
    """The closed issues of a repository, and the comment that stores the weeks.

    Raises:
        GitHubUnavailable: GitHub did not answer, or has no GraphQL API there.
        TriageError: The token may not read or write, or the issue does not exist.
    """

    def read_closed_issues(self, since: datetime) -> ClosedIssues:
        """The issues that were closed since then. Takes two requests for 50 issues."""

    def read_trend(self, number: int) -> str:
        """The body of our comment with the weeks on an issue; empty without one."""

    def write_trend(self, number: int, body: str) -> None:
        """Posts that comment, or edits it."""


class TrendFile(Protocol):
    """The weeks in a file between jobs."""

    def read(self) -> str:
        """The text of the last job; empty without one."""

    def write(self, text: str) -> None:
        """Replaces it. Without a folder, or if it cannot be written, nothing is stored."""
