"""Reads the repository's past issues with GraphQL, a page of them with labels, state and fixes in one request."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, get_args

from triage.comment.hidden_state import parse_state
from triage.domain.effect import COMMENT_MARKER
from triage.domain.past_issues import PastFix, PastIssue, StateReason
from triage.github.graphql import MAX_TITLE_CHARS, IssueNode, NodePage, Pages, list_nodes
from triage.github.repository_connection import PAGE_SIZE, RepositoryConnection
from triage.github.responses import parse_response

MAX_FOUND = 20
"""Issues of the search by text."""
MAX_BODY_CHARS = 6_000
"""Of a past issue. Nine of ten have less than 4,000."""
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

    connection: RepositoryConnection
    is_own_login: Callable[[str], bool]
    """Whether a login is one that this action writes comments with."""
    body_chars: int = MAX_BODY_CHARS
    """Longer texts of issues are cut."""

    @cached_property
    def _pages(self) -> Pages:
        return Pages(self.connection, PAGE_SIZE, has_plain=True)

    def iterate_pages(self, limit: int, words: str) -> Iterator[list[PastIssue]]:
        """Yield the newest issues, a page at a time, at most `limit`; then those that a search for `words` finds.

        The search is part of the first request.
        """
        numbers: set[int] = set()
        cursor, found = None, list[PastIssue]()
        while len(numbers) < limit:
            page, matches = self._fetch_page(limit - len(numbers), cursor, "" if cursor else words)
            found += matches
            new = [issue for issue in self._convert(page.parse(IssueNode)) if issue.number not in numbers]
            numbers |= {issue.number for issue in new}
            yield new
            cursor = page.next_cursor
            if cursor is None or not new:
                break
        yield [issue for issue in found if issue.number not in numbers]

    def _fetch_page(self, wanted: int, cursor: str | None, words: str) -> tuple[NodePage, list[PastIssue]]:
        owner, _, name = self.connection.slug.partition("/")
        variables: dict[str, Any] = {"owner": owner, "name": name, "after": cursor}
        if words:
            variables["search"] = f"repo:{self.connection.slug} is:issue {words}"
        data = self._pages.ask(partial(self._write_document, words), variables, wanted)
        page = parse_response(NodePage, (data.get("repository") or {}).get("issues"))
        matches = parse_response(NodePage, data.get("search") or {}).parse(IssueNode)
        return page, self._convert([issue for issue in matches if issue.is_in(self.connection.slug)])

    def _write_document(self, words: str) -> str:
        fields = _PLAIN_FIELDS if self._pages.is_plain else _FIELDS
        searched = _SEARCH % min(MAX_FOUND, self._pages.size) if words else ""
        declared = ", $search: String!" if words else ""
        return f"query({_VARIABLES}{declared}) {{{_LIST}{searched}\n}}\nfragment past on Issue {{\n  {fields}\n}}"

    def _convert(self, issues: list[IssueNode]) -> list[PastIssue]:
        return list(filter(None, map(self._convert_one, issues)))

    def _convert_one(self, issue: IssueNode) -> PastIssue | None:
        if issue.created_at is None:
            return None
        reason = (issue.state_reason or "").lower()
        return PastIssue(
            number=issue.number,
            title=issue.title[:MAX_TITLE_CHARS],
            body=(issue.body or "")[: self.body_chars],
            author=issue.login,
            labels=issue.label_names,
            issue_type=issue.issue_type.name if issue.issue_type else "",
            state="closed" if issue.state == "CLOSED" else "open",
            state_reason=reason if reason in get_args(StateReason) else "",
            created_at=issue.created_at,
            updated_at=issue.updated_at,
            closed_at=issue.closed_at,
            milestone=issue.milestone.title if issue.milestone else "",
            duplicate_of=_find_original(issue),
            fixes=_list_fixes(issue) if issue.state == "CLOSED" else [],
            suspects=self._find_suspects(issue),
        )

    def _find_suspects(self, issue: IssueNode) -> list[str]:
        # Anybody can write the marker.
        for comment in list_nodes(issue.comments):
            body = comment.body or ""
            if body.startswith(COMMENT_MARKER) and self.is_own_login(comment.login):
                state = parse_state(body)
                return state.suspects if state else []
        return []


def _find_original(issue: IssueNode) -> int | None:
    last = next((event for event in reversed(list_nodes(issue.events)) if "Duplicate" in event.kind), None)
    if last is None or last.kind != "MarkedAsDuplicateEvent" or last.is_cross_repository:
        return None
    return last.canonical.number if last.canonical else None


def _list_fixes(issue: IssueNode) -> list[PastFix]:
    pulls = [
        PastFix(
            number=pull.number,
            commit=pull.merge_commit.oid if pull.merge_commit else None,
            title=pull.title[:MAX_TITLE_CHARS],
            milestone=pull.milestone.title if pull.milestone else "",
            files=pull.paths,
            at=pull.merged_at,
            commits=pull.merged_commits,
        )
        for pull in list_nodes(issue.pull_requests)
        if pull.merged_at
    ]
    # An issue that was opened again may have been closed by something else then.
    closed = [event.closer for event in list_nodes(issue.events) if event.kind == "ClosedEvent"][-1:]
    commits = [closer for closer in closed if closer and closer.oid]
    return pulls + [
        PastFix(commit=commit.oid, title=commit.headline[:MAX_TITLE_CHARS], at=commit.at) for commit in commits
    ]
