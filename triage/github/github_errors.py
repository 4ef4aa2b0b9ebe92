"""Errors that GitHub may answer with, and who must act on them. No word of GitHub's message is passed on."""

import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from triage.base.errors import (
    CannotPublish,
    GitHubUnavailable,
    IssueMoved,
    NoSuchComment,
    NoSuchIssue,
    PermissionMissing,
    RateLimited,
    TriageError,
)
from triage.base.http_client import parse_retry_after, server_timestamp

MAX_ATTEMPTS = 3


class ErrorKind(StrEnum):
    BAD_TOKEN = "bad token"  # noqa: S105 - a kind of error
    FORBIDDEN = "forbidden"
    LOCKED = "locked"
    ARCHIVED = "archived"
    GONE = "gone"
    MOVED = "moved"
    TOO_LONG = "too long"
    EXISTS = "exists"
    NO_PULL_REQUESTS = "no pull requests"
    """The repository's settings do not let a job's token open any."""
    NO_DRAFTS = "no drafts"
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
    retry_after: float = 0.0
    """Seconds that GitHub asks to wait before the next attempt."""
    max_attempts: int = 1
    """How often the request may be sent, this attempt included."""
    problem: str = ""
    """What is wrong with a response that cannot be used, as the end of a sentence that begins with "GitHub"."""
    is_too_large: bool = False
    """There is more than is read of an answer."""

    @property
    def description(self) -> str:
        """Returns what GitHub did, as the end of a sentence that begins with "GitHub"."""
        if self.problem:
            return f"{self.problem}. Something else may answer in its place: check GITHUB_API_URL and the proxy"
        again = ", also when asked again" if self.kind is ErrorKind.UNKNOWN_OUTCOME else ""
        return (f"answered {self.status}" if self.status else "did not answer") + again


def unreadable_response() -> GitHubError:
    """Returns the error for a response of another form. Whether GitHub has taken a write is then unknown."""
    return GitHubError(ErrorKind.UNKNOWN_OUTCOME, problem="sent an answer that cannot be read")


def error_from_response(status: int, message: str, headers: Mapping[str, str], *, idempotent: bool) -> GitHubError:
    """Returns the error for a response that is no success. Its message is searched for known words only.

    A idempotent request may be sent again after a server error, which may have come after its effect.
    """
    kind = _classify(status, message.lower(), headers)
    wait = seconds_until_retry(status, headers)
    may_retry = wait is not None and (status in (403, 429) or (idempotent and status >= 500))
    return GitHubError(
        kind,
        status,
        _reset_time(headers) if kind is ErrorKind.RATE_LIMITED else None,
        retry_after=wait or 0.0,
        max_attempts=MAX_ATTEMPTS if may_retry else 1,
    )


def _classify(status: int, text: str, headers: Mapping[str, str]) -> ErrorKind:
    if _is_rate_limit(status, headers) or (status in (403, 429) and "rate limit" in text):
        return ErrorKind.RATE_LIMITED
    if status == 401:
        return ErrorKind.BAD_TOKEN
    if status == 403:
        return _find_kind(_FORBIDDEN_KINDS, text) or ErrorKind.FORBIDDEN
    if status in (404, 410):
        return ErrorKind.GONE
    if status == 422:
        return _find_kind(_REFUSED_KINDS, text) or ErrorKind.INVALID
    return ErrorKind.UNKNOWN_OUTCOME if status >= 500 else ErrorKind.INVALID


_NO_PULL_REQUESTS = {r"not permitted to create": ErrorKind.NO_PULL_REQUESTS}
_FORBIDDEN_KINDS = {
    # Whole words: an account that is "blocked" is not an issue that is locked.
    r"\blocked\b": ErrorKind.LOCKED,
    r"\barchived\b": ErrorKind.ARCHIVED,
    **_NO_PULL_REQUESTS,
}
_REFUSED_KINDS = {
    "too long": ErrorKind.TOO_LONG,
    "already exists": ErrorKind.EXISTS,
    "reference does not exist": ErrorKind.GONE,
    "draft pull requests are not supported": ErrorKind.NO_DRAFTS,
    **_NO_PULL_REQUESTS,
}
"""By words of the message, in lower case."""


