"""Reads closed issues and our comments on them with GraphQL, two requests for a page of issues.

What the fields mean stands in GitHub's GraphQL reference: `ClosedEvent.closer`, `Minimizable`, `Reactable`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from triage.backtest.triaged_issue_responses import (
    MAX_TITLE_CHARS,
    ClosedIssuePage,
    ClosedIssueResponse,
    CommentDetails,
    make_fix,
    parse_each,
)
from triage.domain.effect import COMMENT_MARKER
from triage.domain.past_issues import ClosedIssues, ClosingFix, TriagedIssue
from triage.github.commits import MAX_CHANGED_FILES, Commits
from triage.github.github_errors import ErrorKind, GitHubError
from triage.github.responses import parse_response

if TYPE_CHECKING:
    from triage.github.github_client import GitHubClient

PAGE_SIZES = (50, 10)
"""The second one if GitHub cannot answer the first in time."""
MAX_ISSUES = 2_000
MAX_COMMENTS_READ = 5
"""Comments of our account on one issue. Other workflows may write with the same one."""
MAX_COMMIT_READS = 200
"""Of fixes that are no pull request: each takes a request."""
_PULL_REQUEST = "number mergedAt changedFiles repository { nameWithOwner } files(first: 100) { nodes { path } }"
_LINKED = f"closedByPullRequestsReferences(first: 3) {{ nodes {{ {_PULL_REQUEST} }} }}"
_LIST = """query($owner: String!, $name: String!, $size: Int!, $after: String, $since: DateTime) {
  repository(owner: $owner, name: $name) {
    issues(
      first: $size, after: $after, states: [CLOSED]
      orderBy: {field: UPDATED_AT, direction: DESC}, filterBy: {since: $since}
    ) {
      pageInfo { hasNextPage endCursor }
      nodes {
        number title closedAt updatedAt lastEditedAt
        author { __typename login }
        editor { __typename login }
        labels(first: 50) { nodes { name } }
        %s
        events: timelineItems(last: 1, itemTypes: [CLOSED_EVENT]) {
          nodes {
            ... on ClosedEvent {
              closer {
                ... on Commit { oid repository { nameWithOwner } }
                ... on PullRequest { %s }
              }
            }
          }
        }
        comments(first: 100) { nodes { id createdAt author { __typename login } } }
      }
    }
  }
}"""
_FEEDBACK = """isMinimized minimizedReason
      up: reactions(content: THUMBS_UP) { totalCount }
      down: reactions(content: THUMBS_DOWN) { totalCount }"""
_COMMENTS = """query($ids: [ID!]!) {
  nodes(ids: $ids) {
    ... on IssueComment {
      id body createdAt lastEditedAt
      author { __typename login }
      editor { __typename login }
      userContentEdits(first: 100) {
        nodes { editor { __typename login } deletedAt }
        pageInfo { hasNextPage }
      }
      %s
    }
  }
}"""


@dataclass
class TriagedIssues:
    """The closed issues of one repository. Every failure is a `GitHubError`."""

    client: "GitHubClient"
    slug: str
    is_own_login: Callable[[str], bool]
    """Whether a login is one that this action writes comments with."""
    _linked: str = _LINKED
    _feedback: str = _FEEDBACK
    _commit_files: dict[str, ClosingFix | None] = field(default_factory=dict)

    def read(self, since: datetime) -> ClosedIssues:
        """Returns the issues that were closed since then. Only those with a comment of ours are described."""
        closed = dict[int, ClosedIssueResponse]()
        triaged: list[TriagedIssue] = []
        last: datetime | None = None
        for page in self._iterate_pages(since):
            if len(closed) >= MAX_ISSUES and last:
                # The pages are sorted by the last change, which is never before the close.
                since = max(since, last)
                break
            new = [one for one in page if one.closed_at and one.closed_at >= since and one.number not in closed]
            closed |= {one.number: one for one in new}
            triaged += self._describe(new)
            last = min((one.updated_at for one in page if one.updated_at), default=last)
        count = sum(one.closed_at is not None and one.closed_at >= since for one in closed.values())
        return ClosedIssues(closed=count, triaged=[one for one in triaged if one.closed_at >= since], since=since)

    def _iterate_pages(self, since: datetime) -> Iterator[list[ClosedIssueResponse]]:
        cursor, size = None, PAGE_SIZES[0]
        seen = set[str | None]()
        while cursor not in seen:
            seen.add(cursor)
            page, size = self._fetch_page(cursor, size, since)
            yield page.issues
            cursor = page.next_cursor
            if cursor is None:
                break

    def _fetch_page(self, cursor: str | None, size: int, since: datetime) -> tuple[ClosedIssuePage, int]:
        owner, _, name = self.slug.partition("/")
        asked = {"owner": owner, "name": name, "after": cursor, "since": since.isoformat()}
        while True:
            try:
                data = self.client.query(_LIST % (self._linked, _PULL_REQUEST), {**asked, "size": size})
                break
            except GitHubError as error:
                if error.kind is ErrorKind.INVALID and self._linked:
                    self._linked = ""  # an older server
                elif error.kind is ErrorKind.UNKNOWN_OUTCOME and size != PAGE_SIZES[-1]:
                    size = PAGE_SIZES[-1]
                else:
                    raise
        return parse_response(ClosedIssuePage, (data.get("repository") or {}).get("issues")), size

    def _describe(self, issues: list[ClosedIssueResponse]) -> Iterator[TriagedIssue]:
        ids = [key for issue in issues for key in self._list_own_comments(issue)]
        batches = (ids[start : start + PAGE_SIZES[0]] for start in range(0, len(ids), PAGE_SIZES[0]))
        comments = {one.id: one for batch in batches for one in self._fetch_comments(batch)}
        for issue in issues:
            details = next((comments[key] for key in self._list_own_comments(issue) if key in comments), None)
            comment = details.to_comment() if details else None
            if comment and issue.closed_at and comment.posted_at <= issue.closed_at:
                yield TriagedIssue(
                    number=issue.number,
                    title=issue.title[:MAX_TITLE_CHARS],
                    closed_at=issue.closed_at,
                    labels=issue.label_names,
                    fix=self._find_fix(issue),
                    reporter_wrote_at=issue.reporter_wrote_at,
                    comment=comment,
                )

    def _list_own_comments(self, issue: ClosedIssueResponse) -> list[str]:
        # Anybody can write the marker.
        own = (comment.id for comment in issue.thread if self.is_own_login(comment.login))
        return list(islice(own, MAX_COMMENTS_READ))

    def _fetch_comments(self, ids: list[str]) -> Iterator[CommentDetails]:
        for comment in parse_each(CommentDetails, self._query_comments(ids).get("nodes")):
            if comment.body.startswith(COMMENT_MARKER):
                yield comment

    def _query_comments(self, ids: list[str]) -> dict[str, Any]:
        try:
            return self.client.query(_COMMENTS % self._feedback, {"ids": ids})
        except GitHubError as error:
            if error.kind is not ErrorKind.INVALID or not self._feedback:
                raise
            self._feedback = ""
            return self.client.query(_COMMENTS % "", {"ids": ids})

    def _find_fix(self, issue: ClosedIssueResponse) -> ClosingFix | None:
        closers = issue.list_closers(self.slug)
        pulls = [one for one in closers if one.number is not None]
        if pulls:
            return make_fix(pulls)
        return next((self._read_commit(one.oid) for one in closers if one.oid), None)

    def _read_commit(self, sha: str) -> ClosingFix | None:
        if sha not in self._commit_files and len(self._commit_files) < MAX_COMMIT_READS:
            try:
                files = Commits(self.client, f"/repos/{self.slug}").list_changed_files(sha)
                self._commit_files[sha] = ClosingFix(files=files, is_whole=len(files) < MAX_CHANGED_FILES)
            except GitHubError as error:
                if error.kind not in (ErrorKind.GONE, ErrorKind.INVALID):
                    raise
                self._commit_files[sha] = None  # no longer in the repository
        return self._commit_files.get(sha)
