"""Writes exactly once, or not at all."""

from collections.abc import Callable
from typing import TypeVar

from triage.adapters.github.github_errors import ErrorKind, GitHubError

T = TypeVar("T")
MAX_WRITES = 2


def write_once(write: Callable[[], T], find_written: Callable[[], T | None]) -> T:
    """Writes; when the outcome is unknown, looks for the result before it writes once more.

    Args:
        write: Sends the write and returns its result.
        find_written: Reads back. Returns what `write` would have returned if GitHub has taken it, else None.

    Raises:
        GitHubError: GitHub refused, or the outcome stayed unknown.
    """
    for attempt in range(MAX_WRITES):
        try:
            return write()
        except GitHubError as error:
            if error.kind is not ErrorKind.UNKNOWN_OUTCOME:
                raise
            found = find_written()
            if found is not None:
                return found
            if attempt == MAX_WRITES - 1:
                raise
    raise AssertionError("the last attempt returns or raises")
