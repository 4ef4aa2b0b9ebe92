"""The one place that asks GitHub's GraphQL for issues, the pull requests that fixed them, and their comments.

What the fields mean stands in GitHub's GraphQL reference: `Issue`, `PullRequest`, `IssueComment`, `search`,
`ClosedEvent.closer`, `UserContentEdit.editor`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from triage.base.errors import GitHubUnavailable
from triage.base.threads import sleep_unless_abandoned
from triage.outside.github.comments import find_comment
from triage.outside.github.github_errors import (
    ErrorKind,
    GitHubError,
    NotOnGitHub,
    github_errors,
    translate_read_errors,
    unreadable_response,
)
from triage.outside.github.issue_nodes import MAX_NODES, EditedComment, IssueNode, NodePage, parse_each, parse_response
from triage.outside.github.repository_connection import RepositoryConnection

PAGE_STEP = 5
"""A page grows by so many after an answer, and is a quarter of its size after an error that may be due to it."""
_ISSUE = """number title body url locked createdAt updatedAt closedAt lastEditedAt
  repository { nameWithOwner }
  author { __typename login }
  editor { __typename login }
  labels(first: 50) { nodes { name } }
  milestone { title }"""
_NEW = """
  stateReason(enableDuplicate: true)
  issueType { name }"""
"""What older servers do not know."""
_FIXES = """
  closedByPullRequestsReferences(first: 3) { nodes { ...pull } }
  events: timelineItems(last: 3, itemTypes: [CLOSED_EVENT, MARKED_AS_DUPLICATE_EVENT, UNMARKED_AS_DUPLICATE_EVENT]) {
    nodes {
      __typename
      ... on ClosedEvent {
        closer { ... on Commit { oid messageHeadline committedDate repository { nameWithOwner } }%s }
      }
      ... on MarkedAsDuplicateEvent { isCrossRepository canonical { ... on Issue { number } } }
    }
  }"""
_PULL = """
fragment pull on PullRequest {
  number title mergedAt changedFiles
  repository { nameWithOwner }
  mergeCommit { oid messageHeadline }
  commits(last: 1) { totalCount nodes { commit { messageHeadline } } }
  milestone { title }
  files(first: %d) { nodes { path } }
}"""
_LIST = """query(
  $owner: String!, $name: String!, $size: Int!, $after: String
  $states: [IssueState!], $order: IssueOrderField!, $since: DateTime
) {
  repository(owner: $owner, name: $name) {
    issues(
      first: $size, after: $after, states: $states
      orderBy: {field: $order, direction: DESC}, filterBy: {since: $since}
    ) {
      pageInfo { hasNextPage endCursor }
      nodes { ...issue }
    }
  }
}"""
_PULL_REQUEST = f"... on PullRequest {{ pullState: state {_ISSUE} }}"
"""A pull request as a node like an issue. Its state is of another type, so it needs another name."""
_PULL_REQUESTS = f"""query($owner: String!, $name: String!, $size: Int!, $after: String) {{
  repository(owner: $owner, name: $name) {{
    issues: pullRequests(
      first: $size, after: $after, states: [OPEN, MERGED], orderBy: {{field: CREATED_AT, direction: DESC}}
    ) {{
      pageInfo {{ hasNextPage endCursor }}
      nodes {{ {_PULL_REQUEST} }}
    }}
  }}
}}"""
_SEARCH = """query($search: String!, $size: Int!, $after: String) {
  search(type: ISSUE, query: $search, first: $size, after: $after) {
    issueCount
    pageInfo { hasNextPage endCursor }
    nodes { ...issue %s }
  }
}"""
_COMMENTS = """query($ids: [ID!]!) {
  nodes(ids: $ids) {
    ... on IssueComment {
      id fullDatabaseId body createdAt lastEditedAt
      repository { nameWithOwner }
      author { __typename login }
      editor { __typename login }
      userContentEdits(first: 100) {
        nodes { editor { __typename login } deletedAt }
        pageInfo { hasNextPage }
      }
    }
  }
}"""


@dataclass
class IssueReader:
    """Reads issues in pages that are as large as GitHub can answer, whatever strangers have written there.

    Every failure is a `GitHubError`.
    """

    connection: RepositoryConnection
    page_size: int
    comments: str
    """What is read of the comments on each issue, in GraphQL."""
    files: int = 0
    """How many files of each pull request that fixed an issue are read; 0 for no fixes."""
    needs_fixes: bool = False
    """Whether nothing is read without fixes, and a pull request also where it closed the issue without a link to it."""
    tries: int = 2
    """Of one page, the last a small one. A request is repeated in each."""
    total: int = field(default=0, init=False)
    """What the search finds, by its last page that was read; more than 1,000 if it does not return all."""
    _size: int = field(default=MAX_NODES, init=False)
    _fields: list[str] = field(init=False)
    """What is read of an issue, and what in its place where a server is older and refuses it."""

    def __post_init__(self) -> None:
        """Build the fields to ask for: first all, then what is left where a server does not know some."""
        fixes = _FIXES % (" ...pull" if self.needs_fixes else "") if self.files else ""
        choices = dict.fromkeys([_NEW + fixes, fixes, *([] if self.needs_fixes else [""])])
        self._fields = [
            f"\nfragment issue on Issue {{\n  state {_ISSUE}{one}\n  {self.comments}\n}}" for one in choices
        ]
        self._fields = [one + _PULL % self.files if "...pull" in one else one for one in self._fields]

    def iterate_list(
        self, order: str, states: Sequence[str] | None = None, since: datetime | None = None
    ) -> Iterator[list[IssueNode]]:
        """Yield pages of the repository's issues, the newest first by `order`, a time of them."""
        owner, _, name = self.connection.slug.partition("/")
        asked = {"owner": owner, "name": name, "states": states, "order": order}
        yield from self._iterate(_LIST, asked | {"since": since and since.isoformat()})

    def iterate_pull_requests(self) -> Iterator[list[IssueNode]]:
        """Yield pages of the pull requests that are open or merged, the newest first."""
        owner, _, name = self.connection.slug.partition("/")
        yield from self._iterate(_PULL_REQUESTS, {"owner": owner, "name": name})

    def iterate_search(self, query: str, *, with_pull_requests: bool = False) -> Iterator[list[IssueNode]]:
        """Yield pages of what GitHub finds in the repository, which are at most 1,000 issues."""
        kind, node = ("", _PULL_REQUEST) if with_pull_requests else ("is:issue ", "")
        for page in self._iterate(_SEARCH % node, {"search": f"repo:{self.connection.slug} {kind}{query}"}):
            yield [issue for issue in page if issue.is_in(self.connection.slug)]

    def _iterate(self, document: str, variables: Mapping[str, Any]) -> Iterator[list[IssueNode]]:
        """Yield the pages that a GraphQL document lists."""
        cursor = None
        while True:
            data = self._ask(document, {**variables, "after": cursor})
            found = data.get("search") if "search" in variables else (data.get("repository") or {}).get("issues")
            page = parse_response(NodePage, found)
            self.total = page.total
            yield parse_each(IssueNode, page.nodes)
            if page.next_cursor in (None, cursor):
                break
            cursor = page.next_cursor

    def _ask(self, document: str, variables: Mapping[str, Any]) -> dict[str, Any]:
        """Return the data of the next page. Raises GitHubError if GitHub does not answer, also not for a small page."""
        attempt = 1
        while True:
            size = min(self._size, self.page_size)
            try:
                fields = self._fields[0] if "...issue" in document else ""
                data = self.connection.query(document + fields, {**variables, "size": size})
            except GitHubError as error:
                if error.kind is ErrorKind.INVALID and len(self._fields) > 1:
                    self._fields.pop(0)
                elif attempt < self.tries and error.kind is ErrorKind.UNKNOWN_OUTCOME:
                    self._size = max(1, size // 4)
                    sleep_unless_abandoned(self.connection.backoff_seconds * 2**attempt)
                    attempt += 1
                else:
                    raise
            else:
                self._size = size + PAGE_STEP
                return data


def read_comments(connection: RepositoryConnection, node_ids: Sequence[str]) -> list[Any]:
    """Return comments with everybody who edited them, as GitHub shows them; null for one that is gone."""
    return connection.query(_COMMENTS, {"ids": list(node_ids)}).get("nodes") or []


def read_unchanged_comment(connection: RepositoryConnection, comment_id: int) -> str:
    """Return the text of a comment that only the account of this token has written and edited; else an empty one.

    Raises as `IssueTracker`.
    """
    with translate_read_errors(connection.slug):
        try:
            with github_errors():
                node_id = find_comment(connection.repository, comment_id).node_id
                if not node_id:
                    raise unreadable_response()
        except NotOnGitHub:
            return ""
        try:
            [node] = read_comments(connection, [node_id]) or [None]
        except GitHubError as error:
            if error.kind is not ErrorKind.INVALID:
                raise
            raise GitHubUnavailable("This GitHub server does not say who edited a comment (GraphQL API).") from None
        if node is None:
            return ""
        comment, viewer = parse_response(EditedComment, node), connection.viewer_login
        if viewer is None or comment.comment_id != comment_id or not comment.is_in(connection.slug):
            raise unreadable_response()
        is_ours = comment.author is not None and comment.author.is_account(viewer) and comment.is_alone_by(viewer)
        return comment.body if is_ours else ""
