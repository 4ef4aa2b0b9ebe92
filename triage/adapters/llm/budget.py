"""The run's purse: what was spent, what is reserved by calls under way, what is left."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Lock

from triage.domain.run import Limits, ModelCall, Usage
from triage.errors import BudgetExceeded, CostLimitExceeded


@dataclass
class MeterReading:
    """What was asked inside one block, and how long the block may take."""

    deadline: float
    """On the ledger's clock, in seconds."""
    calls: list[ModelCall] = field(default_factory=list)

    @property
    def usage(self) -> Usage:
        """Tokens and dollars of the calls that ended."""
        return sum((call.usage for call in self.calls), Usage())

    @property
    def models(self) -> list[str]:
        """Names of the models that answered, in order, without repeats."""
        return list(dict.fromkeys(call.model for call in self.calls if call.usage.output_tokens))


_meter: ContextVar[MeterReading | None] = ContextVar("meter", default=None)


@dataclass(frozen=True)
class Reservation:
    """Tokens and dollars set aside for a call under way."""

    tokens: int
    usd: float


class Budget:
    """Counts what a run spends. Calls reserve before they start, so that parallel ones cannot spend the same rest.

    Vectors are asked for in a thread, hence the lock.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._reserved: list[Reservation] = []
        self._priced_usd = 0.0  # what calls with a known price cost; `usage.usd` turns none with the first unknown one
        self._lock = Lock()
        self.usage = Usage()

    def reserve(self, tokens: int, usd: float | None) -> Reservation:
        """Set aside what a call may cost at most; a call without a known price is capped by tokens alone.

        Raises:
            BudgetSpent: When a cap would be exceeded.
        """
        asked = Reservation(tokens, usd or 0.0)
        if self._limits.usd <= 0:
            raise BudgetExceeded("max-cost-usd is 0")
        with self._lock:
            if self.usage.tokens + sum(r.tokens for r in self._reserved) + asked.tokens > self._limits.tokens:
                raise BudgetExceeded(f"max-tokens ({self._limits.tokens:,}) would be exceeded")
            if self._priced_usd + sum(r.usd for r in self._reserved) + asked.usd > self._limits.usd:
                raise CostLimitExceeded(f"max-cost-usd ({self._limits.usd:.2f}) would be exceeded")
            self._reserved.append(asked)
        return asked

    def commit(self, reservation: Reservation, call: ModelCall, withheld: Reservation | None = None) -> None:
        """Replace what was set aside by what was spent.

        Args:
            reservation: Made before the call.
            call: How it ended.
            withheld: What may yet be billed, and stays set aside to the end of the run.
        """
        with self._lock:
            self._reserved.remove(reservation)
            if withheld is not None:
                self._reserved.append(withheld)
            self._add(call.usage)
        _record_call(call)

    def add_cached_call(self, call: ModelCall) -> None:
        """Count a call that was made and paid before."""
        self.resume(call.usage)
        _record_call(call)

    def resume(self, spent: Usage) -> None:
        """Count what an interrupted run had spent."""
        with self._lock:
            self._add(spent)

    def _add(self, spent: Usage) -> None:
        self._priced_usd += spent.priced_usd
        self.usage += spent

    @contextmanager
    def meter_usage(self, deadline: float) -> Iterator[MeterReading]:
        """Record the calls made inside the block, also by tasks that it starts."""
        meter = MeterReading(deadline)
        token = _meter.set(meter)
        try:
            yield meter
        finally:
            _meter.reset(token)


def current_deadline() -> float | None:
    """When the current block must have ended, on the ledger's clock; none outside of a block."""
    meter = _meter.get()
    return meter.deadline if meter else None


def _record_call(call: ModelCall) -> None:
    meter = _meter.get()
    if meter is not None:
        meter.calls.append(call)
