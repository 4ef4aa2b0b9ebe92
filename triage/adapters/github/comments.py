"""Comments on issues: which are ours, and writes that end with exactly one of them."""

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
"""At a list that does not show yet what was just written."""
SINCE_OVERLAP = timedelta(minutes=1)
"""Asked for once more: GitHub's servers need not agree on the second."""


@dataclass(frozen=True)
class ThreadSnapshot:
    """What the last reading of a whole thread has shown."""

    updated_at: datetime | None = None
    """When the issue last changed: what is written later is younger. None: not told, so that all is read again."""
    marked: tuple[CommentResponse, ...] = ()
    """With our marker. Some may be ours and not known as such: a token's login may be told by its first write only."""


class Comments:
    """Reads and writes comments of one repository's issues. Every failure is a `Fault`."""

    def __init__(self, transport: "GitHubClient", repo: str, settle_seconds: float) -> None:
        self._client = transport
        self._repo = repo
        self._reread_seconds = settle_seconds
        self._own_login: str | None = None
        self._own_login_fetched = False
        self._snapshots: dict[int, ThreadSnapshot] = {}

    def fetch_all(self, number: int, changed_at: datetime | None) -> list[CommentResponse]:
        """All of them, remembered with the moment at which the issue had last changed."""
        comments = self._list_comments(number, None)
        self._snapshots[number] = ThreadSnapshot(changed_at, tuple(one for one in comments if _has_marker(one)))
        return comments

    def fetch_updates(self, number: int, posted: int | None = None) -> list[CommentResponse]:
        """What was written or edited since `whole`, and ours, which may be gone; oldest first.

        A list that lacks the comment that was just posted is too old to show others of the same moment, so it is read
        again, a few times; so is one that cannot be read.
        """
        for look in range(MAX_LIST_READS if posted is not None else 1):
            if look:
                sleep_unless_abandoned(self._reread_seconds * look)
            try:
                found = self._fetch_merged(number)
                own = found.get(posted) or self._fetch_comment(posted) if posted is not None else None
            except GitHubError as fault:
                if posted is None or fault.kind is not ErrorKind.UNKNOWN_OUTCOME or look == MAX_LIST_READS - 1:
                    raise
                continue
            if posted is None or own is None or posted in found:
                break
            found[own.id] = own
        return [found[key] for key in sorted(found)]

    def is_ours(self, comment: CommentResponse) -> bool:
        """Our marker at the very start, and an author that we are: anybody can write the marker."""
        return _has_marker(comment) and (comment.login == JOB_TOKEN_LOGIN or comment.login == self._fetch_own_login())

    def post(self, number: int, body: str) -> CommentResponse:
        """Write one, exactly once."""

        def write() -> CommentResponse:
            path = f"{self._repo}/issues/{number}/comments"
            return parse_response(CommentResponse, self._client.write("POST", path, {"body": body}))

        comment = write_once(write, lambda: self._find_posted(number, body))
        if comment.user:
            self._own_login, self._own_login_fetched = comment.user.login, True
        return comment

    def edit(self, comment_id: int, body: str) -> CommentResponse:
        """Replace the text of one."""
        path = f"{self._repo}/issues/comments/{comment_id}"

        def write() -> CommentResponse:
            return parse_response(CommentResponse, self._client.write("PATCH", path, {"body": body}))

        def look() -> CommentResponse | None:
            comment = parse_response(CommentResponse, self._client.get(path))
            return comment if _is_same_text(comment.body or "", body) else None

        with self._forget_when_deleted(comment_id):
            return write_once(write, look)

    @contextmanager
    def _forget_when_deleted(self, comment_id: int) -> Iterator[None]:
        try:
            yield
        except GitHubError as fault:
            if fault.kind is ErrorKind.GONE:
                for number, known in self._snapshots.items():
                    left = tuple(one for one in known.marked if one.id != comment_id)
                    self._snapshots[number] = ThreadSnapshot(known.updated_at, left)
            raise

    def delete(self, number: int, comment_id: int) -> None:
        """Delete one that is ours by marker, author and state, while an older one of ours stands; any other stays.

        The thread is read for that, now and to its end: it is the only thing that is ever deleted.
        """
        ours = sorted((one for one in self._list_comments(number, None) if self.is_ours(one)), key=lambda one: one.id)
        found = next((one for one in ours[1:] if one.id == comment_id), None)
        if found is None or parse_state(found.body or "") is None:
            return

        def write() -> bool:
            self._client.delete(f"{self._repo}/issues/comments/{comment_id}")
            return True

        try:
            write_once(write, lambda: self._fetch_comment(comment_id) is None or None)
        except GitHubError as fault:
            if fault.kind is not ErrorKind.GONE:
                raise

    def _find_posted(self, number: int, body: str) -> CommentResponse | None:
        """The comment whose answer was lost: this very text, or a marked one of ours that was not there before."""
        for look in range(MAX_LIST_READS - 1):
            sleep_unless_abandoned(self._reread_seconds * look)
            known = {one.id for one in self._snapshots[number].marked} if number in self._snapshots else None
            found = [one for key, one in sorted(self._fetch_merged(number).items()) if not known or key not in known]
            ours = [one for one in found if self.is_ours(one)]
            same = [one for one in ours if _is_same_text(one.body or "", body)]
            if same or (ours and known is not None):
                return (same or ours)[0]
        return None

    def _fetch_comment(self, comment_id: int) -> CommentResponse | None:
        """The comment; none when it is gone."""
        try:
            return parse_response(CommentResponse, self._client.get(f"{self._repo}/issues/comments/{comment_id}"))
        except GitHubError as fault:
            if fault.kind is ErrorKind.GONE:
                return None
            raise

    def _fetch_merged(self, number: int) -> dict[int, CommentResponse]:
        known = self._snapshots.get(number, ThreadSnapshot())
        return _by_id(one for one in known.marked if self.is_ours(one)) | _by_id(
            self._list_comments(number, known.updated_at)
        )

    def _list_comments(self, number: int, since: datetime | None) -> list[CommentResponse]:
        after = {"since": f"{(since - SINCE_OVERLAP).astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"} if since else {}
        raw = self._client.fetch_list(f"{self._repo}/issues/{number}/comments", after)
        return [parse_response(CommentResponse, item) for item in raw]

    def _fetch_own_login(self) -> str | None:
        """Who the token is; asked once, and only when somebody else's marker makes it matter."""
        if not self._own_login_fetched:
            self._own_login_fetched = True
            self._own_login = self._client.fetch_viewer_login()
        return self._own_login


def _by_id(comments: Iterable[CommentResponse]) -> dict[int, CommentResponse]:
    return {one.id: one for one in comments}


def _has_marker(comment: CommentResponse) -> bool:
    return (comment.body or "").startswith(COMMENT_MARKER)


def _is_same_text(one: str, other: str) -> bool:
    """The same text, up to what GitHub may do to line ends."""
    return one.replace("\r\n", "\n").strip() == other.replace("\r\n", "\n").strip()
