"""Reserves, prices and records every model request, however it ends."""

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
    """What one request used."""

    tokens: TokenCount | None = None
    """None until a response has come."""
    estimated: bool = False
    """Whether `tokens` is our own estimate, because the endpoint does not say."""


@dataclass(frozen=True)
class UsageMeter:
    """Records requests in the budget of a run."""

    budget: Budget
    prices: PriceTable
    clock: Callable[[], float]
    """Monotonic seconds."""
    now: Callable[[], datetime]

    @contextmanager
    def record_request(
        self, model: str, mode: str, prompt_tokens: int, max_output_tokens: int
    ) -> Iterator[RequestUsage]:
        """Records the request that the block sends. The block sets the yielded usage when a response has come.

        A request that was cut off, or whose response was lost, may have been billed. Its prompt counts as spent, by
        estimate, and its longest possible answer stays reserved.

        Raises:
            BudgetExceeded: A limit would be exceeded. Nothing was sent.
        """
        price = self.prices.cost_usd(model, TokenCount(prompt_tokens, max_output_tokens))
        reservation = self.budget.reserve(prompt_tokens + max_output_tokens, price)
        usage, began, started_at = RequestUsage(), self.clock(), self.now()

        def commit(outcome: Outcome, error: str | None = None, pending: Reservation | None = None) -> None:
            call = ModelCall(
                model=model,
                mode=mode,
                started_at=started_at,
                ms=round((self.clock() - began) * 1000),
                usage=self.price_usage(model, usage.tokens) if usage.tokens else Usage(),
                outcome=outcome,
                error=error,
                estimated=usage.estimated,
            )
            self.budget.commit(reservation, call, pending)

        try:
            yield usage
        except BaseException as error:
            failure = classify_error(error)
            pending = self._complete_failed(usage, failure, model, prompt_tokens, max_output_tokens)
            timed_out = isinstance(error, asyncio.CancelledError) or failure.reason == "timed out"
            commit(Outcome.TIMED_OUT if timed_out else Outcome.FAILED, failure.reason, pending)
            raise
        commit(Outcome.SUCCESS)

    def _complete_failed(
        self, usage: RequestUsage, failure: ModelFailure, model: str, prompt_tokens: int, max_output_tokens: int
    ) -> Reservation | None:
        """Sets the usage of a failed request. Returns what may still be billed."""
        if usage.tokens is None:
            usage.tokens = failure.billed
        if usage.tokens is not None or not failure.may_be_billed:
            return None
        usage.tokens, usage.estimated = TokenCount(prompt_tokens), True
        return Reservation(max_output_tokens, self.prices.cost_usd(model, TokenCount(0, max_output_tokens)) or 0.0)

    def record_cached_reply(self, model: str, mode: str, tokens: TokenCount, *, estimated: bool) -> None:
        """Counts a call whose reply was found in the cache.

        Raises:
            ValueError: The cached reply has negative counts.
        """
        self.budget.add_cached_call(
            ModelCall(
                model=model,
                mode=mode,
                started_at=self.now(),
                ms=0,
                usage=self.price_usage(model, tokens),
                outcome=Outcome.SUCCESS,
                estimated=estimated,
                replayed=True,
            )
        )

    def price_usage(self, model: str, tokens: TokenCount) -> Usage:
        price = self.prices.cost_usd(model, tokens)
        return Usage(input_tokens=tokens.input, output_tokens=tokens.output, calls=1, usd=price)
