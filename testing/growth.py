"""How the cost of a function grows with its input. A ratio holds on any machine; a number of seconds does not."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

SMALL_CHARS, LARGE_CHARS = 16_384, 65_536
MAX_GROWTH = 10.0
"""From the small to the large size, linear cost grows 4 times, n log n 4.6 times and quadratic cost 16 times."""
_TRIES = 5
_MIN_SECONDS = 0.002
"""A shorter time counts as this much: too short to measure well, and too short to matter."""


def measure_growth(work: Callable[[int], object], size: int, factor: int = 4) -> float:
    """Return how many times the CPU time of `work(size)` the call `work(size * factor)` takes.

    About `factor` for linear work, its square for quadratic work. Each call is measured five times, the fastest counts.
    """
    return _measure(work, size * factor) / _measure(work, size)


def assert_grows_linearly(build: Callable[[int], T], work: Callable[[T], object]) -> None:
    """Fail when the CPU time of `work` grows clearly faster than its input, from 16 to 64 KiB.

    Args:
        build: Makes the input from a size in characters; its own time does not count.
        work: Is measured until its growth is small enough, five times at most.
    """
    small_input, large_input = build(SMALL_CHARS), build(LARGE_CHARS)
    small = large = growth = float("inf")
    for _ in range(_TRIES):
        small = min(small, _process_seconds(work, small_input))
        large = min(large, _process_seconds(work, large_input))
        growth = large / max(small, _MIN_SECONDS)
        if growth <= MAX_GROWTH:
            return
    raise AssertionError(f"four times the input takes {growth:.1f} times the time")


def _measure(work: Callable[[int], object], size: int) -> float:
    return min(_process_seconds(work, size) for _ in range(_TRIES))


def _process_seconds(work: Callable[[T], object], value: T) -> float:
    started = time.process_time()
    work(value)
    return time.process_time() - started
