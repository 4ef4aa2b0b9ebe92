"""Errors that GitHub may answer with, and who must act on them. No word of GitHub's message is passed on."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from triage.base.errors import (
    CannotPublish,
    GitHubUnavailable,
    IssueMoved,
    NoSuchComment,
    NoSuchIssue,
    PermissionMissing,
    PullRequestRefused,
    RateLimited,
    TriageError,
)
from triage.base.threads import raise_if_abandoned
from triage.outside.http_client import PROXY_LOGIN_REFUSED, describe_connection_problem

T = TypeVar("T")
P = ParamSpec("P")


class ErrorKind(StrEnum):
    BAD_TOKEN = "bad token"  # noqa: S105 - a kind of error
    FORBIDDEN = "forbidden"
    LOCKED = "locked"
    ARCHIVED = "archived"
    GONE = "gone"
    MOVED = "moved"
    EXISTS = "exists"
    NO_PULL_REQUESTS = "no pull requests"
    """The repository's settings do not let a job's token open any."""
    INVALID = "invalid"
    RATE_LIMITED = "rate limited"
    UNKNOWN_OUTCOME = "unknown outcome"
    """Server error, lost connection, timeout or unreadable response: GitHub may or may not have taken a write."""


@dataclass(eq=False)
class GitHubError(Exception):
    """A request that did not succeed. Stays inside this package."""

    kind: ErrorKind
    status: int | None = None
    """None without a response."""
    resets_at: datetime | None = None
    """When the rate limit ends, if GitHub says so."""
    is_unreadable: bool = False

    @property
    def description(self) -> str:
        """Return what GitHub did, as the end of a sentence that begins with "GitHub"."""
        if self.is_unreadable:
            return (
                "sent an answer that cannot be read. Something else may answer in its place: check GITHUB_API_URL and "
                "the proxy"
            )
        return f"answered {self.status}" if self.status else "did not answer"


class NotOnGitHub(GitHubError):
    """The one of the kind `GONE`, which many a caller expects."""


def unreadable_response() -> GitHubError:
    """Return the error for a response of another form. Whether GitHub has taken a write is then unknown."""
    return GitHubError(ErrorKind.UNKNOWN_OUTCOME, is_unreadable=True)


@contextmanager
def github_errors() -> Iterator[None]:
    """Raise GitHubError, or GitHubUnavailable with its reason, for whatever PyGithub raises.

    Raises Abandoned at its start if nobody waits for the answer any more.
    """
    import requests
    from github.GithubException import (
        BadAttributeException,
        GithubException,
        IncompletableObject,
        RateLimitExceededException,
    )

    raise_if_abandoned()
    try:
        yield
    except IncompletableObject:
        raise unreadable_response() from None
    except GithubException as error:
        if error.status == 407:
            raise GitHubUnavailable(f"GitHub cannot be reached: {PROXY_LOGIN_REFUSED}.") from None
        headers = error.headers or {}
        is_used_up = error.status == 403 and headers.get("x-ratelimit-remaining") == "0"
        is_limit = is_used_up or error.status == 429 or isinstance(error, RateLimitExceededException)
        text = _collect_messages(error.data).lower()
        kind = ErrorKind.RATE_LIMITED if is_limit else _classify_error(error.status, text)
        error_type = NotOnGitHub if kind is ErrorKind.GONE else GitHubError
        raise error_type(kind, error.status, parse_reset_time(headers) if is_limit else None) from None
    except (requests.RequestException, OSError) as error:
        if reason := describe_connection_problem(error):
            raise GitHubUnavailable(f"GitHub cannot be reached: {reason}.") from None
        raise GitHubError(ErrorKind.UNKNOWN_OUTCOME) from None
    # PyGithub reads fields of a response before it knows that they are there.
    except (ValueError, TypeError, AttributeError, LookupError, AssertionError, RecursionError, BadAttributeException):
        raise unreadable_response() from None


def unless_gone(read: Callable[[], T]) -> T | None:
    """Return what a request reads; None if GitHub does not have it. Raises as `github_errors`."""
    with suppress(NotOnGitHub), github_errors():
        return read()
    return None


def _collect_messages(data: object) -> str:
    """Return the message of an error, and those of its details: a 422 has its reason only there."""
    if not isinstance(data, dict):
        return ""
    details = data.get("errors")
    parts = [data, *(details if isinstance(details, list) else [])]
    messages = [part.get("message") if isinstance(part, dict) else part for part in parts]
    return "\n".join(message for message in messages if isinstance(message, str))


def _classify_error(status: int, text: str) -> ErrorKind:
    """Return the kind of an error, by its status and the words of its message."""
    if 300 <= status < 400:
        return ErrorKind.MOVED
    if status == 401:
        return ErrorKind.BAD_TOKEN
    if status in (403, 422):
        # A 422 may quote the name of a branch, which has words of an issue's title.
        kinds = _KINDS | _FORBIDDEN_KINDS if status == 403 else _KINDS
        named = next((kind for words, kind in kinds.items() if re.search(words, text)), None)
        return named or (ErrorKind.FORBIDDEN if status == 403 else ErrorKind.INVALID)
    if status in (404, 410):
        return ErrorKind.GONE
    return ErrorKind.UNKNOWN_OUTCOME if status >= 500 else ErrorKind.INVALID


_KINDS = {
    "not permitted to create": ErrorKind.NO_PULL_REQUESTS,
    "already exists": ErrorKind.EXISTS,
    "reference does not exist": ErrorKind.GONE,
}
_FORBIDDEN_KINDS = {
    # Whole words: an account that is "blocked" is not an issue that is locked.
    r"\blocked\b": ErrorKind.LOCKED,
    r"\barchived\b": ErrorKind.ARCHIVED,
}
"""By words of the message, in lower case."""


def parse_reset_time(headers: Mapping[str, str]) -> datetime | None:
    """Return when a rate limit begins anew, by `x-ratelimit-reset`; None if that is no time."""
    reset = headers.get("x-ratelimit-reset", "")
    if not (reset.isascii() and reset.isdigit() and len(reset) <= 10):
        return None
    return datetime.fromtimestamp(int(reset), UTC)


def translates(
    translate: Callable[Concatenate[GitHubError, P], TriageError],
) -> Callable[P, AbstractContextManager[None]]:
    """Make `translate` open a block: a `GitHubError` in it is raised as the error that `translate` returns for it."""

    @contextmanager
    @wraps(translate)
    def block(*args: P.args, **kwargs: P.kwargs) -> Iterator[None]:
        try:
            yield
        except GitHubError as error:
            if error.kind is ErrorKind.BAD_TOKEN:
                where = "Check the input github-token; at a terminal, TRIAGE_GITHUB_TOKEN."
                raise PermissionMissing(f"GitHub does not accept the token (401). {where}") from None
            raise translate(error, *args, **kwargs) from None

    return block


@translates
def translate_read_errors(error: GitHubError, slug: str, number: int | None = None) -> TriageError:
    """Translate errors of reading a repository, or an issue of it."""
    what = f"Issue #{number}" if number is not None else f"The repository {slug}"
    where = f" in {slug}" if number is not None else ""
    match error.kind:
        case ErrorKind.FORBIDDEN | ErrorKind.LOCKED | ErrorKind.ARCHIVED:
            return PermissionMissing(
                f"The token may not read issues of {slug}. Give the job `permissions: contents: read, issues: write`."
            )
        case ErrorKind.MOVED:
            return IssueMoved(f"{what} was moved to another place on GitHub. It is not triaged there.")
        case ErrorKind.GONE if error.status == 410 and number is not None:
            return IssueMoved(f"{what} was deleted, or issues are switched off.")
        case ErrorKind.RATE_LIMITED:
            return RateLimited(f"{what} could not be read: {describe_rate_limit(error)}.")
        case ErrorKind.UNKNOWN_OUTCOME:
            return GitHubUnavailable(f"{what} could not be read: GitHub {error.description}.")
        case _:
            return NoSuchIssue(
                f"{what} does not exist{where}, or the token may not read it. Check the "
                f"{'name' if number is None else 'number'}, and give the job `permissions: issues: write`."
            )


@translates
def translate_write_errors(error: GitHubError, slug: str, what: str = "The result") -> TriageError:
    """Translate errors of writing to an issue. `what` begins the sentence."""
    if error.kind is ErrorKind.FORBIDDEN:
        return PermissionMissing(
            f"The token may not write to issues of {slug}. Give the job `permissions: issues: write`."
        )
    kind = NoSuchComment if error.kind is ErrorKind.GONE else CannotPublish
    return kind(f"{what} could not be written to the issue: {_describe_refusal(error)}.")


PULL_REQUEST_SETTING = '"Allow GitHub Actions to create and approve pull requests" (Settings > Actions > General)'
"""Off by default (GitHub docs, "Managing GitHub Actions settings for a repository")."""


@translates
def translate_contents_errors(error: GitHubError, slug: str) -> TriageError:
    """Translate errors of writing commits and branches."""
    if error.kind in (ErrorKind.FORBIDDEN, ErrorKind.GONE):  # a personal token without the scope is answered 404
        return PermissionMissing(
            f"The token may not write commits and branches to {slug}. Give the job `permissions: contents: write`."
        )
    return CannotPublish(f"The proposal could not be written to {slug}: {_describe_refusal(error)}.")


@translates
def translate_pull_request_errors(error: GitHubError, slug: str) -> TriageError:
    """Translate errors of opening a pull request."""
    what = f"The pull request could not be opened in {slug}"
    if error.kind is ErrorKind.NO_PULL_REQUESTS:
        return PullRequestRefused(f"{what}: switch on {PULL_REQUEST_SETTING}.")
    if error.kind in (ErrorKind.FORBIDDEN, ErrorKind.GONE):
        return PullRequestRefused(
            f"{what}: give the job `permissions: pull-requests: write`, and switch on {PULL_REQUEST_SETTING}."
        )
    if error.status == 422:
        return PullRequestRefused(
            f"{what}: {_describe_refusal(error)}. Open it by hand, or check {PULL_REQUEST_SETTING}."
        )
    return CannotPublish(f"{what}: {_describe_refusal(error)}.")


def _describe_refusal(error: GitHubError) -> str:
    """Return why GitHub did not do it, as the end of a sentence."""
    reasons = {
        ErrorKind.LOCKED: "it is locked",
        ErrorKind.ARCHIVED: "the repository is archived",
        ErrorKind.GONE: f"GitHub {error.description}, as for what was deleted meanwhile",
        ErrorKind.MOVED: "it was transferred meanwhile",
        ErrorKind.RATE_LIMITED: describe_rate_limit(error),
    }
    return reasons.get(error.kind, f"GitHub {error.description}")


def describe_rate_limit(error: GitHubError) -> str:
    until = f"; it resets at {error.resets_at:%H:%M} UTC" if error.resets_at else ""
    return f"the token's rate limit is used up{until}"
