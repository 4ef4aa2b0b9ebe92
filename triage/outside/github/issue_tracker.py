"""Reads and writes the issues of one GitHub repository."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from triage.domain.issue import MEMBERS, Issue
from triage.domain.task import RUN_WINDOW
from triage.outside.github.comments import JOB_TOKEN_LOGIN, read_login
from triage.outside.github.github_errors import (
    ErrorKind,
    GitHubError,
    github_errors,
    translate_read_errors,
    translate_write_errors,
)
from triage.outside.github.issue_nodes import BOT_SUFFIX
from triage.outside.github.read_past_issues import PastIssueClient
from triage.outside.github.repository_connection import (
    iterate_pages,
    read_server_time,
    write_once,
)
from triage.outside.github.suggestions import SuggestionClient
from triage.safety.secrets.redactor import OWN_SECRET_PLACEHOLDER

if TYPE_CHECKING:
    from github.Issue import Issue as GitHubIssue

ROLES = frozenset({"admin", "maintain", "write", "triage", "read", "none"})


@dataclass
class IssueTracker(PastIssueClient, SuggestionClient):
    """The issue tracker. Every method raises SetupError or GitHubUnavailable; a write also raises CannotPublish."""

    def fetch_issue(self, number: int, posted: int | None = None) -> Issue:
        """The issue as it is now, with its whole thread.

        `posted` is the id of a comment that was just written: a list without it is outdated, and is requested again.
        """
        with translate_read_errors(self.slug, number):
            with github_errors():
                issue = self._convert(self.repository.get_issue(number).complete(), number)
            thread = self.fetch_comments(number, posted, issue.author)
            return issue.model_copy(update={"thread": thread})

    def _convert(self, issue: "GitHubIssue", number: int) -> Issue:
        """Return PyGithub's issue as ours, without the thread. Raises GitHubError if it has moved."""
        if issue.number != number:
            raise GitHubError(ErrorKind.MOVED)
        read: dict[str, Any] = {
            "title": issue.title or "",
            "body": issue.body or "",
            "author": read_login(issue.user),
            "labels": [label.name for label in issue.labels if label.name],
        }
        return Issue(
            **self.redact(read),
            number=issue.number,
            url=issue.html_url,
            author_is_bot=bool(issue.user and issue.user.type == "Bot"),
            by_member=issue.author_association in MEMBERS,
            state=issue.state,
            locked=bool(issue.locked),
            is_pull_request=issue.pull_request is not None,
            opened_at=issue.created_at,
            snapshot_time=read_server_time(issue),
        )

    @property
    def commenter(self) -> str:
        """Who writes our comments, as GitHub's search names an account."""
        login = self.viewer_login or JOB_TOKEN_LOGIN
        return f"app/{login.removesuffix(BOT_SUFFIX)}" if login.endswith(BOT_SUFFIX) else login

    def list_recent_issues(self, limit: int) -> list[int]:
        """Numbers of issues opened in the last 24 hours, newest first: all up to `limit`, or more."""
        numbers: list[int] = []
        day_ago = datetime.now(UTC) - RUN_WINDOW
        with translate_read_errors(self.slug):
            for page in iterate_pages(self.repository.get_issues(state="all", sort="created", direction="desc")):
                with github_errors():
                    recent = [issue for issue in page if issue.created_at is None or issue.created_at > day_ago]
                    # PyGithub would ask for each issue whether it is a pull request.
                    numbers += [issue.number for issue in recent if issue.html_url.split("/")[-2] != "pull"]
                if len(recent) < len(page) or len(numbers) > limit:
                    break
        return numbers

    def list_labels(self) -> list[str]:
        """Names of the repository's labels."""
        with translate_read_errors(self.slug), github_errors():
            pages = iterate_pages(self.repository.get_labels())
            names: list[str] = self.redact([label.name for page in pages for label in page if label.name])
        # No label is added by a name that is masked.
        return [name for name in names if OWN_SECRET_PLACEHOLDER not in name]

    def fetch_role(self, login: str) -> str:
        """The current `admin`, `maintain`, `write`, `triage`, `read` or `none`; `none` also if GitHub does not say.

        Raises GitHubUnavailable if it cannot be reached and says why.
        """
        repository = self.repository
        try:
            with github_errors():
                path = f"{repository.url}/collaborators/{quote(login, safe='')}/permission"
                _, answer = repository.requester.requestJsonAndCheck("GET", path)
                # A custom role of an organization counts as the role that it builds on; older servers name no role.
                named = (answer.get("role_name"), answer.get("permission"))
                return next((role for role in named if role in ROLES), "none")
        except GitHubError:
            return "none"

    def add_labels(self, number: int, labels: Sequence[str]) -> None:
        """Adds those of the labels that exist; creates and removes none."""
        wanted = {label.lower() for label in labels}
        # GitHub would create a label that does not exist.
        names = [name for name in self.list_labels() if name.lower() in wanted] if wanted else []
        if not names:
            return
        issue = self.writable.get_issue(number)
        with translate_write_errors(self.slug, "A label"):
            write_once(lambda: issue.add_to_labels(*names), lambda: set(names) <= self._read_labels(number))

    def _read_labels(self, number: int) -> set[str]:
        with github_errors():
            return {label.name for label in self.repository.get_issue(number).labels}
