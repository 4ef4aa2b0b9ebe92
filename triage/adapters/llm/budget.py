"""The budget of a run: what was spent, and what running calls have reserved."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Lock

from triage.domain.run import Limits, ModelCall, Usage
from triage.errors import BudgetExceeded, CostLimitExceeded


@dataclass
class MeterReading:
    """The model calls that were made inside one block."""

    deadline: float
    """When the block must end, in seconds of the run's monotonic clock."""
    calls: list[ModelCall] = field(default_factory=list)

    @property
    def usage(self) -> Usage:
        return sum((call.usage for call in self.calls if not call.replayed), Usage())

    @property
    def models(self) -> list[str]:
        return list(dict.fromkeys(call.model for call in self.calls if call.usage.output_tokens))


_meter: ContextVar[MeterReading | None] = ContextVar("meter", default=None)


@dataclass(frozen=True)
class Reservation:
    """Tokens and dollars that a running call may use."""

    tokens: int
    usd: float


class Budget:
    """Counts what a run spends. Parallel calls reserve before they start, so they cannot spend the same rest.

    Numbers that are negative, infinite or NaN raise ValueError. An endpoint, a cache or a price list may contain
    them, and they would lift the limits.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._reserved: list[Reservation] = []
        self._priced_usd = 0.0  # of calls with a known price; `usage.usd` is None after the first unknown one
        self._lock = Lock()  # embeddings are made in a thread
        self.usage = Usage()
        """Paid for in this run."""
        self.reused = Usage()
        """Of replies found in the cache: they count against the caps, and cost nothing now."""

    def reserve(self, tokens: int, usd: float | None) -> Reservation:
        """Reserves what a call may cost at most; only tokens for a call without a known price.

        Raises:
            BudgetExceeded: A limit would be exceeded.
            ValueError: A number is negative, infinite or NaN.
        """
        wanted = Reservation(tokens, usd or 0.0)
        _check_numbers(wanted.tokens, wanted.usd)
        if self._limits.usd <= 0:
            raise BudgetExceeded("max-cost-usd is 0")
        with self._lock:
            tokens = self.usage.tokens + self.reused.tokens + sum(r.tokens for r in self._reserved)
            if tokens + wanted.tokens > self._limits.tokens:
                raise BudgetExceeded(f"max-tokens ({self._limits.tokens:,}) would be exceeded")
            if self._priced_usd + sum(r.usd for r in self._reserved) + wanted.usd > self._limits.usd:
                raise CostLimitExceeded(f"max-cost-usd ({self._limits.usd:.2f}) would be exceeded")
            self._reserved.append(wanted)
        return wanted

    def commit(self, reservation: Reservation, call: ModelCall, pending: Reservation | None = None) -> None:
        """Replaces a reservation by what the call used.

        Args:
            reservation: Made before the call.
            call: With its outcome.
            pending: What may still be billed. It stays reserved until the end of the run.

        Raises:
            ValueError: A number is negative, infinite or NaN. The reservation stays.
        """
        _check_usage(call.usage)
        with self._lock:
            self._reserved.remove(reservation)
            if pending is not None:
                self._reserved.append(pending)
            self._priced_usd += call.usage.priced_usd
            self.usage += call.usage
        _record(call)

    def add_cached_call(self, call: ModelCall) -> None:
        """Counts a call whose reply was found in the cache.

        Raises:
            ValueError: A number is negative, infinite or NaN.
        """
        _check_usage(call.usage)
        with self._lock:
            self._priced_usd += call.usage.priced_usd
            self.reused += call.usage
        _record(call)

    @contextmanager
    def measure_usage(self, deadline: float) -> Iterator[MeterReading]:
        meter = MeterReading(deadline)
        token = _meter.set(meter)
        try:
            yield meter
        finally:
            _meter.reset(token)


def current_deadline() -> float | None:
    """Returns when the current block must end, in seconds of the run's monotonic clock; None outside a block."""
    meter = _meter.get()
    return meter.deadline if meter else None


def _record(call: ModelCall) -> None:
    meter = _meter.get()
    if meter is not None:
        meter.calls.append(call)


def _check_usage(usage: Usage) -> None:
    _check_numbers(usage.input_tokens, usage.output_tokens, usage.calls, usage.usd or 0.0, usage.known_usd or 0.0)


def _check_numbers(*numbers: float) -> None:
    if not all(math.isfinite(number) and number >= 0 for number in numbers):
        raise ValueError("a count or a price is negative, infinite or NaN")
