"""Vectors are paid from the run's purse."""

import pytest
from langchain_core.embeddings import Embeddings

from triage.domain.run import Limits
from triage.errors import BudgetSpent
from triage.llm.embeddings import CountedEmbeddings
from triage.llm.ledger import Ledger


class Fixed(Embeddings):
    calls = 0

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.calls += 1
        return [[1.0]] * len(texts)

    def embed_query(self, text: str) -> list[float]:
        self.calls += 1
        return [1.0]


def counted(limits: Limits, model: str = "text-embedding-3-small") -> tuple[CountedEmbeddings, Fixed, Ledger]:
    inner, ledger = Fixed(), Ledger(limits)
    return CountedEmbeddings(inner, model, ledger, limits), inner, ledger


def test_tokens_and_dollars_are_counted():
    embeddings, _, ledger = counted(Limits())
    assert embeddings.embed_documents(["x" * 3_000, "y" * 3_000]) == [[1.0], [1.0]]
    embeddings.embed_query("z" * 30)
    assert ledger.usage.input_tokens == 2_010
    assert ledger.usage.usd == pytest.approx(2_010 * 0.02e-6, rel=0.01)


def test_vectors_leave_half_for_the_agents():
    embeddings, inner, ledger = counted(Limits(tokens=1_000))
    embeddings.embed_documents(["x" * 1_200])
    with pytest.raises(BudgetSpent):
        embeddings.embed_documents(["x" * 600])
    assert inner.calls == 1
    assert ledger.usage.tokens == 400


def test_a_model_without_a_price_is_capped_by_tokens():
    embeddings, _, ledger = counted(Limits(tokens=1_000), "my-own-embedder")
    embeddings.embed_documents(["x" * 30])
    assert ledger.usage.usd is None
