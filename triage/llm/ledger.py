"""The run's purse: what was spent, what is reserved by calls under way, what is left."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from triage.domain.run import Limits, Usage
from triage.errors import BudgetSpent

CHARS_PER_TOKEN = 3.0
"""Low on purpose: English prose has about 4, code about 3; too high an estimate only reserves more."""


@dataclass
class MeterReading:
    """What was spent inside one block, and how long the block may take."""

    deadline: float
    """On the ledger's clock, in seconds."""
    usage: Usage = field(default_factory=Usage)
    models: list[str] = field(default_factory=list)

    def add(self, model: str, usage: Usage) -> None:
        """Count one answered call."""
        self.usage += usage
        if model not in self.models:
            self.models.append(model)


_meter: ContextVar[MeterReading | None] = ContextVar("meter", default=None)


@dataclass(frozen=True)
class Reservation:
    """Tokens and dollars set aside for a call under way."""

    tokens: int
    usd: float


class Ledger:
    """Counts what a run spends. Calls reserve before they start, so that parallel ones cannot spend the same rest."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._reserved: list[Reservation] = []
        self._known_usd = 0.0  # what calls with a known price cost; `usage.usd` turns none with the first unknown one
        self.usage = Usage()

    def reserve(self, tokens: int, usd: float | None) -> Reservation:
        """Set aside what a call may cost at most; a call without a known price is capped by tokens alone.

        Raises:
            BudgetSpent: When a cap would be exceeded.
        """
        asked = Reservation(tokens, usd or 0.0)
        if self._limits.usd <= 0:
            raise BudgetSpent("max-cost-usd is 0")
        if self.usage.tokens + sum(r.tokens for r in self._reserved) + asked.tokens > self._limits.tokens:
            raise BudgetSpent(f"max-tokens ({self._limits.tokens:,}) would be exceeded")
        if self._known_usd + sum(r.usd for r in self._reserved) + asked.usd > self._limits.usd:
            raise BudgetSpent(f"max-cost-usd ({self._limits.usd:.2f}) would be exceeded")
        self._reserved.append(asked)
        return asked

    def settle(self, reservation: Reservation, model: str, usage: Usage) -> None:
        """Replace what was set aside by what was spent."""
        self._reserved.remove(reservation)
        self._known_usd += usage.usd or 0.0
        self.usage += usage
        meter = _meter.get()
        if meter is not None and usage.calls:
            meter.add(model, usage)

    @contextmanager
    def metered(self, deadline: float) -> Iterator[MeterReading]:
        """Count the calls made inside the block, also by tasks that it starts."""
        meter = MeterReading(deadline)
        token = _meter.set(meter)
        try:
            yield meter
        finally:
            _meter.reset(token)


def deadline() -> float | None:
    """When the current block must have ended, on the ledger's clock; none outside of a block."""
    meter = _meter.get()
    return meter.deadline if meter else None
