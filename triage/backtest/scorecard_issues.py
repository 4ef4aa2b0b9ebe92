"""Reads what a scorecard counts, and stores its weeks in a comment on an issue."""

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from triage.backtest.triaged_issues import TriagedIssues
from triage.backtest.weekly_trend import MARKER
from triage.base.errors import GitHubUnavailable
from triage.domain.issue import IssueComment
from triage.domain.past_issues import ClosedIssues
from triage.github.comments import Comments
from triage.github.github_errors import (
    ErrorKind,
    GitHubError,
    translate_read_errors,
    translate_write_errors,
)
from triage.github.repository_connection import RepositoryConnection


@dataclass
class ScorecardIssues(RepositoryConnection):
    """The closed issues of a repository, and the comment on one that stores the weeks.

    Raises:
        GitHubUnavailable: GitHub did not answer, or has no GraphQL API there.
        TriageError: The token may not read or write, or the issue does not exist.
    """

    @cached_property
    def _comments(self) -> Comments:
        return Comments(self._client, self._repo, self.reread_seconds, marker=MARKER)

    def read_closed_issues(self, since: datetime) -> ClosedIssues:
        with translate_read_errors(self.slug):
            try:
                return TriagedIssues(self._client, self.slug, self._comments.is_own_login).read(since)
            except GitHubError as error:
                if error.kind is not ErrorKind.GONE:
                    raise
                raise GitHubUnavailable(
                    "GitHub's GraphQL API was not found here, and closed issues come from it."
                ) from None

    def read_trend(self, number: int) -> str:
        comment = self._find_trend(number)
        return comment.body if comment else ""

    def write_trend(self, number: int, body: str) -> None:
        comment = self._find_trend(number)
        with translate_write_errors(self.slug):
            if comment is None:
                self._comments.post(number, body)
            elif comment.body != body and comment.comment_id:
                self._comments.edit(number, comment.comment_id, body)

    def _find_trend(self, number: int) -> IssueComment | None:
        with translate_read_errors(self.slug, number):
            comments = self._comments.fetch_all(number)
            return next((comment for comment in comments if comment.ours), None)
