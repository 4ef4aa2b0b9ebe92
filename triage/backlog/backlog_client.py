"""Lists the issues of a repository that a search finds, with their threads.

A page of issues takes one request. GitHub's search returns at most 1,000 results, and its pages shift when issues are
closed meanwhile. So each page is a search of its own, for the issues that are at most as new as the last one found.
What the fields mean stands in GitHub's GraphQL reference, queries: `search`; and issues: `Issue`, `IssueComment`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError

from triage.backlog.backlog import BacklogPage, Cursor, ListedIssue
from triage.base.errors import BadInput
from triage.base.timestamps import parse_timestamp
from triage.domain.effect import COMMENT_MARKER
from triage.domain.issue import Issue, IssueComment
from triage.github.comments import Comments
from triage.github.github_errors import translate_read_errors
from triage.github.graphql import CommentPage, IssueNode, NodePage, Pages, list_nodes
from triage.github.repository_connection import RepositoryConnection
from triage.github.responses import parse_response
from triage.issue.read_issue import shorten_thread

MAX_QUERY_CHARS = 200
MAX_CURSOR_CHARS = 2_000
_REFUSED = re.compile(r"(?:^|[\s(-])((?:repo|org|user|sort|created|type):|is:(?:pr|pull-request|issue)\b)", re.I)
_CURSOR = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)((?:/[1-9]\d{0,9})*)", re.ASCII)
PAGE_SIZE = 50
"""With up to 25 comments each. A page of 100 comes close to the ten seconds after which GitHub answers 502."""
LONG_TEXTS = 25
"""Comments on one page: 10 MB, as a text has 65,536 characters of six bytes at most (`\\u001b`)."""
MAX_TRIES = 4
"""Of one page, the last with one issue."""
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
  comments(first: {LONG_TEXTS}) {{
      {_COMMENTS}
  }}
}}"""
_THREAD = f"""query($owner: String!, $name: String!, $number: Int!, $size: Int!, $after: String) {{
  repository(owner: $owner, name: $name) {{
    issue(number: $number) {{
      comments(first: $size, after: $after) {{
      {_COMMENTS}
      }}
    }}
  }}
}}"""


@dataclass
class BacklogClient(RepositoryConnection):
    """The issues of one repository. Every method raises SetupError or GitHubUnavailable."""

    @cached_property
    def _comments(self) -> Comments:
        return Comments(self)

    @cached_property
    def _pages(self) -> Pages:
        return Pages(self, PAGE_SIZE, MAX_TRIES)

    @cached_property
    def _threads(self) -> Pages:
        return Pages(self, LONG_TEXTS, MAX_TRIES)

    def iterate(self, query: str, cursor: Cursor | None) -> Iterator[BacklogPage]:
        """Yield pages, newest issues first, each issue once, also those that move while they are listed.

        `query` is one of `check_query`. With a cursor, only what comes after it.
        """
        with translate_read_errors(self.slug):
            yield from self._iterate(query, cursor)

    def _iterate(self, query: str, cursor: Cursor | None) -> Iterator[BacklogPage]:
        seen = set(cursor.numbers) if cursor else set[int]()
        after: str | None = None
        while True:
            asked = {"search": build_search(self.slug, query, cursor), "after": after}
            page = parse_response(NodePage, self._pages.ask(lambda: _SEARCH, asked).get("search"))
            parsed = [one for one in _parse_issues(page, self.slug) if _get_number(one) not in seen]
            seen |= set(map(_get_number, parsed))
            listed = [self._complete(one) for one in parsed if isinstance(one, _ListedNode)]
            yield BacklogPage(issues=listed, unreadable=[one for one in parsed if isinstance(one, int)])
            if not page.info.has_next or (after is not None and after == page.info.end):
                break
            following = advance_cursor(cursor, listed)
            # Only issues of one second fill a whole page: then its next page is asked for, and not a new search.
            is_stuck = following is None or (cursor is not None and following.created_at == cursor.created_at)
            cursor, after = following, page.info.end if is_stuck else None

    def _complete(self, found: "_ListedNode") -> ListedIssue:
        page = found.comments
        thread = shorten_thread(self._convert_comments(page), found.login)
        while page.info.has_next and page.info.end:
            page = self._fetch_comments(found.number, page.info.end)
            thread = shorten_thread([*thread, *self._convert_comments(page)], found.login)
        issue = Issue(
            number=found.number,
            title=found.title,
            body=found.body or "",
            url=found.url,
            author=found.login,
            author_is_bot=bool(found.author and found.author.is_bot),
            labels=found.label_names,
            state=found.state.lower(),
            locked=found.locked,
            thread=list({comment.comment_id: comment for comment in thread}.values()),
            snapshot_time=datetime.now(UTC),
        )
        return ListedIssue(issue=issue, created_at=found.created_at)

    def _fetch_comments(self, number: int, after: str) -> CommentPage:
        owner, _, name = self.slug.partition("/")
        asked = {"owner": owner, "name": name, "number": number, "after": after}
        data = self._threads.ask(lambda: _THREAD, asked)
        return parse_response(CommentPage, ((data.get("repository") or {}).get("issue") or {}).get("comments"))

    def _convert_comments(self, page: CommentPage) -> list[IssueComment]:
        return [
            IssueComment(
                author=node.login,
                body=node.body or "",
                created_at=node.created_at,
                edited_at=node.updated_at,
                by_bot=bool(node.author and node.author.is_bot),
                # Anybody can write the marker.
                ours=(node.body or "").startswith(COMMENT_MARKER) and self._comments.is_own_login(node.login),
                comment_id=node.comment_id,
            )
            for node in list_nodes(page)
        ]


