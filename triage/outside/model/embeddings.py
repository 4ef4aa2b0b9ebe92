"""Embeddings that are paid from the run's budget."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from langchain_core.embeddings import Embeddings

from triage.base.errors import BudgetExceeded, ModelUnavailable
from triage.domain.run import Usage
from triage.outside.model import token_count
from triage.outside.model.budget import Budget, RequestUsage
from triage.outside.model.endpoint import Endpoint, RetryPolicy
from triage.outside.model.model_errors import REQUEST_ERRORS, EndpointBusy, Remedy, classify_error
from triage.outside.model.token_count import TokenCount
from triage.safety.secrets.redactor import Redact

BUDGET_SHARE = 0.5
"""Part of the run's tokens and dollars that vectors may use; the agents need the rest."""
MAX_REQUEST_SECONDS = 20.0
"""Less than for a model: local vectors replace those of a slow endpoint at once."""


@dataclass
class MeteredEmbeddings(Embeddings):
    """An embedding model whose calls are reserved, retried and recorded. They block: call them in a thread.

    Both methods raise BudgetExceeded before a call that would exceed the share, and ModelUnavailable.
    """

    endpoint: Endpoint
    model: str
    budget: Budget
    retry: RetryPolicy
    redact: Redact = lambda tree: tree
    """Masks our own secrets."""
    _spent: Usage = field(default_factory=Usage)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        features = self.endpoint.features.get_features(self.model)
        if features.drop_reason:
            raise ModelUnavailable(features.drop_reason)
        try:
            return self.retry.attempts_in_thread()(self._send_request, self.redact(texts))
        except EndpointBusy as error:
            features.record_failed_call(error.reason)
            raise

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]

    def _send_request(self, texts: Sequence[str]) -> list[list[float]]:
        """Send one request within the budget. Raises EndpointBusy if another attempt may help."""
        self.retry.check_time()
        estimate = sum(map(token_count.estimate_text, texts))
        self._check_share(estimate)
        usage = RequestUsage()
        try:
            with self.budget.record_request(self.model, "embeddings", estimate, 0) as usage:
                seconds = self.retry.request_seconds(MAX_REQUEST_SECONDS)
                client = self.endpoint.sdk_client.embeddings
                response = client.create(input=list(texts), model=self.model, timeout=seconds)
                reported = getattr(response, "usage", None)
                billed = token_count.parse_usage(reported.model_dump() if reported else None)
                usage.tokens, usage.estimated = billed or TokenCount(estimate), billed is None
                return [list(row.embedding) for row in response.data]
        except REQUEST_ERRORS as error:
            failure = classify_error(error)
            if failure.remedy is Remedy.RETRY:
                raise EndpointBusy(failure.reason, failure.retry_after) from None
            raise ModelUnavailable(failure.reason) from None
        finally:
            if usage.tokens:
                self._spent += self.budget.price_usage(self.model, usage.tokens)

    def _check_share(self, estimate: int) -> None:
        total = self._spent + self.budget.price_usage(self.model, TokenCount(estimate))
        if total.tokens > self.budget.limits.tokens * BUDGET_SHARE:
            raise BudgetExceeded("vectors would take more than half of max-tokens")
        if total.priced_usd > self.budget.limits.usd * BUDGET_SHARE:
            raise BudgetExceeded("vectors would take more than half of max-cost-usd")
