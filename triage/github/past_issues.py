"""Reads the repository's past issues with GraphQL, a page of them with labels, state and fixes in one request.

What the fields mean stands in GitHub's GraphQL reference, issues: `Issue.stateReason`,
`closedByPullRequestsReferences`, `ClosedEvent.closer`, `MarkedAsDuplicateEvent.canonical`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from triage.domain.past_issues import PastIssue
from triage.github.github_errors import ErrorKind, GitHubError
from triage.github.past_issue_responses import MAX_BODY_CHARS, IssuePage, PastIssueResponse
from triage.github.responses import parse_response

if TYPE_CHECKING:
    from triage.github.github_client import GitHubClient

PAGE_SIZE = 100
"""The largest page that GitHub sends."""
MAX_FOUND = 20
"""Issues of the search by text."""
_PLAIN_FIELDS = """number title body state createdAt updatedAt closedAt
  author { __typename login }
  labels(first: 20) { nodes { name } }
  milestone { title }"""
_FIELDS = f"""{_PLAIN_FIELDS}
  stateReason(enableDuplicate: true)
  issueType {{ name }}
  closedByPullRequestsReferences(first: 2) {{
    nodes {{
      number title mergedAt
      mergeCommit {{ oid messageHeadline }}
      commits(last: 1) {{ totalCount nodes {{ commit {{ messageHeadline }} }} }}
      milestone {{ title }}
      files(first: 30) {{ nodes {{ path }} }}
    }}
  }}
  events: timelineItems(last: 3, itemTypes: [CLOSED_EVENT, MARKED_AS_DUPLICATE_EVENT, UNMARKED_AS_DUPLICATE_EVENT]) {{
    nodes {{
      __typename
      ... on ClosedEvent {{ closer {{ ... on Commit {{ oid messageHeadline committedDate }} }} }}
      ... on MarkedAsDuplicateEvent {{ isCrossRepository canonical {{ ... on Issue {{ number }} }} }}
    }}
  }}
  comments(first: 2) {{ nodes {{ author {{ __typename login }} body }} }}"""
_LIST = """
  repository(owner: $owner, name: $name) {
    issues(first: $size, after: $after, orderBy: {field: CREATED_AT, direction: DESC}) {
      pageInfo { hasNextPage endCursor }
      nodes { ...past }
    }
  }"""
_SEARCH = """
  search(type: ISSUE, query: $search, first: %d) {
    nodes { ... on Issue { repository { nameWithOwner } ...past } }
  }"""
_VARIABLES = "$owner: String!, $name: String!, $size: Int!, $after: String"


@dataclass
class PastIssues:
    """The past issues of one repository. Every failure is a `GitHubError`."""

    client: "GitHubClient"
    slug: str
    is_own_login: Callable[[str], bool]
    """Whether a login is one that this action writes comments with."""
    body_chars: int = MAX_BODY_CHARS
    """Longer texts of issues are cut."""
    _fields: str = _FIELDS
    _size: int = PAGE_SIZE
    """Of the next page; less after one that was too large, whatever strangers have written there."""

    def iterate_pages(self, limit: int, words: str) -> Iterator[list[PastIssue]]:
        """Yields the newest issues, a page at a time, at most `limit`; then those that a search for `words` finds.

        The search is part of the first request.
        """
        numbers: set[int] = set()
        cursor, found = None, list[PastIssue]()
        while len(numbers) < limit:
            page, matches = self._fetch_page(limit - len(numbers), cursor, "" if cursor else words)
            found += matches
            new = [issue for issue in page.issues if issue.number not in numbers]
            numbers |= {issue.number for issue in new}
            yield self._convert(new)
            cursor = page.next_cursor
            if cursor is None or not new:
                break
        yield [issue for issue in found if issue.number not in numbers]

    def _fetch_page(self, wanted: int, cursor: str | None, words: str) -> tuple[IssuePage, list[PastIssue]]:
        while True:
            try:
                return self._ask(min(self._size, wanted), cursor, words)
            except GitHubError as error:
                if error.is_too_large and self._size > 1:
                    self._size = max(1, self._size // 4)
                # An older server does not know a field, or the whole page takes too long there.
                elif self._fields != _PLAIN_FIELDS and error.kind in (ErrorKind.INVALID, ErrorKind.UNKNOWN_OUTCOME):
                    self._fields = _PLAIN_FIELDS
                else:
                    raise

    def _ask(self, size: int, cursor: str | None, words: str) -> tuple[IssuePage, list[PastIssue]]:
        owner, _, name = self.slug.partition("/")
        variables: dict[str, Any] = {"owner": owner, "name": name, "size": size, "after": cursor}
        if words:
            variables["search"] = f"repo:{self.slug} is:issue {words}"
        data = self.client.query(self._write_document(words), variables)
        page = parse_response(IssuePage, (data.get("repository") or {}).get("issues"))
        matches = parse_response(IssuePage, data.get("search") or {})
        return page, self._convert([issue for issue in matches.issues if issue.is_in(self.slug)])

    def _write_document(self, words: str) -> str:
        searched, declared = (_SEARCH % min(MAX_FOUND, self._size), ", $search: String!") if words else ("", "")
        return f"query({_VARIABLES}{declared}) {{{_LIST}{searched}\n}}\nfragment past on Issue {{\n  {self._fields}\n}}"

    def _convert(self, issues: list[PastIssueResponse]) -> list[PastIssue]:
        return [issue.to_past_issue(self.is_own_login, self.body_chars) for issue in issues]
