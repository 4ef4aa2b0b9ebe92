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


class Refusal(StrEnum):
    """Kinds of answers that are no success."""

    TOKEN = "token"  # noqa: S105 - a kind of refusal
    FORBIDDEN = "forbidden"
    LOCKED = "locked"
    ARCHIVED = "archived"
    GONE = "gone"
    MOVED = "moved"
    TOO_LONG = "too long"
    INVALID = "invalid"
    LIMITED = "limited"
    UNCLEAR = "unclear"
    """Server fault, lost connection, timeout, unreadable answer: a write may or may not have been taken."""


class Fault(Exception):
    """A request that did not succeed. Stays inside this package."""

    def __init__(self, refusal: Refusal, status: int | None = None, resets_at: datetime | None = None) -> None:
        super().__init__(refusal)
        self.refusal = refusal
        self.status = status
        self.resets_at = resets_at

    @property
    def answered(self) -> str:
        """The answer in our words."""
        return f"answered {self.status}" if self.status else "did not answer"


def fault_of(status: int, message: str, headers: Mapping[str, str]) -> Fault:
    """The kind of an error answer. Its message is read, never shown."""
    said = message.lower()
    if is_rate_limit(status, headers) or (status in (403, 429) and "rate limit" in said):
        return Fault(Refusal.LIMITED, status, _reset_time(headers))
    if status == 401:
        return Fault(Refusal.TOKEN, status)
    if status == 403:
        # As words: an account that is "blocked" is no issue that is locked.
        words = {r"\blocked\b": Refusal.LOCKED, r"\barchived\b": Refusal.ARCHIVED}
        return Fault(next((kind for word, kind in words.items() if re.search(word, said)), Refusal.FORBIDDEN), status)
    if status in (404, 410):
        return Fault(Refusal.GONE, status)
    if status == 422 and "too long" in said:
        return Fault(Refusal.TOO_LONG, status)
    return Fault(Refusal.UNCLEAR if status >= 500 else Refusal.INVALID, status)


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
def reading(slug: str, number: int | None = None) -> Iterator[None]:
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
    except Fault as fault:
        raise _read_error(fault, slug, number) from None


@contextmanager
def writing(slug: str) -> Iterator[None]:
    """Turns a fault while writing into an error for whoever must act.

    Raises:
        PermissionMissing: 401, 403.
        NoSuchComment: 404, 410.
        CannotPublish: Everything else, with the reason.
    """
    try:
        yield
    except Fault as fault:
        raise _write_error(fault, slug) from None


def _read_error(fault: Fault, slug: str, number: int | None) -> TriageError:
    what = f"Issue #{number}" if number is not None else f"The repository {slug}"
    where = f" in {slug}" if number is not None else ""
    match fault.refusal:
        case Refusal.TOKEN:
            return _bad_token()
        case Refusal.FORBIDDEN | Refusal.LOCKED | Refusal.ARCHIVED:
            return PermissionMissing(
                f"The token may not read issues of {slug}: the job needs `permissions: contents: read, issues: write`."
            )
        case Refusal.MOVED:
            return IssueMoved(f"{what} has moved to another place on GitHub, and is not followed there.")
        case Refusal.GONE if fault.status == 410 and number is not None:
            return IssueMoved(f"{what} was deleted, or issues are switched off.")
        case Refusal.GONE | Refusal.INVALID | Refusal.TOO_LONG:
            return NoSuchIssue(
                f"{what} does not exist{where}, or the token may not read it: check the number, and that the job has "
                "`permissions: issues: write`."
            )
        case Refusal.LIMITED:
            return RateLimited(f"{what} could not be read: {_limit_words(fault)}.")
        case Refusal.UNCLEAR:
            return GitHubUnavailable(f"{what} could not be read: GitHub {fault.answered}, also when asked again.")


def _write_error(fault: Fault, slug: str) -> TriageError:
    if fault.refusal is Refusal.TOKEN:
        return _bad_token()
    if fault.refusal is Refusal.FORBIDDEN:
        return PermissionMissing(
            f"The token may not write to issues of {slug}: the job needs `permissions: issues: write`."
        )
    reasons = {
        Refusal.LOCKED: "the issue is locked",
        Refusal.ARCHIVED: "the repository is archived",
        Refusal.GONE: "the issue or the comment was deleted meanwhile, or issues are switched off",
        Refusal.MOVED: "the issue was transferred meanwhile",
        Refusal.TOO_LONG: "the text is longer than the 65,536 characters that GitHub takes",
        Refusal.LIMITED: _limit_words(fault),
        Refusal.INVALID: f"it {fault.answered}",
        Refusal.UNCLEAR: f"it {fault.answered}, also when asked again",
    }
    kind = NoSuchComment if fault.refusal is Refusal.GONE else CannotPublish
    return kind(f"GitHub did not take what was written: {reasons[fault.refusal]}.")


def _bad_token() -> PermissionMissing:
    return PermissionMissing("GitHub does not accept the token (401): check the input github-token.")


def _limit_words(fault: Fault) -> str:
    until = f", which resets at {fault.resets_at:%H:%M} UTC" if fault.resets_at else ""
    return f"the token's rate limit is used up{until}"
