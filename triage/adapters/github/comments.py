"""Reads and writes the comments of issues, and tells which ones are ours."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from triage.adapters.github.github_errors import ErrorKind, GitHubError
from triage.adapters.github.idempotent_write import write_once
from triage.adapters.github.responses import CommentResponse, parse_response
from triage.domain.effect import COMMENT_MARKER
from triage.publish.hidden_state import parse_state
from triage.threads import sleep_unless_abandoned

if TYPE_CHECKING:
    from triage.adapters.github.github_client import GitHubClient

JOB_TOKEN_LOGIN = "github-actions[bot]"  # noqa: S105 - a login
MAX_LIST_READS = 3
"""Reads of a list that does not show yet what was just written."""
SINCE_OVERLAP = timedelta(minutes=1)
"""Is read twice, because the clocks of GitHub's servers differ."""


@dataclass(frozen=True)
class ThreadSnapshot:
    """What the last reading of a whole thread found."""

    updated_at: datetime | None = None
    """When the issue last changed. None if GitHub does not say; then everything is read again."""
    marked: tuple[CommentResponse, ...] = ()
    """Comments with our marker. Which of them are ours may be known only after the first write."""


class Comments:
    """The comments of one repository's issues. Every failure is a `GitHubError`.

    Args:
        client: Sends the requests.
        repo: Path of the repository, `/repos/owner/name`.
        reread_seconds: Wait before a list is read again that does not show yet what was written.
    """

    def __init__(self, client: "GitHubClient", repo: str, reread_seconds: float) -> None:
        self._client = client
        self._repo = repo
        self._reread_seconds = reread_seconds
        self._own_login: str | None = None
        self._own_login_fetched = False
        self._snapshots: dict[int, ThreadSnapshot] = {}

    def fetch_all(self, number: int, updated_at: datetime | None) -> list[CommentResponse]:
        """Returns all comments of an issue that last changed at `updated_at`."""
        comments = self._list_comments(number, None)
        self._snapshots[number] = ThreadSnapshot(updated_at, tuple(filter(_has_marker, comments)))
        return comments

    def fetch_updates(self, number: int, posted: int | None = None) -> list[CommentResponse]:
        """Returns the comments that were written or edited since `fetch_all`, and ours, oldest first.

        A comment of ours may have been deleted since: no list says so. A list that lacks the comment `posted` is too
        old to show others of the same time; it is read again a few times, and so is one that cannot be read.
        """
        for attempt in range(MAX_LIST_READS if posted is not None else 1):
            if attempt:
                sleep_unless_abandoned(self._reread_seconds * attempt)
            try:
                found = self._fetch_merged(number)
                own = found.get(posted) or self._fetch_comment(posted) if posted is not None else None
            except GitHubError as error:
                if posted is None or error.kind is not ErrorKind.UNKNOWN_OUTCOME or attempt == MAX_LIST_READS - 1:
                    raise
                continue
            if posted is None or own is None or posted in found:
                break
            found[own.id] = own
        return [found[comment_id] for comment_id in sorted(found)]

    def is_ours(self, comment: CommentResponse) -> bool:
        """Returns whether a comment starts with our marker and we wrote it: anybody can write the marker."""
        return _has_marker(comment) and (comment.login == JOB_TOKEN_LOGIN or comment.login == self._fetch_own_login())

    def post(self, number: int, body: str) -> CommentResponse:
        """Writes a comment exactly once."""

        def write() -> CommentResponse:
            path = f"{self._repo}/issues/{number}/comments"
            return parse_response(CommentResponse, self._client.write("POST", path, {"body": body}))

        comment = write_once(write, lambda: self._find_posted(number, body))
        if comment.user:
            self._own_login, self._own_login_fetched = comment.user.login, True
        return comment

    def edit(self, comment_id: int, body: str) -> CommentResponse:
        """Replaces the text of a comment."""
        path = f"{self._repo}/issues/comments/{comment_id}"

        def write() -> CommentResponse:
            return parse_response(CommentResponse, self._client.write("PATCH", path, {"body": body}))

        def find_written() -> CommentResponse | None:
            comment = parse_response(CommentResponse, self._client.get(path))
            return comment if _is_same_text(comment.body or "", body) else None

        with self._forget_when_deleted(comment_id):
            return write_once(write, find_written)

    @contextmanager
    def _forget_when_deleted(self, comment_id: int) -> Iterator[None]:
        try:
            yield
        except GitHubError as error:
            if error.kind is ErrorKind.GONE:
                for number, snapshot in self._snapshots.items():
                    marked = tuple(comment for comment in snapshot.marked if comment.id != comment_id)
                    self._snapshots[number] = ThreadSnapshot(snapshot.updated_at, marked)
            raise

    def delete(self, number: int, comment_id: int) -> None:
        """Deletes a comment with our marker, login and state while an older one of ours stands; any other stays.

        Nothing else is ever deleted, so the whole thread is read again before it.
        """
        ours = sorted(filter(self.is_ours, self._list_comments(number, None)), key=lambda comment: comment.id)
        found = next((comment for comment in ours[1:] if comment.id == comment_id), None)
        if found is None or parse_state(found.body or "") is None:
            return

        def write() -> bool:
            self._client.delete(f"{self._repo}/issues/comments/{comment_id}")
            return True

        try:
            write_once(write, lambda: self._fetch_comment(comment_id) is None or None)
        except GitHubError as error:
            if error.kind is not ErrorKind.GONE:
                raise

    def _find_posted(self, number: int, body: str) -> CommentResponse | None:
        """The comment whose response was lost: the same text, or one with our marker that was not there before."""
        for attempt in range(MAX_LIST_READS - 1):
            sleep_unless_abandoned(self._reread_seconds * attempt)
            known = {comment.id for comment in self._snapshots[number].marked} if number in self._snapshots else None
            found = [comment for key, comment in sorted(self._fetch_merged(number).items()) if key not in (known or ())]
            ours = [comment for comment in found if self.is_ours(comment)]
            same = [comment for comment in ours if _is_same_text(comment.body or "", body)]
            if same or (ours and known is not None):
                return (same or ours)[0]
        return None

    def _fetch_comment(self, comment_id: int) -> CommentResponse | None:
        try:
            return parse_response(CommentResponse, self._client.get(f"{self._repo}/issues/comments/{comment_id}"))
        except GitHubError as error:
            if error.kind is ErrorKind.GONE:
                return None
            raise

    def _fetch_merged(self, number: int) -> dict[int, CommentResponse]:
        snapshot = self._snapshots.get(number, ThreadSnapshot())
        return _by_id(filter(self.is_ours, snapshot.marked)) | _by_id(self._list_comments(number, snapshot.updated_at))

    def _list_comments(self, number: int, since: datetime | None) -> list[CommentResponse]:
        parameters = {"since": f"{(since - SINCE_OVERLAP).astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"} if since else {}
        items = self._client.fetch_list(f"{self._repo}/issues/{number}/comments", parameters)
        return [parse_response(CommentResponse, item) for item in items]

    def _fetch_own_login(self) -> str | None:
        # Once, and only when somebody else's comment has our marker.
        if not self._own_login_fetched:
            self._own_login_fetched = True
            self._own_login = self._client.fetch_viewer_login()
        return self._own_login


def _by_id(comments: Iterable[CommentResponse]) -> dict[int, CommentResponse]:
    return {comment.id: comment for comment in comments}


def _has_marker(comment: CommentResponse) -> bool:
    return (comment.body or "").startswith(COMMENT_MARKER)


def _is_same_text(one: str, other: str) -> bool:
    # GitHub may change line ends.
    return one.replace("\r\n", "\n").strip() == other.replace("\r\n", "\n").strip()
