"""What a measure is: cases that were tried, what failed, and a proof that the judge is not blind."""

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class MeasureResult:
    """One row of the table."""

    cases: int
    """Tried."""
    failures: list[str] = field(default_factory=list)
    """Each in a few words: which case, and what was seen."""
    measured: str = ""
    """A figure beside the count, such as `0.8 s at most`."""


@dataclass(frozen=True)
class Measure:
    """One line of what we promise, and how it is tried."""

    name: str
    """As the table says it: `Unauthorised effects`."""
    goal: str
    """Such as `0`, `exactly 1`, `at most 5 s`."""
    description: str
    """One sentence: what a case is, and what counts as a failure."""
    run: Callable[[float], MeasureResult]
    """Takes the share of the cases to try, 0 to 1, chosen evenly and always the same: 1.0 tries all of them."""
    run_without_defence: Callable[[], MeasureResult]
    """A few cases with the defence taken away. Must have failures: else the judge sees nothing."""