class _ListedNode(IssueNode):
    created_at: Annotated[datetime, BeforeValidator(parse_timestamp)] = Field(alias="createdAt")
    comments: CommentPage


def _parse_issues(page: NodePage, slug: str) -> Iterator[_ListedNode | int]:
    """Yield the issues of a repository. Of one that cannot be read, its number."""
    for raw in page.nodes or []:
        if not isinstance(raw, dict) or not _is_in(raw, slug):
            continue
        try:
            yield _ListedNode.model_validate(raw)
        except ValidationError:
            number = raw.get("number")
            if isinstance(number, int):
                yield number


def _get_number(parsed: _ListedNode | int) -> int:
    return parsed if isinstance(parsed, int) else parsed.number


def _is_in(raw: dict[str, Any], slug: str) -> bool:
    repository = raw.get("repository")
    name = repository.get("nameWithOwner") if isinstance(repository, dict) else None
    return isinstance(name, str) and name.casefold() == slug.casefold()


def check_query(query: str) -> str:
    """Return a search of GitHub on one line. Raises BadInput for what the list itself sets."""
    text = " ".join(query.split())
    if len(text) > MAX_QUERY_CHARS or not text.isprintable():
        raise BadInput(f"The query must be one line of at most {MAX_QUERY_CHARS} characters.")
    if found := _REFUSED.search(text):
        raise BadInput(
            f"The query must not have `{found[1]}`: the list sets it. Take fewer issues with a limit, or choose them "
            "by label, milestone, assignee or `updated:`."
        )
    return text


def build_search(slug: str, query: str, cursor: Cursor | None) -> str:
    """Return the search for a checked query, from a cursor on."""
    wanted = f"({query})" if re.search(r"\b(OR|AND|NOT)\b", query) else query
    until = f"created:<={cursor.created_at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}" if cursor else ""
    return " ".join(filter(None, [f"repo:{slug} is:issue", wanted, until, "sort:created-desc"]))


def advance_cursor(cursor: Cursor | None, issues: Sequence[ListedIssue]) -> Cursor | None:
    """Return the cursor after these issues, which were listed from `cursor` on."""
    if not issues:
        return cursor
    last = min(issue.created_at for issue in issues)
    same = [issue.issue.number or 0 for issue in issues if issue.created_at == last]
    earlier = cursor.numbers if cursor and cursor.created_at == last else []
    return Cursor(created_at=last, numbers=list(dict.fromkeys([*earlier, *same])))


def format_cursor(cursor: Cursor | None) -> str:
    if cursor is None:
        return ""
    return f"{cursor.created_at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}" + "".join(f"/{n}" for n in cursor.numbers)


def parse_cursor(text: str) -> Cursor | None:
    """Return the cursor that `format_cursor` wrote; None for an empty text. Raises BadInput."""
    if not text.strip():
        return None
    found = _CURSOR.fullmatch(text.strip()[:MAX_CURSOR_CHARS])
    try:
        at = datetime.strptime(found[1], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC) if found else None
    except ValueError:
        at = None
    if found is None or at is None:
        raise BadInput("The cursor must be one that a list printed, such as 2026-01-31T09:00:00Z/123.")
    return Cursor(created_at=at, numbers=[int(number) for number in found[2].split("/") if number])
