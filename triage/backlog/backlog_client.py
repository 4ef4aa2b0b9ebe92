"""Lists the issues of a repository that a search finds, with their threads.

A page of issues takes one request. GitHub's search returns at most 1,000 results. What the fields mean stands in
GitHub's GraphQL reference, queries: `search`; and issues: `Issue`, `IssueComment`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Annotated

from pydantic import BeforeValidator, Field

from triage.backlog.backlog import ListedIssue
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

MAX_QUERY_CHARS = 250
_REFUSED = re.compile(r"(?:^|[\s(-])((?:repo|org|user|sort|type):|created:(?!<=)|is:(?:pr|pull-request|issue)\b)", re.I)
_UNTIL = re.compile(r"created:<=\S+")
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

    def iterate(self, query: str) -> Iterator[list[ListedIssue]]:
        """Yield pages, newest issues first. `query` is one of `check_query`."""
        with translate_read_errors(self.slug):
            asked: dict[str, str | None] = {"search": build_search(self.slug, query), "after": None}
            while True:
                page = parse_response(NodePage, self._pages.ask(lambda: _SEARCH, asked).get("search"))
                yield [self._complete(node) for node in page.parse(_ListedNode) if node.is_in(self.slug)]
                if page.next_cursor is None:
                    break
                asked["after"] = page.next_cursor

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


def check_query(query: str) -> str:
    """Return a search of GitHub on one line. Raises BadInput for what the list itself sets."""
    text = " ".join(query.split())
    if len(text) > MAX_QUERY_CHARS or not text.isprintable():
        raise BadInput(f"The query must be one line of at most {MAX_QUERY_CHARS} characters.")
    if found := _REFUSED.search(text):
        raise BadInput(
            f"The query must not have `{found[1]}`: the list sets it. Choose issues by label, milestone, assignee or "
            "`updated:`."
        )
    return text


def build_search(slug: str, query: str) -> str:
    """Return the search for a checked query."""
    wanted, until = _split_query(query)
    wanted = f"({wanted})" if re.search(r"\b(OR|AND|NOT)\b", wanted) else wanted
    return " ".join(filter(None, [f"repo:{slug} is:issue", wanted, until, "sort:created-desc"]))


def continue_query(query: str, last: datetime) -> str:
    """Return the query that goes on at the second of the last issue, which may have others too."""
    return f"{_split_query(query)[0]} created:<={last.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}".strip()


def _split_query(query: str) -> tuple[str, str]:
    """Return the query, and where it goes on."""
    until = _UNTIL.search(query)
    return " ".join(_UNTIL.sub("", query).split()), until[0] if until else ""
