"""The issue tracker: issues and labels of one repository."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import quote

from triage.adapters.github.comments import Comments
from triage.adapters.github.github_errors import ErrorKind, GitHubError, translate_read_errors, translate_write_errors
from triage.adapters.github.idempotent_write import write_once
from triage.adapters.github.responses import CommentResponse, IssueResponse, LabelResponse, RoleResponse, parse_response
from triage.domain.issue import Issue
from triage.errors import BadInput
from triage.network import DIRECT, Network

if TYPE_CHECKING:
    from triage.adapters.github.github_client import GitHubClient

ROLES = frozenset({"admin", "maintain", "write", "triage", "read", "none"})
_LOGIN_PATTERN = re.compile(r"[A-Za-z0-9_-]{1,100}(\[bot\])?")
DAY = timedelta(hours=24)
_SLUG_PATTERN = re.compile(r"[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}")


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
        settle_seconds: Until a list that lacks what was just written is read again.
        network: Proxies and certificates.

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
        settle_seconds: float = 1.0,
        network: Network = DIRECT,
    ) -> None:
        if not _SLUG_PATTERN.fullmatch(slug) or {".", ".."} & set(slug.split("/")):
            raise BadInput("The repository is not named as owner/name.")
        self._token = token
        self._slug = slug
        self._api_url = api_url
        self._seconds_between_writes = seconds_between_writes
        self._max_wait_seconds = patience_seconds
        self._timeouts_seconds = (connect_seconds, read_seconds)
        self._backoff_seconds = backoff_seconds
        self._reread_seconds = settle_seconds
        self._network = network
        self._repo = f"/repos/{slug}"

    @cached_property
    def _client(self) -> "GitHubClient":
        # PyGithub costs a quarter of a second of start-up, and a skipped event never gets here.
        from triage.adapters.github.github_client import GitHubClient
        from triage.adapters.github.github_retry import WaitBudget

        return GitHubClient(
            self._token,
            self._api_url,
            waits=WaitBudget(self._max_wait_seconds),
            seconds_between_writes=self._seconds_between_writes,
            timeouts_seconds=self._timeouts_seconds,
            backoff_seconds=self._backoff_seconds,
            network=self._network,
        )

    @cached_property
    def _comments(self) -> Comments:
        return Comments(self._client, self._repo, self._reread_seconds)

    def close(self) -> None:
        """Give the connections back; the tracker may be used again."""
        self._client.close()

    def fetch_issue(self, number: int) -> Issue:
        """The issue with its whole thread, all pages.

        Raises:
            NoSuchIssue: It does not exist, moved elsewhere, or the token may not see it.
            PermissionMissing: The token is bad, or lacks a permission.
            GitHubUnavailable: Rate limit, server fault, no answer.
        """
        with translate_read_errors(self._slug, number):
            answer = self._fetch_response(number)
            return self._to_issue(answer, self._comments.fetch_all(number, answer.updated_at))

    def refetch_issue(self, number: int, posted: int | None = None) -> Issue:
        """The issue as it is now; of its thread what was written or edited since `issue` read it, and our own.

        Of our own, one may be gone that was there: no list tells that.

        Args:
            number: Of the issue.
            posted: A comment that was just written; a list that does not show it is read again.

        Raises:
            NoSuchIssue, PermissionMissing, GitHubUnavailable: As `issue`.
        """
        with translate_read_errors(self._slug, number):
            return self._to_issue(self._fetch_response(number), self._comments.fetch_updates(number, posted))

    def list_recent_issues(self, most: int) -> list[int]:
        """Numbers of issues opened in the last 24 hours by GitHub's clock; not more than a page beyond `most`.

        Raises:
            RateLimited: There is no time to wait for the limit's end.
            NoSuchIssue, PermissionMissing, GitHubUnavailable: As `issue`.
        """
        newest = {"state": "all", "sort": "created", "direction": "desc"}
        numbers: list[int] = []
        with translate_read_errors(self._slug):
            for page in self._client.iterate_pages(f"{self._repo}/issues", newest):
                answers = [parse_response(IssueResponse, raw) for raw in page]
                day_ago = (self._client.server_time or datetime.now(UTC)) - DAY
                late = [one for one in answers if one.created_at is None or one.created_at > day_ago]
                numbers += [one.number for one in late if one.pull_request is None]
                if len(late) < len(answers) or len(numbers) > most:
                    break
        return numbers

    def list_labels(self) -> list[str]:
        """Names of the repository's labels, all pages.

        Raises:
            NoSuchIssue, PermissionMissing, GitHubUnavailable: As `issue`.
        """
        with translate_read_errors(self._slug):
            answers = [parse_response(LabelResponse, raw) for raw in self._client.fetch_list(f"{self._repo}/labels")]
        return [answer.name for answer in answers if answer.name]

    def fetch_role(self, login: str) -> str:
        """`admin`, `maintain`, `write`, `triage`, `read` or `none`, asked now; `none` when it cannot be told.

        A role of an organization's own counts as the one that it builds on.
        """
        if not _LOGIN_PATTERN.fullmatch(login):
            return "none"
        path = f"{self._repo}/collaborators/{quote(login, safe='')}/permission"
        try:
            answer = parse_response(RoleResponse, self._client.get(path))
        except GitHubError:
            return "none"
        told = [name for name in (answer.role_name, answer.permission) if name in ROLES]
        return told[0] if told else "none"

    def post_comment(self, number: int, body: str) -> tuple[int, str]:
        """Write a comment, exactly once; its id and URL.

        Raises:
            PermissionMissing: The token may not write.
            CannotPublish: GitHub did not take it, or did not say whether it did.
        """
        with translate_write_errors(self._slug):
            comment = self._comments.post(number, body)
        return comment.id, comment.html_url

    def edit_comment(self, number: int, comment_id: int, body: str) -> tuple[int, str]:  # noqa: ARG002 - the port's
        """Replace a comment's text; its id and URL.

        Raises:
            PermissionMissing: The token may not write.
            NoSuchComment: The comment, or the issue, was deleted.
            CannotPublish: As `post_comment`.
        """
        with translate_write_errors(self._slug):
            comment = self._comments.edit(comment_id, body)
        return comment.id, comment.html_url

    def delete_comment(self, number: int, comment_id: int) -> None:
        """Delete a comment of ours while an older one of ours stands on the issue; any other stays.

        Raises:
            PermissionMissing: The token may not write.
            CannotPublish: GitHub did not take it, or did not say whether it did.
        """
        with translate_write_errors(self._slug):
            self._comments.delete(number, comment_id)

    def add_labels(self, number: int, labels: Sequence[str]) -> None:
        """Add those of the labels that exist; nothing is created or removed.

        Raises:
            PermissionMissing: The token may not write.
            CannotPublish: GitHub did not take them.
        """
        path = f"{self._repo}/issues/{number}"
        wanted = {label.lower() for label in labels}
        # GitHub would create a label that does not exist.
        names = [name for name in self.list_labels() if name.lower() in wanted] if wanted else []
        if not names:
            return

        def write() -> bool:
            self._client.write("POST", f"{path}/labels", {"labels": names})
            return True

        def look() -> bool | None:
            there = parse_response(IssueResponse, self._client.get(path)).label_names()
            return True if set(names) <= set(there) else None

        with translate_write_errors(self._slug):
            write_once(write, look)

    def _fetch_response(self, number: int) -> IssueResponse:
        """The issue without its thread. Another issue in its place has moved there."""
        answer = parse_response(IssueResponse, self._client.get(f"{self._repo}/issues/{number}"))
        if answer.number != number:
            raise GitHubError(ErrorKind.MOVED)
        return answer

    def _to_issue(self, answer: IssueResponse, comments: Sequence[CommentResponse]) -> Issue:
        thread = [one.to_exchange(ours=self._comments.is_ours(one)) for one in comments]
        return answer.to_issue(thread, self._client.server_time)
