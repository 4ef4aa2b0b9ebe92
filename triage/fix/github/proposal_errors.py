"""Errors while commits, branches and pull requests are written, and who must act on them."""

from collections.abc import Iterator
from contextlib import contextmanager

from triage.base.errors import CannotPublish, PermissionMissing, PullRequestRefused, TriageError
from triage.github.github_errors import ErrorKind, GitHubError, bad_token_error, describe_rate_limit

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
