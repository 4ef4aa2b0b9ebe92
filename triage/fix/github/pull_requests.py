"""Finds and opens pull requests from branches of one repository, and says who must act when that fails."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from triage.base.errors import CannotPublish, PermissionMissing, PullRequestRefused, TriageError
from triage.base.threads import sleep_unless_abandoned
from triage.domain.proposal import PullRequest
from triage.fix.github.git_data import PullResponse
from triage.github.github_client import PAGE_SIZE
from triage.github.github_errors import (
    ErrorKind,
    GitHubError,
    bad_token_error,
    describe_rate_limit,
    unreadable_response,
)
from triage.github.responses import parse_response

if TYPE_CHECKING:
    from triage.github.github_client import GitHubClient


PULL_REQUEST_SETTING = '"Allow GitHub Actions to create and approve pull requests" (Settings > Actions > General)'
"""Off by default (GitHub docs, "Managing GitHub Actions settings for a repository")."""


@contextmanager
def translate_contents_errors(slug: str) -> Iterator[None]:
    """Raises an error for whoever must act in place of a `GitHubError` while commits or refs are written."""
    try:
        yield
    except GitHubError as error:
        raise _contents_error(error, slug) from None


@contextmanager
def translate_pull_request_errors(slug: str) -> Iterator[None]:
    """Raises an error for whoever must act in place of a `GitHubError` while a pull request is opened."""
    try:
        yield
    except GitHubError as error:
        raise _pull_request_error(error, slug) from None


@contextmanager
def translate_pull_request_read_errors(slug: str) -> Iterator[None]:
    """Raises PermissionMissing with the permission for pull requests; other errors pass."""
    try:
        yield
    except GitHubError as error:
        if error.kind not in (ErrorKind.FORBIDDEN, ErrorKind.GONE):
            raise
        raise PermissionMissing(
            f"The token may not read pull requests of {slug}. Give the job `permissions: pull-requests: write`."
        ) from None


def _contents_error(error: GitHubError, slug: str) -> TriageError:
    if error.kind is ErrorKind.BAD_TOKEN:
        return bad_token_error()
    if error.kind in (ErrorKind.FORBIDDEN, ErrorKind.GONE):  # a personal token without the scope is answered 404
        return PermissionMissing(
            f"The token may not write commits and branches to {slug}. Give the job `permissions: contents: write`."
        )
    return CannotPublish(f"The proposal could not be written to {slug}: {_describe(error)}.")


def _pull_request_error(error: GitHubError, slug: str) -> TriageError:
    if error.kind is ErrorKind.BAD_TOKEN:
        return bad_token_error()
    what = f"The pull request could not be opened in {slug}"
    if error.kind is ErrorKind.NO_PULL_REQUESTS:
        return PullRequestRefused(f"{what}: switch on {PULL_REQUEST_SETTING}.")
    if error.kind is ErrorKind.NO_DRAFTS:
        return PullRequestRefused(
            f"{what}: GitHub has no draft pull requests in private repositories of this plan. Open one by hand."
        )
    if error.kind in (ErrorKind.FORBIDDEN, ErrorKind.GONE):
        return PullRequestRefused(
            f"{what}: give the job `permissions: pull-requests: write`, and switch on {PULL_REQUEST_SETTING}."
        )
    if error.status == 422:
        return PullRequestRefused(f"{what}: {_describe(error)}. Open it by hand, or check {PULL_REQUEST_SETTING}.")
    return CannotPublish(f"{what}: {_describe(error)}.")


def _describe(error: GitHubError) -> str:
    reasons = {
        ErrorKind.LOCKED: "it is locked",
        ErrorKind.ARCHIVED: "the repository is archived",
        ErrorKind.MOVED: "the repository was moved to another place on GitHub",
        ErrorKind.RATE_LIMITED: describe_rate_limit(error),
    }
    return reasons.get(error.kind, f"GitHub {error.description}")


MAX_READS = 3
"""Reads of a list that does not show yet what was just opened."""
MAX_WRITES = 2


@dataclass
class PullRequests:
    """The pull requests of one repository. Every failure is a `GitHubError`."""

    client: "GitHubClient"
    slug: str
    reread_seconds: float

    def find(self, branch: str, commit: str, base: str) -> PullRequest | None:
        """Returns the open one from a branch of this repository into the base whose head is the commit."""
        owner, _, _ = self.slug.partition("/")
        parameters = {"head": f"{owner}:{branch}", "state": "open", "per_page": PAGE_SIZE}
        raw = self.client.get(f"/repos/{self.slug}/pulls", parameters)
        if not isinstance(raw, list):
            raise unreadable_response()
        # GitHub lists all pull requests when it cannot read the parameter `head`.
        pulls = [parse_response(PullResponse, item) for item in raw]
        return next((pull.to_pull_request() for pull in pulls if pull.is_from(self.slug, branch, commit, base)), None)

    def open_draft(self, branch: str, commit: str, base: str, title: str, body: str) -> PullRequest:
        """Opens one if there is none of the commit. GitHub itself refuses a second one of the same two branches."""
        if found := self.find(branch, commit, base):
            return found
        content = {"title": title, "body": body, "head": branch, "base": base, "draft": True}
        for _ in range(MAX_WRITES):
            try:
                return self._post(branch, commit, content)
            except GitHubError as error:
                if error.kind not in (ErrorKind.EXISTS, ErrorKind.UNKNOWN_OUTCOME):
                    raise
                failure = error
            if found := self._find_again(branch, commit, base):
                return found
        raise failure

    def _post(self, branch: str, commit: str, content: dict[str, Any]) -> PullRequest:
        raw = self.client.write("POST", f"/repos/{self.slug}/pulls", content, idempotent=False)
        opened = parse_response(PullResponse, raw)
        if not opened.is_from(self.slug, branch, commit, content["base"]):
            raise unreadable_response()
        return opened.to_pull_request()

    def _find_again(self, branch: str, commit: str, base: str) -> PullRequest | None:
        for attempt in range(MAX_READS):
            sleep_unless_abandoned(self.reread_seconds * attempt)
            if found := self.find(branch, commit, base):
                return found
        return None
