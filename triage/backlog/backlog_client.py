"""Lists a repository's issues for a backlog, and writes the issue that shows its table."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from pydantic import Field

from triage.backlog.backlog import TABLE_MARKER, BacklogPage, Cursor
from triage.backlog.backlog_issues import BacklogIssues
from triage.github.comments import JOB_TOKEN_LOGIN, Comments
from triage.github.github_errors import ErrorKind, GitHubError, translate_read_errors, translate_write_errors
from triage.github.repository_connection import RepositoryConnection
from triage.github.responses import IssueResponse, parse_response

MAX_OPEN_TRIES = 3
"""Of a new issue whose response is lost. The list is read again before each."""


class _WrittenIssue(IssueResponse):
    number: int = Field(ge=1)


@dataclass
class BacklogClient(RepositoryConnection):
    """Implements `backlog_ports.BacklogSource` and `backlog_ports.TableIssue`."""

    @cached_property
    def _comments(self) -> Comments:
        return Comments(self._client, self._repo, self.reread_seconds)

    def iterate(self, query: str, cursor: Cursor | None) -> Iterator[BacklogPage]:
        lister = BacklogIssues(self._client, self.slug, self._comments.is_own_login, self.backoff_seconds)
        with translate_read_errors(self.slug):
            yield from lister.iterate_pages(query, cursor)

    def write(self, title: str, body: str) -> tuple[int, str]:
        with translate_write_errors(self.slug):
            found = self._find_table()
            if found is None:
                return self._open_table(title, body)
            path = f"{self._repo}/issues/{found.number}"
            sent = self._client.write("PATCH", path, {"title": title, "body": body}, idempotent=True)
            return found.number, parse_response(_WrittenIssue, sent).html_url

    def _open_table(self, title: str, body: str) -> tuple[int, str]:
        for attempt in range(1, MAX_OPEN_TRIES + 1):
            try:
                sent = self._client.write(
                    "POST", f"{self._repo}/issues", {"title": title, "body": body}, idempotent=False
                )
                opened = parse_response(_WrittenIssue, sent)
            except GitHubError as error:
                if error.kind is not ErrorKind.UNKNOWN_OUTCOME:
                    raise
                written = self._find_table()
                if written is None and attempt < MAX_OPEN_TRIES:
                    continue
                if written is None:
                    raise
                opened = written
            return opened.number, opened.html_url
        raise AssertionError

    def _find_table(self) -> _WrittenIssue | None:
        """Returns the oldest open issue that begins with the marker and that one of our logins has written."""
        ours = {"state": "open", "sort": "created", "direction": "asc", "creator": self._own_login()}
        for page in self._client.iterate_pages(f"{self._repo}/issues", ours):
            for issue in (parse_response(_WrittenIssue, raw) for raw in page):
                is_own = issue.user is not None and self._comments.is_own_login(issue.user.login)
                if is_own and issue.pull_request is None and (issue.body or "").startswith(TABLE_MARKER):
                    return issue
        return None

    def _own_login(self) -> str:
        return self._client.fetch_viewer_login() or JOB_TOKEN_LOGIN
