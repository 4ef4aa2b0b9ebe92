"""Reads and writes the comments of issues, and recognizes ours."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from triage.base.threads import seconds_left, sleep_unless_abandoned
from triage.domain.effect import COMMENT_MARKER, Reaction
from triage.domain.issue import MEMBERS, IssueComment
from triage.outside.github.github_errors import (
    ErrorKind,
    GitHubError,
    github_errors,
    translate_write_errors,
    unless_gone,
)
from triage.outside.github.repository_connection import RepositoryConnection, iterate_pages, repeat_write, write_once
from triage.read.read_issue import shorten_thread
from triage.say.hidden_state import parse_state

if TYPE_CHECKING:
    from github.IssueComment import IssueComment as GitHubComment
    from github.NamedUser import NamedUser
    from github.Organization import Organization
    from github.Repository import Repository

JOB_TOKEN_LOGIN = "github-actions[bot]"  # noqa: S105 - a login
DELETED_ACCOUNT = "ghost"
"""What GitHub's pages call a deleted account."""
MAX_LIST_READS = 3
"""Reads of a list that does not show yet what was just written."""
WAITS_BEFORE_POSTING = (0, 1, 2, 4)
"""Waits before the looks for a comment whose response was lost, in units of `reread_seconds`."""
LOOK_SECONDS = 3.0
"""What a look takes. With less time left there is no further one."""


@dataclass
class CommentClient(RepositoryConnection):
    """A repository whose issues have comments."""

    def fetch_comments(self, number: int, posted: int | None = None, reporter: str = "") -> list[IssueComment]:
        """Return all comments of an issue, oldest first. `shorten_thread` says which of them are whole.

        Raises `GitHubError`.

        A list that lacks the comment `posted` is too old to show others of the same time. It is read again a few times,
        and so is one that cannot be read.
        """
        for attempt in range(MAX_LIST_READS if posted is not None else 1):
            if attempt:
                sleep_unless_abandoned(self.reread_seconds * attempt)
            try:
                found = self._list_comments(number, reporter)
                own = found.get(posted) or self._fetch_comment(posted) if posted is not None else None
            except GitHubError as error:
                if posted is None or error.kind is not ErrorKind.UNKNOWN_OUTCOME or attempt == MAX_LIST_READS - 1:
                    raise
                continue
            if posted is None or own is None or posted in found:
                break
            found[posted] = own
        return [found[key] for key in sorted(found)]

    def is_own_login(self, login: str) -> bool:
        return login == JOB_TOKEN_LOGIN or login == self.viewer_login

    def post_comment(self, number: int, body: str) -> tuple[int, str]:
        """Post a comment; its id and URL. Another run may post at the same time: see `say.our_comment`."""
        posted: tuple[int, str] | None = None

        def post() -> None:
            nonlocal posted
            comment = self.writable.get_issue(number).create_comment(body)
            posted = comment.id, comment.html_url
            if comment.user:
                self.viewer_login = comment.user.login

        def is_posted() -> bool:
            nonlocal posted
            posted = self._find_posted(number, body)
            return posted is not None

        with translate_write_errors(self.slug):
            body = self.mask_secrets(body)  # as it will be found
            write_once(post, is_posted)
        assert posted
        return posted

    def _find_posted(self, number: int, body: str) -> tuple[int, str] | None:
        """Return what `post_comment` does, of the comment with this text whose response was lost.

        A list that cannot be read raises its error only if it is the last: without it nothing may be posted again.
        """
        unread: GitHubError | None = None
        for wait in WAITS_BEFORE_POSTING:
            if not self._wait_if_time(wait):
                break
            try:
                comments, unread = self._list_comments(number), None
            except GitHubError as error:
                unread = error
                continue
            for key, comment in sorted(comments.items()):
                if comment.ours and _is_same_text(comment.body, body):
                    return key, comment.url
        if unread is not None:
            raise unread
        return None

    def edit_comment(self, comment_id: int, body: str) -> str:
        """Replace a comment's text; its URL. Raises NoSuchComment if it was deleted."""
        found: IssueComment | None = None

        def is_written() -> bool:
            nonlocal found
            found = self._fetch_comment(comment_id)
            return found is not None and _is_same_text(found.body, body)

        with translate_write_errors(self.slug):
            body = self.mask_secrets(body)
            comment = find_comment(self.writable, comment_id)
            write_once(lambda: comment.edit(body), is_written)
            with github_errors():
                return found.url if found else comment.html_url

    def delete_comment(self, number: int, comment_id: int) -> None:
        """Delete a comment with our marker, login and state while an older one of ours exists; never another one.

        Nothing else is ever deleted, so the whole thread is read again before it.
        """
        with translate_write_errors(self.slug):
            comments = self._list_comments(number)
            ours = [key for key, comment in sorted(comments.items()) if comment.ours]
            if comment_id in ours[1:] and parse_state(comments[comment_id].body) is not None:
                comment = find_comment(self.writable, comment_id)
                write_once(comment.delete, lambda: self._fetch_comment(comment_id) is None, deletes=True)

    def react(self, comment_id: int, reaction: Reaction) -> None:
        """Add a reaction to a comment. The same reaction twice is one."""
        comment = find_comment(self.writable, comment_id)
        with translate_write_errors(self.slug):
            repeat_write(lambda: comment.create_reaction(reaction))

    def _wait_if_time(self, wait: int) -> bool:
        """Wait, and return True; return False at once if too little time would be left then."""
        seconds = self.reread_seconds * wait
        if wait and seconds_left() < seconds + LOOK_SECONDS:
            return False
        sleep_unless_abandoned(seconds)
        return True

    def _fetch_comment(self, comment_id: int) -> IssueComment | None:
        return unless_gone(lambda: self._convert_comment(find_comment(self.repository, comment_id).complete()))

    def _list_comments(self, number: int, reporter: str = "") -> dict[int, IssueComment]:
        """Return the comments of an issue by their id, oldest first, shortened by `shorten_thread`."""
        found: dict[int, IssueComment] = {}
        for page in iterate_pages(self.repository.get_issue(number).get_comments()):
            with github_errors():
                # After each page: all pages together may have hundreds of megabytes.
                thread = shorten_thread([*found.values(), *map(self._convert_comment, page)], reporter)
            found = {comment.comment_id or 0: comment for comment in thread}
        return found

    def _convert_comment(self, comment: "GitHubComment") -> IssueComment:
        login, body = read_login(comment.user), comment.body or ""
        read = self.redact({"author": login, "body": body})
        return IssueComment(
            **read,
            created_at=comment.created_at,
            edited_at=comment.updated_at,
            by_bot=bool(comment.user and comment.user.type == "Bot"),
            by_member=comment.author_association in MEMBERS,
            # Anybody can write the marker.
            ours=body.startswith(COMMENT_MARKER) and self.is_own_login(login),
            comment_id=comment.id,
            url=comment.html_url,
        )


def find_comment(repository: "Repository", comment_id: int) -> "GitHubComment":
    """Return a comment whose fields are requested when they are read. Its address does not name the issue."""
    return repository.get_issue(0).get_comment(comment_id)


def read_login(user: "NamedUser | Organization | None") -> str:
    return user.login if user else DELETED_ACCOUNT


def _is_same_text(one: str, other: str) -> bool:
    # GitHub may change line ends.
    return one.replace("\r\n", "\n").strip() == other.replace("\r\n", "\n").strip()