def _find_kind(kinds: Mapping[str, ErrorKind], text: str) -> ErrorKind | None:
    return next((kind for words, kind in kinds.items() if re.search(words, text)), None)


def _is_rate_limit(status: int, headers: Mapping[str, str]) -> bool:
    # GitHub uses 403 for it too.
    if status == 429:
        return True
    return status == 403 and ("retry-after" in headers or headers.get("x-ratelimit-remaining") == "0")


def seconds_until_retry(status: int, headers: Mapping[str, str], now: Callable[[], float] = time.time) -> float | None:
    """Returns the seconds to wait before the next attempt, 0 when GitHub asks for none; None for no next attempt.

    GitHub's rules (docs, rate limits for the REST API): `retry-after` first, then `x-ratelimit-reset` when nothing
    remains, and else a minute, for which there is no time here.
    """
    if "retry-after" in headers:
        return parse_retry_after(headers, now)
    if not _is_rate_limit(status, headers):
        return None if status in (403, 429) else 0.0
    reset = _reset_time(headers)
    if headers.get("x-ratelimit-remaining") != "0" or reset is None:
        return None
    return max(reset.timestamp() - server_timestamp(headers, now), 0.0) + 1.0


def _reset_time(headers: Mapping[str, str]) -> datetime | None:
    reset = headers.get("x-ratelimit-reset", "")
    if not (reset.isascii() and reset.isdigit() and len(reset) <= 10):
        return None
    return datetime.fromtimestamp(int(reset), UTC)


@contextmanager
def translate_read_errors(slug: str, number: int | None = None) -> Iterator[None]:
    """Raises an error for whoever must act in place of a `GitHubError` while reading."""
    try:
        yield
    except GitHubError as error:
        raise _read_error(error, slug, number) from None


@contextmanager
def translate_write_errors(slug: str, what: str = "The result") -> Iterator[None]:
    """Raises an error for whoever must act in place of a `GitHubError` while writing."""
    try:
        yield
    except GitHubError as error:
        raise _write_error(error, slug, what) from None


def _read_error(error: GitHubError, slug: str, number: int | None) -> TriageError:
    what = f"Issue #{number}" if number is not None else f"The repository {slug}"
    where = f" in {slug}" if number is not None else ""
    match error.kind:
        case ErrorKind.BAD_TOKEN:
            return bad_token_error()
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


def _write_error(error: GitHubError, slug: str, what: str) -> TriageError:
    if error.kind is ErrorKind.BAD_TOKEN:
        return bad_token_error()
    if error.kind is ErrorKind.FORBIDDEN:
        return PermissionMissing(
            f"The token may not write to issues of {slug}. Give the job `permissions: issues: write`."
        )
    reasons = {
        ErrorKind.LOCKED: "the issue is locked",
        ErrorKind.ARCHIVED: "the repository is archived",
        ErrorKind.GONE: f"GitHub {error.description}, as for what was deleted meanwhile",
        ErrorKind.MOVED: "the issue was transferred meanwhile",
        ErrorKind.TOO_LONG: "the text is longer than the 65,536 characters that GitHub takes",
        ErrorKind.RATE_LIMITED: describe_rate_limit(error),
    }
    kind = NoSuchComment if error.kind is ErrorKind.GONE else CannotPublish
    return kind(f"{what} could not be written to the issue: {reasons.get(error.kind, f'GitHub {error.description}')}.")


def bad_token_error() -> PermissionMissing:
    return PermissionMissing(
        "GitHub does not accept the token (401). Check the input github-token; at a terminal, TRIAGE_GITHUB_TOKEN."
    )


def describe_rate_limit(error: GitHubError) -> str:
    until = f"; it resets at {error.resets_at:%H:%M} UTC" if error.resets_at else ""
    return f"the token's rate limit is used up{until}"
