"""Writes that end known: taken once, or not at all."""

from collections.abc import Callable
from typing import TypeVar

from triage.adapters.github.github_errors import ErrorKind, GitHubError

T = TypeVar("T")
MAX_WRITES = 2


def write_once(write: Callable[[], T], look: Callable[[], T | None]) -> T:
    """Write, and when the outcome is unclear look whether it was taken before writing once more.

    Args:
        write: Sends the write once.
        look: Reads back: what `write` would have returned when it was taken, else none.

    Raises:
        Fault: GitHub refused, or the outcome stayed unclear.
    """
    unclear: GitHubError | None = None
    for _ in range(MAX_WRITES):
        try:
            return write()
        except GitHubError as fault:
            if fault.kind is not ErrorKind.UNKNOWN_OUTCOME:
                raise
            unclear = fault
        taken = look()
        if taken is not None:
            return taken
    raise unclear or GitHubError(ErrorKind.UNKNOWN_OUTCOME)
