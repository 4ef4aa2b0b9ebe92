"""Embeddings under the run's purse."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from langchain_core.embeddings import Embeddings

from triage.adapters.llm import token_count
from triage.adapters.llm.endpoint import Endpoint
from triage.adapters.llm.model_errors import FAILURES, Busy, Remedy, fault_of
from triage.adapters.llm.model_retry import Patience
from triage.adapters.llm.token_count import Counted
from triage.adapters.llm.usage_meter import Accounts, Bill
from triage.domain.run import Limits, Usage
from triage.errors import BudgetSpent, ModelUnavailable
from triage.secrets.matcher import Screened

SHARE = 0.5
"""Of the run's tokens and dollars: what vectors may take; the agents need the rest."""
MODE = "embeddings"
MOST_SECONDS = 20.0
"""For one request: local vectors stand in at once, so a slow endpoint is not waited for as a model is."""


@dataclass
class CountedEmbeddings(Embeddings):
    """An embedding model whose calls are reserved, retried, counted and recorded. They block: call them in a thread.

    Both methods raise BudgetSpent before the call that would exceed the share, and ModelUnavailable.
    """

    endpoint: Endpoint
    model: str
    accounts: Accounts
    limits: Limits
    patience: Patience
    screened: Screened = lambda tree: tree
    """Masks our own secrets."""
    _spent: Usage = field(default_factory=Usage)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Vectors of the texts."""
        with self.endpoint.breaker.call():
            return self.patience.attempts_in_thread()(self._request, self.screened(texts))

    def embed_query(self, text: str) -> list[float]:
        """Vector of a search."""
        return self.embed_documents([text])[0]

    def _request(self, texts: Sequence[str]) -> list[list[float]]:
        self.endpoint.breaker.check()
        self.patience.check()
        estimate = sum(map(token_count.of_text, texts))
        self._check_share(estimate)
        bill = Bill()
        try:
            with self.accounts.request(self.model, MODE, estimate, 0) as bill:
                seconds = self.patience.request_seconds(MOST_SECONDS)
                answer = self.endpoint.embeddings.create(input=list(texts), model=self.model, timeout=seconds)
                self.endpoint.breaker.answered()
                usage = getattr(answer, "usage", None)
                told = token_count.told(usage.model_dump() if usage else None)
                bill.counted, bill.estimated = told or Counted(estimate), told is None
                return [list(row.embedding) for row in answer.data]
        except FAILURES as error:
            fault = fault_of(error)
            if fault.remedy is Remedy.RETRY:
                raise Busy(fault.reason, fault.retry_after) from None
            raise ModelUnavailable(fault.reason) from None
        finally:
            if bill.counted:
                self._spent += self.accounts.usage(self.model, bill.counted)

    def _check_share(self, estimate: int) -> None:
        price = self.accounts.prices.usd(self.model, Counted(estimate))
        if self._spent.tokens + estimate > self.limits.tokens * SHARE:
            raise BudgetSpent("vectors would take more than half of max-tokens")
        if self._spent.priced + (price or 0.0) > self.limits.usd * SHARE:
            raise BudgetSpent("vectors would take more than half of max-cost-usd")
