"""Writes that end known: taken once, or not at all."""

from collections.abc import Callable
from typing import TypeVar

from triage.adapters.github.github_errors import Fault, Refusal

T = TypeVar("T")
ATTEMPTS = 2


def settle(write: Callable[[], T], look: Callable[[], T | None]) -> T:
    """Write, and when the outcome is unclear look whether it was taken before writing once more.

    Args:
        write: Sends the write once.
        look: Reads back: what `write` would have returned when it was taken, else none.

    Raises:
        Fault: GitHub refused, or the outcome stayed unclear.
    """
    unclear: Fault | None = None
    for _ in range(ATTEMPTS):
        try:
            return write()
        except Fault as fault:
            if fault.refusal is not Refusal.UNCLEAR:
                raise
            unclear = fault
        taken = look()
        if taken is not None:
            return taken
    raise unclear or Fault(Refusal.UNCLEAR)
