"""Lists the issues of a repository that a search finds, with their threads, a page of them in one request.

What the fields mean stands in GitHub's GraphQL reference, queries: `search`; and issues: `Issue`, `IssueComment`.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from triage.backlog.backlog import BacklogPage, Cursor, ListedIssue
from triage.backlog.backlog_responses import BacklogIssueResponse, CommentPage, SearchResponse
from triage.backlog.search_query import advance_cursor, build_search
from triage.base.threads import sleep_unless_abandoned
from triage.domain.issue import IssueComment
from triage.github.github_errors import ErrorKind, GitHubError
from triage.github.responses import LONG_TEXTS, parse_response
from triage.issue.long_threads import shorten_thread

if TYPE_CHECKING:
    from triage.github.github_client import GitHubClient

A = TypeVar("A")
PAGE_SIZE = 50
"""With up to 25 comments each. A page of 100 comes close to the ten seconds after which GitHub answers 502."""
PAGE_STEP = 5
"""The page grows by so many after an answer, and is a quarter of its size after an error that may be due to it."""
THREAD_SIZE = LONG_TEXTS
MAX_TRIES = 4
"""Of one page, the last with one issue. The client repeats a request two or three times in each."""
MAX_RETRY_SECONDS = 60.0
"""A longer wait is that of a used-up rate limit."""
_COMMENTS = """pageInfo { hasNextPage endCursor }
      nodes { fullDatabaseId body createdAt updatedAt author { __typename login } }"""
_SEARCH = f"""query($search: String!, $size: Int!, $after: String) {{
  search(type: ISSUE, query: $search, first: $size, after: $after) {{
    issueCount
    pageInfo {{ hasNextPage endCursor }}
    nodes {{ ... on Issue {{ ...listed }} }}
  }}
}}
fragment listed on Issue {{
  number title body url state locked createdAt
  repository {{ nameWithOwner }}
  author {{ __typename login }}
  labels(first: 50) {{ nodes {{ name }} }}
  comments(first: {THREAD_SIZE}) {{
      {_COMMENTS}
  }}
}}"""
_THREAD = f"""query($owner: String!, $name: String!, $number: Int!, $after: String) {{
  repository(owner: $owner, name: $name) {{
    issue(number: $number) {{
      comments(first: {THREAD_SIZE}, after: $after) {{
      {_COMMENTS}
      }}
    }}
  }}
}}"""


@dataclass
class BacklogIssues:
    """The listed issues of one repository. Every failure is a `GitHubError`."""

    client: "GitHubClient"
    slug: str
    is_own_login: Callable[[str], bool]
    """Whether a login is one that this action writes comments with."""
    backoff_seconds: float
    _page_size: int = PAGE_SIZE
    _seen: set[int] = field(default_factory=set)

    def iterate_pages(self, query: str, cursor: Cursor | None) -> Iterator[BacklogPage]:
        """Yields pages, newest issues first, each issue once, also those that move while they are listed."""
        self._seen = set(cursor.numbers) if cursor else set()
        after: str | None = None
        while True:
            response = self._search(build_search(self.slug, query, cursor), after)
            parsed = list(response.parse_issues(self.slug))
            new = [one for one in parsed if not isinstance(one, int) and one.number not in self._seen]
            bad = [one for one in parsed if isinstance(one, int) and one not in self._seen]
            self._seen |= {one.number for one in new} | set(bad)
            listed = [self._complete(one) for one in new]
            yield BacklogPage(issues=listed, unreadable=bad)
            if not response.info.has_next or (after is not None and after == response.info.end):
                break
            following = advance_cursor(cursor, listed)
            # Only issues of one second fill a whole page: then its next page is asked for, and not a new search.
            is_stuck = following is None or (cursor is not None and following.created_at == cursor.created_at)
            cursor, after = following, response.info.end if is_stuck else None

    def _search(self, search: str, after: str | None) -> SearchResponse:
        def ask() -> SearchResponse:
            data = self._query(_SEARCH, {"search": search, "size": self._page_size, "after": after})
            return parse_response(SearchResponse, data.get("search"))

        return self._retry(ask)

    def _complete(self, found: BacklogIssueResponse) -> ListedIssue:
        page, reporter = found.comments, found.login
        thread = shorten_thread(page.list_comments(self.is_own_login), reporter)
        while page.info.has_next and page.info.end:
            page = self._fetch_comments(found.number, page.info.end)
            thread = shorten_thread([*thread, *page.list_comments(self.is_own_login)], reporter)
        now: datetime | None = self.client.server_time
        return found.to_listed(_without_repeats(thread), now)

    def _fetch_comments(self, number: int, after: str) -> CommentPage:
        owner, _, name = self.slug.partition("/")

        def ask() -> CommentPage:
            data = self._query(_THREAD, {"owner": owner, "name": name, "number": number, "after": after})
            issue = (data.get("repository") or {}).get("issue") or {}
            return parse_response(CommentPage, issue.get("comments"))

        return self._retry(ask)

    def _query(self, document: str, variables: Mapping[str, Any]) -> dict[str, Any]:
        return self.client.query(document, variables)

    def _retry(self, ask: Callable[[], A]) -> A:
        """Asks again after an error that passes, for smaller pages: large ones take GitHub too long."""
        for attempt in range(1, MAX_TRIES + 1):
            try:
                answer = ask()
            except GitHubError as error:
                if attempt == MAX_TRIES or not _may_pass(error):
                    raise
                if error.kind is ErrorKind.UNKNOWN_OUTCOME:
                    self._page_size = max(1, self._page_size // 4)
                sleep_unless_abandoned(self.backoff_seconds * 2**attempt)
            else:
                self._page_size = min(PAGE_SIZE, self._page_size + PAGE_STEP)
                return answer
        raise AssertionError


def _may_pass(error: GitHubError) -> bool:
    if error.kind is ErrorKind.RATE_LIMITED:
        return error.max_attempts > 1 and error.retry_after <= MAX_RETRY_SECONDS
    return error.kind is ErrorKind.UNKNOWN_OUTCOME


def _without_repeats(thread: list[IssueComment]) -> list[IssueComment]:
    return list({comment.comment_id: comment for comment in thread}.values())
