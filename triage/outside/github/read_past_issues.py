"""Reads the repository's past issues and pull requests, a page of them in one request."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import get_args

from triage.domain.effect import COMMENT_MARKER
from triage.domain.past_issues import PastFix, PastIssue, StateReason
from triage.outside.github.comments import CommentClient
from triage.outside.github.github_errors import GitHubError, translate_read_errors
from triage.outside.github.issue_nodes import MAX_TITLE_CHARS, IssueNode, list_nodes
from triage.outside.github.issue_reader import IssueReader
from triage.outside.github.repository_connection import PAGE_SIZE
from triage.say.hidden_state import CommentState, parse_state

MAX_FOUND = 20
"""Issues of the search by text."""
MAX_BODY_CHARS = 6_000
"""Of a past issue. Nine of ten have less than 4,000."""
FILES = 30
"""Of a fix, which are read."""
_COMMENTS = "comments(first: 2) { nodes { author { __typename login } body } }"


@dataclass
class PastIssueClient(CommentClient):
    """A repository whose issues and pull requests have a past."""

    def iterate_past_issues(
        self, limit: int, words: str, body_chars: int = MAX_BODY_CHARS
    ) -> Iterator[list[PastIssue]]:
        """Yield pages of the newest issues, at most `limit`; then pull requests, and what a search for `words` finds.

        The newest pull requests are those of one page. Raises GitHubUnavailable and SetupError.
        """
        read: set[int] = set()

        def choose_new(page: list[IssueNode]) -> list[PastIssue]:
            """Return what was not read before, without pull requests that were closed unmerged."""
            new = [
                _convert(issue, issue.created_at, body_chars, self)
                for issue in page
                if issue.created_at and issue.pull_state != "CLOSED" and issue.number not in read
            ]
            read.update(issue.number for issue in new)
            return new

        reader = IssueReader(self, min(PAGE_SIZE, limit), _COMMENTS, FILES)
        with translate_read_errors(self.slug):
            for page in reader.iterate_list("CREATED_AT"):
                room = limit - len(read)
                yield (new := choose_new(page)[:room])
                if not new or len(read) >= limit:
                    break
            with suppress(GitHubError):  # the token of a private repository may read issues alone
                yield choose_new(next(reader.iterate_pull_requests(), []))
            if words:
                reader.page_size = MAX_FOUND
                yield choose_new(next(reader.iterate_search(words, with_pull_requests=True), []))


def _convert(issue: IssueNode, created_at: datetime, body_chars: int, connection: CommentClient) -> PastIssue:
    reason, state = (issue.state_reason or "").lower(), _find_state(issue, connection)
    return PastIssue(
        number=issue.number,
        title=issue.title[:MAX_TITLE_CHARS],
        body=(issue.body or "")[:body_chars],
        author=issue.login,
        labels=issue.label_names,
        issue_type=issue.issue_type.name if issue.issue_type else "",
        is_pull_request=issue.pull_state is not None,
        state="closed" if (issue.pull_state or issue.state) in ("CLOSED", "MERGED") else "open",
        state_reason=reason if reason in get_args(StateReason) else "",
        created_at=created_at,
        updated_at=issue.updated_at,
        closed_at=issue.closed_at,
        milestone=issue.milestone.title if issue.milestone else "",
        duplicate_of=read_duplicate_of(issue),
        fixes=_list_fixes(issue) if issue.state == "CLOSED" else [],
        suspects=state.suspects,
        wrong_subjects=state.wrong_subjects,
    )


def _find_state(issue: IssueNode, connection: CommentClient) -> CommentState:
    """Return what our comment on the issue remembers."""
    # Anybody can write the marker.
    for comment in list_nodes(issue.comments):
        body = comment.body or ""
        if body.startswith(COMMENT_MARKER) and connection.is_own_login(comment.login):
            return parse_state(body) or CommentState()
    return CommentState()


def read_duplicate_of(issue: IssueNode) -> int | None:
    """Return the number of the issue of which a person said that this is a duplicate; None if nobody did."""
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
