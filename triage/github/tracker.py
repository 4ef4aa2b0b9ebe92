"""The issue tracker: issues and labels of one repository."""

import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from triage.domain.effect import COMMENT_MARKER
from triage.domain.issue import Issue
from triage.errors import BadInput
from triage.github.answers import CommentAnswer, IssueAnswer, Named, RoleAnswer, understood
from triage.github.faults import Fault, reading, writing
from triage.github.settle import settle

if TYPE_CHECKING:
    from triage.github.transport import Transport

JOB_TOKEN_LOGIN = "github-actions[bot]"  # noqa: S105 - a login
ROLES = frozenset({"admin", "maintain", "write", "triage", "read", "none"})
_LOGIN = re.compile(r"[A-Za-z0-9_-]{1,100}(\[bot\])?")
_SLUG = re.compile(r"[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}")


class IssueTracker:
    """Implements `triage.ports.GitHub`. Nothing is imported or sent before the first call.

    Args:
        token: A job's token, an app's, or a person's; empty to read what is public.
        slug: `owner/name`.
        api_url: Of GitHub or of an Enterprise server.
        seconds_between_writes: GitHub asks for one (docs, best practices for the REST API).
        patience_seconds: What all waits for GitHub's limits may take together.
        connect_seconds: Until a connection stands.
        read_seconds: Between two pieces of an answer.
        backoff_seconds: Base of the waits between reads that failed.
        ca_file: Certificates of a private authority.

    Raises:
        BadInput: The slug is none.
    """

    def __init__(
        self,
        token: str,
        slug: str,
        api_url: str = "https://api.github.com",
        *,
        seconds_between_writes: float = 1.0,
        patience_seconds: float = 60.0,
        connect_seconds: float = 10.0,
        read_seconds: float = 60.0,
        backoff_seconds: float = 0.5,
        ca_file: Path | None = None,
    ) -> None:
        if not _SLUG.fullmatch(slug) or {".", ".."} & set(slug.split("/")):
            raise BadInput("The repository is not named as owner/name.")
        self._token = token
        self._slug = slug
        self._api_url = api_url
        self._seconds_between_writes = seconds_between_writes
        self._patience_seconds = patience_seconds
        self._timeouts_seconds = (connect_seconds, read_seconds)
        self._backoff_seconds = backoff_seconds
        self._ca_file = ca_file
        self._repo = f"/repos/{slug}"
        self._own_login: str | None = None
        self._own_login_asked = False
        self._seen: dict[int, frozenset[int]] = {}

    @cached_property
    def _transport(self) -> "Transport":
        # PyGithub costs a quarter of a second of start-up, and a skipped event never gets here.
        from triage.github.patience import Waits
        from triage.github.transport import Transport

        return Transport(
            self._token,
            self._api_url,
            waits=Waits(self._patience_seconds),
            seconds_between_writes=self._seconds_between_writes,
            timeouts_seconds=self._timeouts_seconds,
            backoff_seconds=self._backoff_seconds,
            ca_file=self._ca_file,
        )

    def close(self) -> None:
        """Give the connections back; the tracker may be used again."""
        self._transport.close()

    def issue(self, number: int) -> Issue:
        """The issue with its whole thread, all pages.

        Raises:
            NoSuchIssue: It does not exist, moved elsewhere, or the token may not see it.
            PermissionMissing: The token is bad, or lacks a permission.
            GitHubUnavailable: Rate limit, server fault, no answer.
        """
        with reading(self._slug, number):
            answer = understood(IssueAnswer, self._transport.get(f"{self._repo}/issues/{number}"))
            comments = self._comments(number)
            thread = [comment.exchange(ours=self._is_ours(comment)) for comment in comments]
        self._seen[number] = frozenset(comment.id for comment in comments)
        return answer.issue(thread)

    def labels(self) -> list[str]:
        """Names of the repository's labels, all pages.

        Raises:
            NoSuchIssue, PermissionMissing, GitHubUnavailable: As `issue`.
        """
        with reading(self._slug):
            answers = [understood(Named, raw) for raw in self._transport.pages(f"{self._repo}/labels")]
        return [answer.name for answer in answers if answer.name]

    def role(self, login: str) -> str:
        """`admin`, `maintain`, `write`, `triage`, `read` or `none`, asked now; `none` when it cannot be told.

        A role of an organization's own counts as the one that it builds on.
        """
        if not _LOGIN.fullmatch(login):
            return "none"
        path = f"{self._repo}/collaborators/{quote(login, safe='')}/permission"
        try:
            answer = understood(RoleAnswer, self._transport.get(path))
        except Fault:
            return "none"
        told = [name for name in (answer.role_name, answer.permission) if name in ROLES]
        return told[0] if told else "none"

    def post_comment(self, number: int, body: str) -> tuple[int, str]:
        """Write a comment, exactly once; its id and URL.

        Raises:
            PermissionMissing: The token may not write.
            CannotPublish: GitHub did not take it, or did not say whether it did.
        """

        def write() -> CommentAnswer:
            path = f"{self._repo}/issues/{number}/comments"
            return understood(CommentAnswer, self._transport.write("POST", path, {"body": body}))

        with writing(self._slug):
            comment = settle(write, lambda: self._posted(number, body))
        if comment.user:
            self._own_login, self._own_login_asked = comment.user.login, True
        return comment.id, comment.html_url

    def edit_comment(self, number: int, comment_id: int, body: str) -> tuple[int, str]:  # noqa: ARG002 - the port's
        """Replace a comment's text; its id and URL.

        Raises:
            PermissionMissing: The token may not write.
            CannotPublish: As `post_comment`; also when the comment was deleted.
        """
        path = f"{self._repo}/issues/comments/{comment_id}"

        def write() -> CommentAnswer:
            return understood(CommentAnswer, self._transport.write("PATCH", path, {"body": body}))

        def look() -> CommentAnswer | None:
            comment = understood(CommentAnswer, self._transport.get(path))
            return comment if _alike(comment.body or "", body) else None

        with writing(self._slug):
            comment = settle(write, look)
        return comment.id, comment.html_url

    def add_labels(self, number: int, labels: Sequence[str]) -> None:
        """Add those of the labels that exist; nothing is created or removed.

        Raises:
            PermissionMissing: The token may not write.
            CannotPublish: GitHub did not take them.
        """
        path = f"{self._repo}/issues/{number}"
        wanted = {label.lower() for label in labels}
        # GitHub would create a label that does not exist.
        names = [name for name in self.labels() if name.lower() in wanted] if wanted else []
        if not names:
            return

        def write() -> bool:
            self._transport.write("POST", f"{path}/labels", {"labels": names})
            return True

        def look() -> bool | None:
            there = understood(IssueAnswer, self._transport.get(path)).label_names()
            return True if set(names) <= set(there) else None

        with writing(self._slug):
            settle(write, look)

    def _comments(self, number: int) -> list[CommentAnswer]:
        raw = self._transport.pages(f"{self._repo}/issues/{number}/comments")
        return [understood(CommentAnswer, item) for item in raw]

    def _posted(self, number: int, body: str) -> CommentAnswer | None:
        """The comment whose answer was lost: this very text, or a marked one of ours that was not there before."""
        comments = self._comments(number)
        for comment in reversed(comments):
            if _alike(comment.body or "", body):
                return comment
        seen = self._seen.get(number)
        fresh = [comment for comment in comments if seen is not None and comment.id not in seen]
        return next((comment for comment in fresh if self._is_ours(comment)), None)

    def _is_ours(self, comment: CommentAnswer) -> bool:
        """Our marker at the very start, and an author that we are: anybody can write the marker."""
        if not (comment.body or "").startswith(COMMENT_MARKER):
            return False
        return comment.login == JOB_TOKEN_LOGIN or comment.login == self._login()

    def _login(self) -> str | None:
        """Who the token is; asked once, and only when somebody else's marker makes it matter."""
        if not self._own_login_asked:
            self._own_login_asked = True
            self._own_login = self._transport.viewer()
        return self._own_login


def _alike(one: str, other: str) -> bool:
    """The same text, up to what GitHub may do to line ends."""
    return one.replace("\r\n", "\n").strip() == other.replace("\r\n", "\n").strip()
