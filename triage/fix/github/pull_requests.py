"""Finds and opens pull requests from branches of one repository, and says who must act when that fails."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from triage.base.errors import CannotPublish, PermissionMissing, PullRequestRefused, TriageError
from triage.base.threads import sleep_unless_abandoned
from triage.domain.proposal import PullRequest
from triage.outside.github.github_errors import (
    ErrorKind,
    GitHubError,
    bad_token_error,
    describe_rate_limit,
    github_errors,
    translate_errors,
    unreadable_response,
)
from triage.outside.github.repository_connection import RepositoryConnection

if TYPE_CHECKING:
    from github.PullRequest import PullRequest as GitHubPullRequest


PULL_REQUEST_SETTING = '"Allow GitHub Actions to create and approve pull requests" (Settings > Actions > General)'
"""Off by default (GitHub docs, "Managing GitHub Actions settings for a repository")."""


def translate_contents_errors(slug: str) -> AbstractContextManager[None]:
    """Return what translates errors of writing commits and refs."""
    return translate_errors(lambda error: _contents_error(error, slug))


def translate_pull_request_errors(slug: str) -> AbstractContextManager[None]:
    """Return what translates errors of opening a pull request."""
    return translate_errors(lambda error: _pull_request_error(error, slug))


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


def convert(pull: "GitHubPullRequest") -> PullRequest:
    return PullRequest(number=pull.number, url=pull.html_url, body=pull.body or "")


@dataclass
class PullRequests:
    """The pull requests of one repository. Every failure is a `GitHubError`."""

    connection: RepositoryConnection

    def find(self, branch: str, commit: str, base: str) -> PullRequest | None:
        """Returns the open one from a branch of this repository into the base whose head is the commit."""
        owner, _, _ = self.connection.slug.partition("/")
        with github_errors():
            pulls = self.connection.repository.get_pulls(state="open", head=f"{owner}:{branch}").get_page(0)
            # GitHub lists all pull requests when it cannot read the parameter `head`.
            return next((convert(pull) for pull in pulls if self._is_from(pull, branch, commit, base)), None)

    def open_draft(self, branch: str, commit: str, base: str, title: str, body: str) -> PullRequest:
        """Opens one if there is none of the commit. GitHub itself refuses a second one of the same two branches."""
        if found := self.find(branch, commit, base):
            return found
        self.connection.mask_secrets([title, body, branch])
        for _ in range(MAX_WRITES):
            try:
                return self._post(branch, commit, base, title, body)
            except GitHubError as error:
                if error.kind not in (ErrorKind.EXISTS, ErrorKind.UNKNOWN_OUTCOME):
                    raise
                failure = error
            if found := self._find_again(branch, commit, base):
                return found
        raise failure

    def _post(self, branch: str, commit: str, base: str, title: str, body: str) -> PullRequest:
        with github_errors():
            opened = self.connection.writable.create_pull(base, branch, title=title, body=body, draft=True)
            if not self._is_from(opened, branch, commit, base):
                raise unreadable_response()
            return convert(opened)

    def _is_from(self, pull: "GitHubPullRequest", branch: str, commit: str, base: str) -> bool:
        # Open, and its head is this commit of this repository's branch, into another branch. A fork may be deleted.
        slug = pull.head.repo.full_name if pull.head.repo else ""
        head = (slug.casefold(), pull.head.ref, pull.head.sha, pull.base.ref)
        return pull.state == "open" and head == (self.connection.slug.casefold(), branch, commit, base)

    def _find_again(self, branch: str, commit: str, base: str) -> PullRequest | None:
        for attempt in range(MAX_READS):
            sleep_unless_abandoned(self.connection.reread_seconds * attempt)
            if found := self.find(branch, commit, base):
                return found
        return None
