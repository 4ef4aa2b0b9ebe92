"""A share of many cases."""

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def sample_evenly(cases: Sequence[T], share: float) -> list[T]:
    """So many of the cases, spread evenly over all of them, at least one; the same ones every time."""
    count = max(1, round(len(cases) * min(share, 1.0)))
    return [cases[index * len(cases) // count] for index in range(min(count, len(cases)))]
