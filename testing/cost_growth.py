"""How the cost of a function grows with its input, in processor time: the same on a fast, a slow and a busy machine."""

import time
from collections.abc import Callable
from typing import TypeVar

FACTOR = 4
"""The large input is this much longer than the small one."""
MAX_GROWTH = 12.0
"""Allowed growth of the cost. Linear cost grows 4 times (up to 10 where memory is slow), quadratic cost 16 times."""
NEGLIGIBLE_SECONDS = 0.025
"""Cheaper calls are too short to compare, and harmless."""
CLEARLY_LINEAR = 8.0
"""Of a first measurement: other work would have to double the small cost to hide quadratic growth."""
TRIES = 5
T = TypeVar("T")


def measure_growth(function: Callable[[T], object], build: Callable[[int], T], size: int) -> float:
    """Cost for an input of `size`, divided by the cost for a quarter of it; 0.0 when both are negligible."""
    large = build(size)
    first = _measure_seconds(function, large)
    if first <= NEGLIGIBLE_SECONDS:
        return 0.0
    small = build(size // FACTOR)
    growth = first / _measure_seconds(function, small)
    if growth <= CLEARLY_LINEAR:
        return growth
    # The minimum counts: other work on the machine adds time and never takes any away.
    small_cost = min(_measure_seconds(function, small) for _ in range(TRIES))
    growth = first / small_cost
    if growth > MAX_GROWTH:
        growth = min(first, *(_measure_seconds(function, large) for _ in range(TRIES - 1))) / small_cost
    return growth


def assert_grows_linearly(build: Callable[[int], T], function: Callable[[T], object], size: int = 32_768) -> None:
    """Fails when the cost of the function grows clearly faster than its input.

    Half of the longest issue body: `make trust` measures the cost of whole ones.
    """
    growth = measure_growth(function, build, size)
    assert growth <= MAX_GROWTH, f"{FACTOR} times the input takes {growth:.1f} times the time"


def measure_cost_ratio(function: Callable[[int], object], size: int) -> float:
    """Cost of `function(4 * size)`, divided by the cost of `function(size)`, also for cheap calls."""
    large = min(_measure_seconds(function, FACTOR * size) for _ in range(TRIES))
    return large / min(_measure_seconds(function, size) for _ in range(TRIES))


def repeat_to(piece: str) -> Callable[[int], str]:
    """Returns a function from a size to a text of that size, which repeats the piece."""
    return lambda size: (piece * (size // len(piece) + 1))[:size]


def _measure_seconds(function: Callable[[T], object], value: T) -> float:
    started = time.process_time()
    function(value)
    return time.process_time() - started
