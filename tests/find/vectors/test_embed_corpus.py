"""Chunk vectors: local ones, an endpoint's, and what happens when the endpoint fails."""

from pathlib import Path

import numpy as np
import openai
import pytest
from langchain_core.embeddings import Embeddings

from tests.find.embeddings import FailingModel, LetterCounts, WrongShape
from tests.find.indexes import make_corpus, project_files
from tests.find.project import PROJECT
from triage.base.errors import BudgetExceeded, ModelUnavailable
from triage.find.vectors.chroma_store import ChromaStore
from triage.find.vectors.embed_corpus import LOCAL, ExactStore, embed_corpus, embed_query, embed_query_locally
from triage.find.words.corpus import Corpus


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    return make_corpus(tmp_path, PROJECT)


def test_a_projection_estimates_the_inner_product(corpus: Corpus):
    terms = ("flush", "timeout", "jobs", "leap")
    named = dict.fromkeys(terms, 1.0)
    weights = {number: 1.0 for term in terms if (number := corpus.vocabulary.find_number(term)) is not None}
    # Each of the four hashes adds the product once; BM25 multiplies by k1 + 1.
    estimated = project_files(corpus, range(len(corpus.files))) @ embed_query_locally(corpus, named) / 4
    chunks = corpus.by_chunk.score_documents(weights) / 2.5
    exact = np.bincount(corpus.chunk_files, weights=chunks, minlength=len(corpus.files))
    assert np.abs(estimated - exact).max() < 0.6
    assert int(estimated.argmax()) == int(exact.argmax())


def test_a_projection_of_some_files_in_blocks(corpus: Corpus, monkeypatch: pytest.MonkeyPatch):
    everything = project_files(corpus, range(len(corpus.files)))
    monkeypatch.setattr("triage.find.vectors.embed_corpus._BLOCK", 2)
    assert np.allclose(project_files(corpus, [5, 1, 3]), everything[[5, 1, 3]])


def test_likely_sources_and_sections_are_stored(corpus: Corpus):
    made = embed_corpus(corpus, None, LOCAL)
    assert isinstance(made.store, ChromaStore)
    stored = made.store._collection.get(include=["documents"])
    assert stored["documents"] is None or set(stored["documents"]) == {None}
    paths = {corpus.files[corpus.chunk_files[int(name)]].path for name in stored["ids"]}
    assert paths == {path for path in PROJECT if path.startswith(("src/", "web/", "docs/", "README"))}
    assert made.store.size == len(stored["ids"]) == len(paths)
    assert (made.embedding, made.notes) == (LOCAL, [])


def test_a_repository_of_prose_is_stored_whole(tmp_path: Path):
    corpus = make_corpus(tmp_path, {"docs/a.md": "# One\n", "README.md": "# Two\n"})
    made = embed_corpus(corpus, None, LOCAL)
    assert made.store is not None
    assert made.store.size == 2


def test_nothing_to_store(tmp_path: Path):
    assert embed_corpus(make_corpus(tmp_path, {}), None, LOCAL).store is None


def test_many_vectors_are_added_in_batches(monkeypatch: pytest.MonkeyPatch):
    # 5,461 at once is the limit of chromadb 1.5.9; more in one call is an error.
    monkeypatch.setattr("triage.find.vectors.chroma_store._BATCH", 100)
    count = 250
    vectors = np.random.default_rng(7).standard_normal((count, 8)).astype(np.float32)
    store = ChromaStore(range(count), vectors)
    assert store._collection.count() == count


def test_chroma_finds_what_a_comparison_one_by_one_finds():
    near, random = 200, np.random.default_rng(7)
    # As of files that are alike: some are equal, and many nearly so.
    alike = np.repeat(random.standard_normal((30, 64)), 100, axis=0)
    vectors = (alike + random.standard_normal(alike.shape) / 1_000).astype(np.float32)
    vectors[::10] = vectors[1::10]
    store, exact = ChromaStore(range(len(vectors)), vectors), ExactStore(range(len(vectors)), vectors)
    for query in random.standard_normal((20, 64)).astype(np.float32):
        assert set(store.nearest(query, near)) == set(exact.nearest(query, near))


def test_an_endpoints_vectors(corpus: Corpus):
    model = LetterCounts()
    made = embed_corpus(corpus, model, "letters")
    assert made.store is not None
    assert (made.embedding, made.notes) == ("letters", [])
    assert made.store.nearest(np.ones(26, dtype=np.float32), 1)
    assert model.texts[0].startswith("web/render.ts Renderer\nexport class Renderer {\n")
    assert all(len(text) <= 6_000 for text in model.texts)


def test_secrets_do_not_reach_an_endpoint(tmp_path: Path):
    model = LetterCounts()
    corpus = make_corpus(tmp_path, {"src/a.py": "TOKEN = 'ghp_" + "Z9" * 18 + "'\n"})
    embed_corpus(corpus, model, "letters")
    assert "Z9Z9" not in "".join(model.texts)
    assert "[masked secret]" in "".join(model.texts)


FAULTS = [
    openai.OpenAIError("refused"),
    ModelUnavailable("unauthorized"),
    TimeoutError(),
    ValueError("no JSON"),
]


@pytest.mark.parametrize("error", FAULTS, ids=lambda error: type(error).__name__)
def test_an_endpoint_that_fails_gives_way_to_local_vectors(corpus: Corpus, error: Exception):
    made = embed_corpus(corpus, FailingModel(error), "letters")
    assert made.embedding == LOCAL
    assert made.store is not None
    assert made.store.nearest(embed_query_locally(corpus, {"flush": 1.0}), 1)
    assert made.notes == [f"The embedding endpoint failed ({type(error).__name__}); local vectors stand in."]


@pytest.mark.parametrize(
    "model",
    [
        WrongShape([]),
        WrongShape([[1.0, 2.0], [1.0]]),
        WrongShape([[]]),
        WrongShape([[float("nan"), 1.0]]),
        WrongShape([[1.0]] * 500),
    ],
)
def test_an_endpoint_that_answers_nonsense_gives_way_too(corpus: Corpus, model: Embeddings):
    made = embed_corpus(corpus, model, "letters")
    assert made.embedding == LOCAL
    assert made.notes == ["The embedding endpoint failed (ValueError); local vectors stand in."]


def test_an_endpoint_that_is_slow_sees_part_of_the_repository(corpus: Corpus, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("triage.find.vectors.embed_corpus.EMBED_SECONDS", 0.0)
    monkeypatch.setattr("triage.find.vectors.embed_corpus._BATCH", 2)
    made = embed_corpus(corpus, LetterCounts(), "letters")
    assert made.store is not None
    assert made.store.size == 2
    assert made.notes[0].startswith("The embedding model saw 2 of ")


def test_a_spent_budget_leaves_what_is_paid(corpus: Corpus, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("triage.find.vectors.embed_corpus._BATCH", 2)
    for batch, embedding in ((1, "letters"), (0, LOCAL)):
        made = embed_corpus(corpus, FailingModel(BudgetExceeded("max-tokens"), from_batch=batch), "letters")
        assert made.embedding == embedding
        assert len(made.notes) == 1


def test_a_query_that_cannot_be_embedded():
    assert embed_query(FailingModel(TimeoutError(), queries_only=True), "x") is None
    found = embed_query(LetterCounts(), "x")
    assert found is not None
    assert found.shape == (26,)
