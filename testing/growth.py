"""How the cost of a function grows with its input. A ratio holds on any machine; a number of seconds does not."""

import time
from collections.abc import Callable


def measure_growth(work: Callable[[int], object], size: int, factor: int = 4) -> float:
    """Return how many times the CPU time of `work(size)` the call `work(size * factor)` takes.

    About `factor` for linear work, its square for quadratic work. Each call is measured five times, the fastest counts.
    """
    return _measure(work, size * factor) / _measure(work, size)


def _measure(work: Callable[[int], object], size: int) -> float:
    seconds = []
    for _ in range(5):
        started = time.process_time()
        work(size)
        seconds.append(time.process_time() - started)
    return min(seconds)
