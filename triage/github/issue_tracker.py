"""Reads and writes the issues of one GitHub repository."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from urllib.parse import quote

from triage.base.errors import GitHubUnavailable
from triage.domain.effect import Suggestion, SuggestionOptions
from triage.domain.issue import Issue
from triage.domain.past_issues import PastIssue
from triage.domain.task import RUN_WINDOW
from triage.github.comments import JOB_TOKEN_LOGIN, Comments
from triage.github.github_errors import ErrorKind, GitHubError, translate_read_errors, translate_write_errors
from triage.github.graphql import BOT_SUFFIX
from triage.github.read_past_issues import MAX_BODY_CHARS, PastIssues
from triage.github.repository_connection import RepositoryConnection
from triage.github.responses import (
    IssueResponse,
    LabelResponse,
    RoleResponse,
    parse_response,
)
from triage.github.suggestions import Suggestions
from triage.safety.secrets.redactor import OWN_SECRET_PLACEHOLDER

ROLES = frozenset({"admin", "maintain", "write", "triage", "read", "none"})
_LOGIN_PATTERN = re.compile(r"[A-Za-z0-9_-]{1,100}(\[bot\])?")


@dataclass
class IssueTracker(RepositoryConnection):
    """Implements `triage.ports.GitHub`."""

    @cached_property
    def _comments(self) -> Comments:
        return Comments(self._client, self._repo, self.reread_seconds)

    @cached_property
    def _suggestions(self) -> Suggestions:
        return Suggestions(self._client, self.slug, self.reread_seconds)

    def fetch_issue(self, number: int, posted: int | None = None) -> Issue:
        with translate_read_errors(self.slug, number):
            response = parse_response(IssueResponse, self._client.get(f"{self._repo}/issues/{number}"))
            if response.number != number:
                raise GitHubError(ErrorKind.MOVED)
            issue = response.to_issue([], None)
            thread = self._comments.fetch_all(number, posted, issue.author)
            return issue.model_copy(update={"thread": thread, "snapshot_time": self._client.server_time})

    def iterate_past_issues(
        self, limit: int, words: str, body_chars: int = MAX_BODY_CHARS
    ) -> Iterator[list[PastIssue]]:
        """Yields pages of the newest issues, at most `limit`; then what a search for `words` finds beside them.

        Raises GitHubUnavailable and SetupError.
        """
        reader = PastIssues(self._client, self.slug, self._comments.is_own_login, body_chars)
        with translate_read_errors(self.slug):
            try:
                yield from reader.iterate_pages(limit, words)
            except GitHubError as error:
                if error.kind is not ErrorKind.GONE:
                    raise
                raise GitHubUnavailable(
                    "GitHub's GraphQL API was not found here, and past issues come from it."
                ) from None

    @property
    def commenter(self) -> str:
        """Who writes our comments, as GitHub's search names an account."""
        login = self._comments.own_login or JOB_TOKEN_LOGIN
        return f"app/{login.removesuffix(BOT_SUFFIX)}" if login.endswith(BOT_SUFFIX) else login

    def list_recent_issues(self, limit: int) -> list[int]:
        newest = {"state": "all", "sort": "created", "direction": "desc"}
        numbers: list[int] = []
        with translate_read_errors(self.slug):
            for page in self._client.iterate_pages(f"{self._repo}/issues", newest):
                issues = [parse_response(IssueResponse, raw) for raw in page]
                day_ago = (self._client.server_time or datetime.now(UTC)) - RUN_WINDOW
                recent = [issue for issue in issues if issue.created_at is None or issue.created_at > day_ago]
                numbers += [issue.number for issue in recent if issue.pull_request is None]
                if len(recent) < len(issues) or len(numbers) > limit:
                    break
        return numbers

    def list_labels(self) -> list[str]:
        with translate_read_errors(self.slug):
            labels = [parse_response(LabelResponse, raw) for raw in self._client.fetch_list(f"{self._repo}/labels")]
        # No label is added by a name that is masked.
        return [label.name for label in labels if label.name and OWN_SECRET_PLACEHOLDER not in label.name]

    def fetch_role(self, login: str) -> str:
        if not _LOGIN_PATTERN.fullmatch(login):
            return "none"
        path = f"{self._repo}/collaborators/{quote(login, safe='')}/permission"
        try:
            response = parse_response(RoleResponse, self._client.get(path))
        except GitHubError:
            return "none"
        # A custom role of an organization counts as the role that it builds on.
        return next((name for name in (response.role_name, response.permission) if name in ROLES), None) or "none"

    def post_comment(self, number: int, body: str) -> tuple[int, str]:
        with translate_write_errors(self.slug):
            return self._comments.post(number, body)

    def edit_comment(self, number: int, comment_id: int, body: str) -> tuple[int, str]:
        with translate_write_errors(self.slug):
            return self._comments.edit(number, comment_id, body)

    def wait_to_look_again(self, number: int) -> bool:
        return self._comments.wait_to_look_again(number)

    def delete_comment(self, number: int, comment_id: int) -> None:
        with translate_write_errors(self.slug):
            self._comments.delete(number, comment_id)

    def add_labels(self, number: int, labels: Sequence[str]) -> None:
        """Adds those of the labels that exist; creates and removes none."""
        wanted = {label.lower() for label in labels}
        # GitHub would create a label that does not exist.
        names = [name for name in self.list_labels() if name.lower() in wanted] if wanted else []
        if not names:
            return
        with translate_write_errors(self.slug, "A label"):
            self._client.write("POST", f"{self._repo}/issues/{number}/labels", {"labels": names}, idempotent=True)

    def fetch_suggestion_options(
        self, number: int, labels: Sequence[str], original: int = 0
    ) -> SuggestionOptions | None:
        try:
            return self._suggestions.fetch_options(number, labels, original)
        except (GitHubError, GitHubUnavailable):
            return None

    def suggest(self, number: int, suggestions: Sequence[Suggestion]) -> list[Suggestion]:
        with translate_write_errors(self.slug):
            return self._suggestions.write(number, suggestions)

    def remove_label(self, number: int, label: str) -> None:
        with translate_write_errors(self.slug):
            self._client.delete(f"{self._repo}/issues/{number}/labels/{quote(label, safe='')}")
