"""Every request passes here: reserved before it, billed and recorded after it, however it ends."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from triage.adapters.llm.budget import Ledger, Reservation
from triage.adapters.llm.model_errors import Fault, fault_of
from triage.adapters.llm.prices import PriceTable
from triage.adapters.llm.token_count import Counted
from triage.domain.run import ModelCall, Outcome, Usage


@dataclass
class Bill:
    """What one request took."""

    counted: Counted | None = None
    """None until an answer has come."""
    estimated: bool = False
    """The endpoint did not say: by our own estimate."""


@dataclass(frozen=True)
class Accounts:
    """The purse with its prices and clocks."""

    ledger: Ledger
    prices: PriceTable
    clock: Callable[[], float]
    """Monotonic seconds."""
    now: Callable[[], datetime]

    @contextmanager
    def request(self, model: str, mode: str, prompt: int, max_tokens: int) -> Iterator[Bill]:
        """One request. The block fills in the bill when an answer has come, and reads the answer.

        A request that was cut off, or whose answer was lost, may have been billed: its prompt counts as spent, by
        estimate, and what it might have answered stays set aside.

        Args:
            model: Which is asked.
            mode: How.
            prompt: Its estimated tokens.
            max_tokens: Of the answer.

        Raises:
            BudgetSpent: A cap would be exceeded; nothing was asked.
        """
        reservation = self.ledger.reserve(prompt + max_tokens, self.prices.usd(model, Counted(prompt, max_tokens)))
        bill, began, at = Bill(), self.clock(), self.now()

        def close(outcome: Outcome, error: str | None = None, withheld: Reservation | None = None) -> None:
            call = ModelCall(
                model=model,
                mode=mode,
                started_at=at,
                ms=round((self.clock() - began) * 1000),
                usage=self.usage(model, bill.counted) if bill.counted else Usage(),
                outcome=outcome,
                error=error,
                estimated=bill.estimated,
            )
            self.ledger.settle(reservation, call, withheld)

        try:
            yield bill
        except BaseException as error:
            fault = fault_of(error)
            withheld = self._withheld(bill, fault, model, prompt, max_tokens)
            late = isinstance(error, asyncio.CancelledError) or fault.reason == "timed out"
            close(Outcome.TIMED_OUT if late else Outcome.FAILED, fault.reason, withheld)
            raise
        close(Outcome.SUCCESS)

    def _withheld(self, bill: Bill, fault: Fault, model: str, prompt: int, max_tokens: int) -> Reservation | None:
        """Complete the bill of a failed request; what stays set aside, if anything."""
        if bill.counted is None:
            bill.counted = fault.billed
        if bill.counted is not None or not fault.unclear_bill:
            return None
        bill.counted, bill.estimated = Counted(prompt), True
        return Reservation(max_tokens, self.prices.usd(model, Counted(0, max_tokens)) or 0.0)

    def replay(self, model: str, mode: str, counted: Counted, *, estimated: bool) -> None:
        """Count a call that an interrupted run had made: it was paid for the same report."""
        self.ledger.replay(
            ModelCall(
                model=model,
                mode=mode,
                started_at=self.now(),
                ms=0,
                usage=self.usage(model, counted),
                outcome=Outcome.SUCCESS,
                estimated=estimated,
                replayed=True,
            )
        )

    def usage(self, model: str, counted: Counted) -> Usage:
        """With its price."""
        price = self.prices.usd(model, counted)
        return Usage(input_tokens=counted.input, output_tokens=counted.output, calls=1, usd=price)
