"""What GitHub may answer instead of what was asked for, and who must act. No word of GitHub's message is passed on."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from enum import StrEnum

from triage.errors import (
    CannotPublish,
    GitHubUnavailable,
    IssueMoved,
    NoSuchComment,
    NoSuchIssue,
    PermissionMissing,
    RateLimited,
    TriageError,
)


class ErrorKind(StrEnum):
    """Kinds of answers that are no success."""

    BAD_TOKEN = "token"  # noqa: S105 - a kind of refusal
    FORBIDDEN = "forbidden"
    LOCKED = "locked"
    ARCHIVED = "archived"
    GONE = "gone"
    MOVED = "moved"
    TOO_LONG = "too long"
    INVALID = "invalid"
    RATE_LIMITED = "limited"
    UNKNOWN_OUTCOME = "unclear"
    """Server fault, lost connection, timeout, unreadable answer: a write may or may not have been taken."""


class GitHubError(Exception):
    """A request that did not succeed. Stays inside this package."""

    def __init__(self, refusal: ErrorKind, status: int | None = None, resets_at: datetime | None = None) -> None:
        super().__init__(refusal)
        self.kind = refusal
        self.status = status
        self.resets_at = resets_at

    @property
    def description(self) -> str:
        """The answer in our words."""
        return f"answered {self.status}" if self.status else "did not answer"


def error_from_response(status: int, message: str, headers: Mapping[str, str]) -> GitHubError:
    """The kind of an error answer. Its message is read, never shown."""
    said = message.lower()
    if is_rate_limit(status, headers) or (status in (403, 429) and "rate limit" in said):
        return GitHubError(ErrorKind.RATE_LIMITED, status, _reset_time(headers))
    if status == 401:
        return GitHubError(ErrorKind.BAD_TOKEN, status)
    if status == 403:
        # As words: an account that is "blocked" is no issue that is locked.
        words = {r"\blocked\b": ErrorKind.LOCKED, r"\barchived\b": ErrorKind.ARCHIVED}
        return GitHubError(
            next((kind for word, kind in words.items() if re.search(word, said)), ErrorKind.FORBIDDEN), status
        )
    if status in (404, 410):
        return GitHubError(ErrorKind.GONE, status)
    if status == 422 and "too long" in said:
        return GitHubError(ErrorKind.TOO_LONG, status)
    return GitHubError(ErrorKind.UNKNOWN_OUTCOME if status >= 500 else ErrorKind.INVALID, status)


def is_rate_limit(status: int, headers: Mapping[str, str]) -> bool:
    """Whether an answer says "later" by its status and headers; GitHub uses 403 for that too."""
    if status == 429:
        return True
    return status == 403 and ("retry-after" in headers or headers.get("x-ratelimit-remaining") == "0")


def _reset_time(headers: Mapping[str, str]) -> datetime | None:
    reset = headers.get("x-ratelimit-reset", "")
    if not (reset.isascii() and reset.isdigit() and len(reset) <= 10):
        return None
    return datetime.fromtimestamp(int(reset), UTC)


@contextmanager
def translate_read_errors(slug: str, number: int | None = None) -> Iterator[None]:
    """Turns a fault while reading into an error for whoever must act.

    Raises:
        NoSuchIssue: 404.
        IssueMoved: A redirect, or 410.
        PermissionMissing: 401, 403.
        RateLimited: The limit's end is too far away.
        GitHubUnavailable: Server fault, no answer.
    """
    try:
        yield
    except GitHubError as fault:
        raise _read_error(fault, slug, number) from None


@contextmanager
def translate_write_errors(slug: str) -> Iterator[None]:
    """Turns a fault while writing into an error for whoever must act.

    Raises:
        PermissionMissing: 401, 403.
        NoSuchComment: 404, 410.
        CannotPublish: Everything else, with the reason.
    """
    try:
        yield
    except GitHubError as fault:
        raise _write_error(fault, slug) from None


def _read_error(fault: GitHubError, slug: str, number: int | None) -> TriageError:
    what = f"Issue #{number}" if number is not None else f"The repository {slug}"
    where = f" in {slug}" if number is not None else ""
    match fault.kind:
        case ErrorKind.BAD_TOKEN:
            return _bad_token_error()
        case ErrorKind.FORBIDDEN | ErrorKind.LOCKED | ErrorKind.ARCHIVED:
            return PermissionMissing(
                f"The token may not read issues of {slug}: the job needs `permissions: contents: read, issues: write`."
            )
        case ErrorKind.MOVED:
            return IssueMoved(f"{what} has moved to another place on GitHub, and is not followed there.")
        case ErrorKind.GONE if fault.status == 410 and number is not None:
            return IssueMoved(f"{what} was deleted, or issues are switched off.")
        case ErrorKind.GONE | ErrorKind.INVALID | ErrorKind.TOO_LONG:
            return NoSuchIssue(
                f"{what} does not exist{where}, or the token may not read it: check the number, and that the job has "
                "`permissions: issues: write`."
            )
        case ErrorKind.RATE_LIMITED:
            return RateLimited(f"{what} could not be read: {_describe_rate_limit(fault)}.")
        case ErrorKind.UNKNOWN_OUTCOME:
            return GitHubUnavailable(f"{what} could not be read: GitHub {fault.description}, also when asked again.")


def _write_error(fault: GitHubError, slug: str) -> TriageError:
    if fault.kind is ErrorKind.BAD_TOKEN:
        return _bad_token_error()
    if fault.kind is ErrorKind.FORBIDDEN:
        return PermissionMissing(
            f"The token may not write to issues of {slug}: the job needs `permissions: issues: write`."
        )
    reasons = {
        ErrorKind.LOCKED: "the issue is locked",
        ErrorKind.ARCHIVED: "the repository is archived",
        ErrorKind.GONE: "the issue or the comment was deleted meanwhile, or issues are switched off",
        ErrorKind.MOVED: "the issue was transferred meanwhile",
        ErrorKind.TOO_LONG: "the text is longer than the 65,536 characters that GitHub takes",
        ErrorKind.RATE_LIMITED: _describe_rate_limit(fault),
        ErrorKind.INVALID: f"it {fault.description}",
        ErrorKind.UNKNOWN_OUTCOME: f"it {fault.description}, also when asked again",
    }
    kind = NoSuchComment if fault.kind is ErrorKind.GONE else CannotPublish
    return kind(f"GitHub did not take what was written: {reasons[fault.kind]}.")


def _bad_token_error() -> PermissionMissing:
    return PermissionMissing("GitHub does not accept the token (401): check the input github-token.")


def _describe_rate_limit(fault: GitHubError) -> str:
    until = f", which resets at {fault.resets_at:%H:%M} UTC" if fault.resets_at else ""
    return f"the token's rate limit is used up{until}"
