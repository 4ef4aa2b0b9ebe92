"""Samples cases."""

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def sample_evenly(cases: Sequence[T], share: float) -> list[T]:
    """Returns this share of the cases, at least one, spread evenly; always the same ones."""
    count = max(1, round(len(cases) * min(share, 1.0)))
    return [cases[index * len(cases) // count] for index in range(min(count, len(cases)))]
