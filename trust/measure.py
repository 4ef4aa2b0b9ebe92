"""The types of a measure: cases that are tried, what fails, and a proof that failures are detected."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class MeasureResult:
    cases: int
    failures: list[str] = field(default_factory=list)
    """One entry per failure: the case, and what went wrong."""
    measured: str = ""
    """A figure beside the count, such as `0.8 s at most`."""


@dataclass(frozen=True)
class Measure:
    """One promise of the project, and how it is tried."""

    name: str
    """Name in the table, such as `Unauthorised effects`."""
    goal: str
    """Such as `0`, `exactly 1` or `at most 5 s`."""
    description: str
    """What a case is, and what counts as a failure."""
    run: Callable[[float], MeasureResult]
    """Takes the share of the cases to try, 0 to 1. The same share always tries the same cases; 1.0 tries all."""
    run_without_defence: Callable[[], MeasureResult]
    """Tries a few cases without the defence. There must be failures, or the measure detects nothing."""


def sample_evenly(cases: Sequence[T], share: float) -> list[T]:
    """Returns this share of the cases, at least one, spread evenly; always the same ones."""
    count = max(1, round(len(cases) * min(share, 1.0)))
    return [cases[index * len(cases) // count] for index in range(min(count, len(cases)))]
