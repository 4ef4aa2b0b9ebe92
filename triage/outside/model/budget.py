"""The budget of a run: reserves, prices and records every model request, however it ends."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock

from triage.base.errors import BudgetExceeded
from triage.base.progress import current_step
from triage.domain.project_config import Price
from triage.domain.run import Limits, ModelCall, Outcome, Usage
from triage.outside.model.model_errors import classify_error
from triage.outside.model.token_count import TokenCount, cost_usd


@dataclass
class RequestUsage:
    tokens: TokenCount | None = None
    """None until a response has come."""
    estimated: bool = False
    """Whether `tokens` is our own estimate, because the endpoint does not say."""
    outcome: Outcome = Outcome.SUCCESS
    error: str | None = None
    pending: TokenCount | None = None
    """What may still be billed. It stays reserved until the end of the run."""


@dataclass
class Budget:
    """Counts what a run spends. Parallel calls reserve before they start, so they cannot spend the same rest."""

    limits: Limits
    prices: Mapping[str, Price]
    """The project's own, by model."""
    clock: Callable[[], float]
    """Monotonic seconds."""
    now: Callable[[], datetime]
    usage: Usage = field(default_factory=Usage, init=False)
    _reserved: list[Usage] = field(default_factory=list, init=False)
    _lock: Lock = field(default_factory=Lock, init=False)
    """Embeddings are made in a thread."""

    @contextmanager
    def record_request(
        self, model: str, mode: str, prompt_tokens: int, max_output_tokens: int
    ) -> Iterator[RequestUsage]:
        """Record the request that the block sends. The block sets the yielded usage when a response has come.

        A request that was cut off, or whose response was lost, may have been billed. Its prompt counts as spent, by
        estimate, and its longest possible answer stays reserved.

        Raises BudgetExceeded if a limit would be exceeded. Nothing was sent then.
        """
        reservation = self._reserve(self.price_usage(model, TokenCount(prompt_tokens, max_output_tokens)))
        request, began, started_at = RequestUsage(), self.clock(), self.now()
        try:
            yield request
        except BaseException as error:  # however it ends, what it may have cost counts
            _record_failure(request, error, prompt_tokens, max_output_tokens)
            raise
        finally:
            usage = self.price_usage(model, request.tokens) if request.tokens else Usage()
            with self._lock:
                self._reserved.remove(reservation)
                if request.pending:
                    self._reserved.append(self.price_usage(model, request.pending))
                self.usage += usage
            call = ModelCall(
                model=model,
                mode=mode,
                started_at=started_at,
                ms=round((self.clock() - began) * 1000),
                usage=usage,
                outcome=request.outcome,
                error=request.error,
                estimated=request.estimated,
            )
            if step := current_step.get():
                step.calls.append(call)

    def fit_output(self, model: str, prompt_tokens: int, least: int, most: int) -> int:
        """Return how many tokens an answer may have; never fewer than `least`.

        So many that no limit is exceeded, and half of the rest stays for another request: the room of an answer that
        gets lost stays reserved.
        """
        prompt = self.price_usage(model, TokenCount(prompt_tokens))
        whole = self.price_usage(model, TokenCount(prompt_tokens, most))
        with self._lock:
            total = sum([self.usage, *self._reserved], prompt)
        left = float(self.limits.tokens - total.tokens)
        if price := whole.priced_usd - prompt.priced_usd:
            left = min(left, (self.limits.usd - total.priced_usd) / price * most)
        return max(least, min(most, int(left / 2)))

    def price_usage(self, model: str, tokens: TokenCount) -> Usage:
        """Return the usage of one call, without dollars for a model whose price is unknown."""
        price = cost_usd(self.prices, model, tokens)
        return Usage(input_tokens=tokens.input, output_tokens=tokens.output, calls=1, usd=price)

    def _reserve(self, usage: Usage) -> Usage:
        """Count what a request may use, until its end, against the limits. Raises BudgetExceeded."""
        with self._lock:
            total = sum([self.usage, *self._reserved], usage)
            if total.tokens > self.limits.tokens:
                raise BudgetExceeded(f"max-tokens ({self.limits.tokens:,}) would be exceeded")
            if total.priced_usd > self.limits.usd:
                raise BudgetExceeded(f"max-cost-usd ({self.limits.usd:.2f}) would be exceeded")
            self._reserved.append(usage)
        return usage


def _record_failure(request: RequestUsage, error: BaseException, prompt_tokens: int, max_output_tokens: int) -> None:
    """Note how a request failed, and what it may have cost all the same."""
    failure = classify_error(error)
    timed_out = isinstance(error, asyncio.CancelledError) or failure.reason == "timed out"
    request.outcome = Outcome.TIMED_OUT if timed_out else Outcome.FAILED
    request.error = failure.reason
    if request.tokens is None and failure.may_be_billed:
        request.tokens, request.estimated = TokenCount(prompt_tokens), True
        request.pending = TokenCount(0, max_output_tokens)
