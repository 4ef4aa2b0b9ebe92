"""Embeddings under the run's purse."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from langchain_core.embeddings import Embeddings

from triage.adapters.llm import token_count
from triage.adapters.llm.endpoint import Endpoint
from triage.adapters.llm.model_errors import REQUEST_ERRORS, EndpointBusy, Remedy, classify_error
from triage.adapters.llm.model_retry import RetryPolicy
from triage.adapters.llm.token_count import TokenCount
from triage.adapters.llm.usage_meter import RequestUsage, UsageMeter
from triage.domain.run import Limits, Usage
from triage.errors import BudgetExceeded, ModelUnavailable
from triage.secrets.redactor import Redact

BUDGET_SHARE = 0.5
"""Of the run's tokens and dollars: what vectors may take; the agents need the rest."""
MODE = "embeddings"
MAX_REQUEST_SECONDS = 20.0
"""For one request: local vectors stand in at once, so a slow endpoint is not waited for as a model is."""


@dataclass
class MeteredEmbeddings(Embeddings):
    """An embedding model whose calls are reserved, retried, counted and recorded. They block: call them in a thread.

    Both methods raise BudgetSpent before the call that would exceed the share, and ModelUnavailable.
    """

    endpoint: Endpoint
    model: str
    usage_meter: UsageMeter
    limits: Limits
    retry: RetryPolicy
    redact: Redact = lambda tree: tree
    """Masks our own secrets."""
    _spent: Usage = field(default_factory=Usage)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Vectors of the texts."""
        with self.endpoint.breaker.count_failures():
            return self.retry.attempts_in_thread()(self._send_request, self.redact(texts))

    def embed_query(self, text: str) -> list[float]:
        """Vector of a search."""
        return self.embed_documents([text])[0]

    def _send_request(self, texts: Sequence[str]) -> list[list[float]]:
        self.endpoint.breaker.check()
        self.retry.check_time()
        estimate = sum(map(token_count.estimate_text, texts))
        self._check_share(estimate)
        bill = RequestUsage()
        try:
            with self.usage_meter.record_request(self.model, MODE, estimate, 0) as bill:
                seconds = self.retry.request_seconds(MAX_REQUEST_SECONDS)
                answer = self.endpoint.embeddings_client.create(input=list(texts), model=self.model, timeout=seconds)
                self.endpoint.breaker.reset()
                usage = getattr(answer, "usage", None)
                told = token_count.parse_usage(usage.model_dump() if usage else None)
                bill.tokens, bill.estimated = told or TokenCount(estimate), told is None
                return [list(row.embedding) for row in answer.data]
        except REQUEST_ERRORS as error:
            fault = classify_error(error)
            if fault.remedy is Remedy.RETRY:
                raise EndpointBusy(fault.reason, fault.retry_after) from None
            raise ModelUnavailable(fault.reason) from None
        finally:
            if bill.tokens:
                self._spent += self.usage_meter.price_usage(self.model, bill.tokens)

    def _check_share(self, estimate: int) -> None:
        price = self.usage_meter.prices.cost_usd(self.model, TokenCount(estimate))
        if self._spent.tokens + estimate > self.limits.tokens * BUDGET_SHARE:
            raise BudgetExceeded("vectors would take more than half of max-tokens")
        if self._spent.priced_usd + (price or 0.0) > self.limits.usd * BUDGET_SHARE:
            raise BudgetExceeded("vectors would take more than half of max-cost-usd")
