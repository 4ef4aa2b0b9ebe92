"""Comments on issues: which are ours, and writes that end with exactly one of them."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from triage.adapters.github.github_errors import Fault, Refusal
from triage.adapters.github.idempotent_write import settle
from triage.adapters.github.responses import CommentAnswer, understood
from triage.domain.effect import COMMENT_MARKER
from triage.publish.hidden_state import parse
from triage.threads import pause

if TYPE_CHECKING:
    from triage.adapters.github.github_client import Transport

JOB_TOKEN_LOGIN = "github-actions[bot]"  # noqa: S105 - a login
LOOKS = 3
"""At a list that does not show yet what was just written."""
OVERLAP = timedelta(minutes=1)
"""Asked for once more: GitHub's servers need not agree on the second."""


@dataclass(frozen=True)
class Known:
    """What the last reading of a whole thread has shown."""

    since: datetime | None = None
    """When the issue last changed: what is written later is younger. None: not told, so that all is read again."""
    marked: tuple[CommentAnswer, ...] = ()
    """With our marker. Some may be ours and not known as such: a token's login may be told by its first write only."""


class Comments:
    """Reads and writes comments of one repository's issues. Every failure is a `Fault`."""

    def __init__(self, transport: "Transport", repo: str, settle_seconds: float) -> None:
        self._transport = transport
        self._repo = repo
        self._settle_seconds = settle_seconds
        self._own_login: str | None = None
        self._own_login_asked = False
        self._known: dict[int, Known] = {}

    def whole(self, number: int, changed_at: datetime | None) -> list[CommentAnswer]:
        """All of them, remembered with the moment at which the issue had last changed."""
        comments = self._listed(number, None)
        self._known[number] = Known(changed_at, tuple(one for one in comments if _marked(one)))
        return comments

    def later(self, number: int, posted: int | None = None) -> list[CommentAnswer]:
        """What was written or edited since `whole`, and ours, which may be gone; oldest first.

        A list that lacks the comment that was just posted is too old to show others of the same moment, so it is read
        again, a few times; so is one that cannot be read.
        """
        for look in range(LOOKS if posted is not None else 1):
            if look:
                pause(self._settle_seconds * look)
            try:
                found = self._merged(number)
                own = found.get(posted) or self._one(posted) if posted is not None else None
            except Fault as fault:
                if posted is None or fault.refusal is not Refusal.UNCLEAR or look == LOOKS - 1:
                    raise
                continue
            if posted is None or own is None or posted in found:
                break
            found[own.id] = own
        return [found[key] for key in sorted(found)]

    def is_ours(self, comment: CommentAnswer) -> bool:
        """Our marker at the very start, and an author that we are: anybody can write the marker."""
        return _marked(comment) and (comment.login == JOB_TOKEN_LOGIN or comment.login == self._login())

    def post(self, number: int, body: str) -> CommentAnswer:
        """Write one, exactly once."""

        def write() -> CommentAnswer:
            path = f"{self._repo}/issues/{number}/comments"
            return understood(CommentAnswer, self._transport.write("POST", path, {"body": body}))

        comment = settle(write, lambda: self._posted(number, body))
        if comment.user:
            self._own_login, self._own_login_asked = comment.user.login, True
        return comment

    def edit(self, comment_id: int, body: str) -> CommentAnswer:
        """Replace the text of one."""
        path = f"{self._repo}/issues/comments/{comment_id}"

        def write() -> CommentAnswer:
            return understood(CommentAnswer, self._transport.write("PATCH", path, {"body": body}))

        def look() -> CommentAnswer | None:
            comment = understood(CommentAnswer, self._transport.get(path))
            return comment if _alike(comment.body or "", body) else None

        with self._forgotten_when_gone(comment_id):
            return settle(write, look)

    @contextmanager
    def _forgotten_when_gone(self, comment_id: int) -> Iterator[None]:
        try:
            yield
        except Fault as fault:
            if fault.refusal is Refusal.GONE:
                for number, known in self._known.items():
                    left = tuple(one for one in known.marked if one.id != comment_id)
                    self._known[number] = Known(known.since, left)
            raise

    def remove(self, number: int, comment_id: int) -> None:
        """Delete one that is ours by marker, author and state, while an older one of ours stands; any other stays.

        The thread is read for that, now and to its end: it is the only thing that is ever deleted.
        """
        ours = sorted((one for one in self._listed(number, None) if self.is_ours(one)), key=lambda one: one.id)
        found = next((one for one in ours[1:] if one.id == comment_id), None)
        if found is None or parse(found.body or "") is None:
            return

        def write() -> bool:
            self._transport.delete(f"{self._repo}/issues/comments/{comment_id}")
            return True

        try:
            settle(write, lambda: self._one(comment_id) is None or None)
        except Fault as fault:
            if fault.refusal is not Refusal.GONE:
                raise

    def _posted(self, number: int, body: str) -> CommentAnswer | None:
        """The comment whose answer was lost: this very text, or a marked one of ours that was not there before."""
        for look in range(LOOKS - 1):
            pause(self._settle_seconds * look)
            known = {one.id for one in self._known[number].marked} if number in self._known else None
            found = [one for key, one in sorted(self._merged(number).items()) if not known or key not in known]
            ours = [one for one in found if self.is_ours(one)]
            same = [one for one in ours if _alike(one.body or "", body)]
            if same or (ours and known is not None):
                return (same or ours)[0]
        return None

    def _one(self, comment_id: int) -> CommentAnswer | None:
        """The comment; none when it is gone."""
        try:
            return understood(CommentAnswer, self._transport.get(f"{self._repo}/issues/comments/{comment_id}"))
        except Fault as fault:
            if fault.refusal is Refusal.GONE:
                return None
            raise

    def _merged(self, number: int) -> dict[int, CommentAnswer]:
        known = self._known.get(number, Known())
        return _by_id(one for one in known.marked if self.is_ours(one)) | _by_id(self._listed(number, known.since))

    def _listed(self, number: int, since: datetime | None) -> list[CommentAnswer]:
        after = {"since": f"{(since - OVERLAP).astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"} if since else {}
        raw = self._transport.pages(f"{self._repo}/issues/{number}/comments", after)
        return [understood(CommentAnswer, item) for item in raw]

    def _login(self) -> str | None:
        """Who the token is; asked once, and only when somebody else's marker makes it matter."""
        if not self._own_login_asked:
            self._own_login_asked = True
            self._own_login = self._transport.viewer()
        return self._own_login


def _by_id(comments: Iterable[CommentAnswer]) -> dict[int, CommentAnswer]:
    return {one.id: one for one in comments}


def _marked(comment: CommentAnswer) -> bool:
    return (comment.body or "").startswith(COMMENT_MARKER)


def _alike(one: str, other: str) -> bool:
    """The same text, up to what GitHub may do to line ends."""
    return one.replace("\r\n", "\n").strip() == other.replace("\r\n", "\n").strip()
