"""Every request passes here: reserved before it, billed and recorded after it, however it ends."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from triage.adapters.llm.budget import Budget, Reservation
from triage.adapters.llm.model_errors import ModelFailure, classify_error
from triage.adapters.llm.prices import PriceTable
from triage.adapters.llm.token_count import TokenCount
from triage.domain.run import ModelCall, Outcome, Usage


@dataclass
class RequestUsage:
    """What one request took."""

    tokens: TokenCount | None = None
    """None until an answer has come."""
    estimated: bool = False
    """The endpoint did not say: by our own estimate."""


@dataclass(frozen=True)
class UsageMeter:
    """The purse with its prices and clocks."""

    budget: Budget
    prices: PriceTable
    clock: Callable[[], float]
    """Monotonic seconds."""
    now: Callable[[], datetime]

    @contextmanager
    def record_request(self, model: str, mode: str, prompt: int, max_tokens: int) -> Iterator[RequestUsage]:
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
        reservation = self.budget.reserve(
            prompt + max_tokens, self.prices.cost_usd(model, TokenCount(prompt, max_tokens))
        )
        bill, began, at = RequestUsage(), self.clock(), self.now()

        def close(outcome: Outcome, error: str | None = None, withheld: Reservation | None = None) -> None:
            call = ModelCall(
                model=model,
                mode=mode,
                started_at=at,
                ms=round((self.clock() - began) * 1000),
                usage=self.price_usage(model, bill.tokens) if bill.tokens else Usage(),
                outcome=outcome,
                error=error,
                estimated=bill.estimated,
            )
            self.budget.commit(reservation, call, withheld)

        try:
            yield bill
        except BaseException as error:
            fault = classify_error(error)
            withheld = self._reserve_unclear(bill, fault, model, prompt, max_tokens)
            late = isinstance(error, asyncio.CancelledError) or fault.reason == "timed out"
            close(Outcome.TIMED_OUT if late else Outcome.FAILED, fault.reason, withheld)
            raise
        close(Outcome.SUCCESS)

    def _reserve_unclear(
        self, bill: RequestUsage, fault: ModelFailure, model: str, prompt: int, max_tokens: int
    ) -> Reservation | None:
        """Complete the bill of a failed request; what stays set aside, if anything."""
        if bill.tokens is None:
            bill.tokens = fault.billed
        if bill.tokens is not None or not fault.may_be_billed:
            return None
        bill.tokens, bill.estimated = TokenCount(prompt), True
        return Reservation(max_tokens, self.prices.cost_usd(model, TokenCount(0, max_tokens)) or 0.0)

    def record_cached_reply(self, model: str, mode: str, counted: TokenCount, *, estimated: bool) -> None:
        """Count a call that an interrupted run had made: it was paid for the same report."""
        self.budget.add_cached_call(
            ModelCall(
                model=model,
                mode=mode,
                started_at=self.now(),
                ms=0,
                usage=self.price_usage(model, counted),
                outcome=Outcome.SUCCESS,
                estimated=estimated,
                replayed=True,
            )
        )

    def price_usage(self, model: str, counted: TokenCount) -> Usage:
        """With its price."""
        price = self.prices.cost_usd(model, counted)
        return Usage(input_tokens=counted.input, output_tokens=counted.output, calls=1, usd=price)
