"""Embeddings under the run's purse."""

import math
from collections.abc import Callable
from typing import TypeVar

from langchain_core.embeddings import Embeddings

from triage.domain.run import Limits, Usage
from triage.errors import BudgetSpent
from triage.llm.ledger import CHARS_PER_TOKEN, Ledger
from triage.llm.prices import usd

T = TypeVar("T")

SHARE = 0.5
"""Of the run's tokens and dollars: what vectors may take; the agents need the rest."""


class CountedEmbeddings(Embeddings):
    """An embedding model whose calls are reserved and counted.

    The endpoint's usage does not reach us through LangChain, so tokens are counted by characters, which errs on the
    high side.
    """

    def __init__(self, inner: Embeddings, model: str, ledger: Ledger, limits: Limits) -> None:
        self._inner, self._model, self._ledger, self._limits = inner, model, ledger, limits
        self._spent = Usage()

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Vectors of the texts. Raises BudgetSpent before the call that would exceed the share."""
        return self._counted(sum(map(len, texts)), lambda: self._inner.embed_documents(texts))

    def embed_query(self, text: str) -> list[float]:
        """Vector of a search. Raises BudgetSpent as `embed_documents`."""
        return self._counted(len(text), lambda: self._inner.embed_query(text))

    def _counted(self, chars: int, call: Callable[[], T]) -> T:
        tokens = math.ceil(chars / CHARS_PER_TOKEN)
        price = usd(self._model, tokens, 0)
        if self._spent.tokens + tokens > self._limits.tokens * SHARE:
            raise BudgetSpent("vectors would take more than half of max-tokens")
        if (self._spent.usd or 0.0) + (price or 0.0) > self._limits.usd * SHARE:
            raise BudgetSpent("vectors would take more than half of max-cost-usd")
        reservation = self._ledger.reserve(tokens, price)
        result = call()  # a call that fails keeps its reservation: it may have been billed
        spent = Usage(input_tokens=tokens, calls=1, usd=price)
        self._ledger.settle(reservation, self._model, spent)
        self._spent += spent
        return result
