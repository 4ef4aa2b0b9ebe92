"""Chunk vectors: local ones, an endpoint's, and what happens when the endpoint fails."""

import uuid
from dataclasses import replace
from pathlib import Path

import numpy as np
import openai
import pytest
from langchain_core.embeddings import Embeddings

from tests.code.embeddings import FailingModel, LetterCounts, WrongShape
from tests.code.indexes import make_corpus
from tests.code.project import PROJECT
from triage.base.errors import ModelUnavailable
from triage.code.vectors.chroma_connection import open_embedded_chroma
from triage.code.vectors.chroma_store import ChromaStore, VectorKey
from triage.code.vectors.embed_corpus import LOCAL, embed_corpus, embed_query
from triage.code.vectors.projection import DIMENSIONS, project_chunks, project_query
from triage.code.words.corpus import Corpus


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    return make_corpus(tmp_path, PROJECT)


@pytest.fixture
def repository() -> str:
    return f"acme/{uuid.uuid4().hex}"


def chunk_of(corpus: Corpus, symbol: str) -> int:
    return corpus.chunk_symbols.index(symbol)


def test_a_projection_estimates_the_inner_product(corpus: Corpus):
    chunks = list(range(len(corpus.chunk_files)))
    terms = ("flush", "timeout", "jobs", "leap")
    named = dict.fromkeys(terms, 1.0)
    weights = {number: 1.0 for term in terms if (number := corpus.vocabulary.find_number(term)) is not None}
    # Each of the four hashes adds the product once; BM25 multiplies by k1 + 1.
    estimated = project_chunks(corpus, chunks) @ project_query(corpus, named) / 4
    exact = corpus.by_chunk.score_documents(weights) / 2.5
    assert np.abs(estimated - exact).max() < 0.5
    assert int(estimated.argmax()) == int(exact.argmax())


def test_a_projection_of_some_chunks_in_blocks(corpus: Corpus, monkeypatch: pytest.MonkeyPatch):
    everything = project_chunks(corpus, range(len(corpus.chunk_files)))
    monkeypatch.setattr("triage.code.vectors.projection._BLOCK", 2)
    assert np.allclose(project_chunks(corpus, [5, 1, 3]), everything[[5, 1, 3]])


def test_a_query_without_known_words_has_no_direction(corpus: Corpus):
    assert not project_query(corpus, {}).any()
    assert not project_query(corpus, {"nowhere": 1.0}).any()


def test_likely_sources_only_are_stored(corpus: Corpus, repository: str):
    made = embed_corpus(corpus, repository, "c0ffee", None, LOCAL)
    assert isinstance(made.store, ChromaStore)
    stored = made.store._collection.get(include=["metadatas", "documents"])
    assert stored["documents"] is None or set(stored["documents"]) == {None}
    assert stored["metadatas"] is not None
    paths = {meta["path"] for meta in stored["metadatas"]}
    assert paths == {path for path in PROJECT if path.startswith(("src/", "web/"))}
    # DateParser has 15 lines: too few to be cut into its methods.
    place = {"path": "src/calendar_tool/dates.py", "start": 6, "end": 18, "symbol": "DateParser"}
    assert place in stored["metadatas"]
    assert made.store.size == len(stored["ids"])
    assert (made.embedding, made.notes) == (LOCAL, [])


def test_a_repository_of_prose_is_stored_whole(tmp_path: Path, repository: str):
    corpus = make_corpus(tmp_path, {"docs/a.md": "# One\n", "README.md": "# Two\n"})
    made = embed_corpus(corpus, repository, None, None, LOCAL)
    assert made.store is not None
    assert made.store.size == 2


def test_nothing_to_store(tmp_path: Path, repository: str):
    assert embed_corpus(make_corpus(tmp_path, {}), repository, None, None, LOCAL).store is None


def test_the_nearest_chunk_is_found(corpus: Corpus, repository: str):
    made = embed_corpus(corpus, repository, None, None, LOCAL)
    assert made.store is not None
    near = made.store.nearest(project_query(corpus, {"flush": 1.0, "timeout": 1.0}), 200)
    best = max(near, key=lambda chunk: near[chunk])
    assert corpus.files[corpus.chunk_files[best]].path == "src/calendar_tool/queue.py"
    assert all(-1.001 <= similarity <= 1.001 for similarity in near.values())
    assert made.store.nearest(np.zeros(DIMENSIONS, dtype=np.float32), 5) == {}


def test_the_same_key_replaces_and_another_one_does_not(corpus: Corpus, repository: str):
    vectors = project_chunks(corpus, [0, 1, 2])
    first = ChromaStore(
        open_embedded_chroma(), VectorKey(repository, "c1", LOCAL, DIMENSIONS), corpus, [0, 1, 2], vectors
    )
    other = ChromaStore(
        open_embedded_chroma(), VectorKey(repository, "c2", LOCAL, DIMENSIONS), corpus, [0, 1], vectors[:2]
    )
    again = ChromaStore(open_embedded_chroma(), first.key, corpus, [2], vectors[2:])
    assert again._collection.count() == 1
    assert other._collection.count() == 2
    other.drop()
    other.drop()


def test_many_vectors_are_added_in_batches(corpus: Corpus, repository: str, monkeypatch: pytest.MonkeyPatch):
    # 5,461 at once is the limit of chromadb 1.5.9; more in one call is an error.
    monkeypatch.setattr("triage.code.vectors.chroma_store._BATCH", 100)
    count = 250
    ones = np.ones(count, dtype=np.int32)
    many = replace(corpus, chunk_files=ones, chunk_starts=ones, chunk_ends=ones, chunk_symbols=[None] * count)
    vectors = np.repeat(project_chunks(corpus, [0]), count, axis=0)
    store = ChromaStore(
        open_embedded_chroma(), VectorKey(repository, None, LOCAL, DIMENSIONS), many, range(count), vectors
    )
    assert store._collection.count() == count
    store.drop()


def test_the_graph_search_finds_what_an_exact_one_finds(corpus: Corpus, repository: str):
    count, near = 3_000, 200
    ones = np.ones(count, dtype=np.int32)
    many = replace(corpus, chunk_files=ones, chunk_starts=ones, chunk_ends=ones, chunk_symbols=[None] * count)
    random = np.random.default_rng(7)
    vectors = random.standard_normal((count, 64)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    store = ChromaStore(open_embedded_chroma(), VectorKey(repository, None, LOCAL, 64), many, range(count), vectors)
    shares = []
    for query in random.standard_normal((10, 64)).astype(np.float32):
        exact = set(np.argsort(-(vectors @ query))[:near].tolist())
        shares.append(len(exact & set(store.nearest(query, near))) / near)
    assert min(shares) > 0.99
    store.drop()


@pytest.mark.parametrize(
    "repository", ["acme/shop", "a", "ünï/日本", "-/-", "x" * 600 + "/" + "y" * 600, "../..", "a b\nc", ""]
)
def test_collection_names_are_valid_and_tell_keys_apart(repository: str):
    keys = [
        VectorKey(repository, "a" * 40, LOCAL, 512),
        VectorKey(repository, "b" * 40, LOCAL, 512),
        VectorKey(repository, None, LOCAL, 512),
        VectorKey(repository, "a" * 40, "text-embedding-3-small", 512),
        VectorKey(repository, "a" * 40, LOCAL, 256),
        VectorKey(repository + "x", "a" * 40, LOCAL, 512),
    ]
    names = [key.collection_name for key in keys]
    assert len(set(names)) == len(names)
    for name in names:
        assert 3 <= len(name) <= 512
        assert all(char.isascii() and (char.isalnum() or char in "._-") for char in name)
        assert name[0].isalnum()
        assert name[-1].isalnum()


def test_an_endpoints_vectors(corpus: Corpus, repository: str):
    model = LetterCounts()
    made = embed_corpus(corpus, repository, None, model, "letters")
    assert made.store is not None
    assert (made.embedding, made.notes, made.store.key.dimensions) == ("letters", [], 26)
    assert model.texts[0].startswith("web/render.ts Renderer\nexport class Renderer {\n")
    assert all(len(text) <= 6_000 for text in model.texts)


def test_secrets_do_not_reach_an_endpoint(tmp_path: Path, repository: str):
    model = LetterCounts()
    corpus = make_corpus(tmp_path, {"src/a.py": "TOKEN = 'ghp_" + "Z9" * 18 + "'\n"})
    embed_corpus(corpus, repository, None, model, "letters")
    assert "Z9Z9" not in "".join(model.texts)
    assert "[masked secret]" in "".join(model.texts)


FAULTS = [
    openai.OpenAIError("refused"),
    ModelUnavailable("unauthorized"),
    TimeoutError(),
    ValueError("no JSON"),
]


@pytest.mark.parametrize("error", FAULTS, ids=lambda error: type(error).__name__)
def test_an_endpoint_that_fails_gives_way_to_local_vectors(corpus: Corpus, repository: str, error: Exception):
    made = embed_corpus(corpus, repository, None, FailingModel(error), "letters")
    assert made.embedding == LOCAL
    assert made.store is not None
    assert made.store.key.dimensions == DIMENSIONS
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
def test_an_endpoint_that_answers_nonsense_gives_way_too(corpus: Corpus, repository: str, model: Embeddings):
    made = embed_corpus(corpus, repository, None, model, "letters")
    assert made.embedding == LOCAL
    assert made.notes == ["The embedding endpoint failed (ValueError); local vectors stand in."]


def test_an_endpoint_that_is_slow_sees_part_of_the_repository(
    corpus: Corpus, repository: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("triage.code.vectors.embed_corpus.EMBED_SECONDS", 0.0)
    monkeypatch.setattr("triage.code.vectors.embed_corpus._BATCH", 2)
    made = embed_corpus(corpus, repository, None, LetterCounts(), "letters")
    assert made.store is not None
    assert made.store.size == 2
    assert made.notes[0].startswith("The embedding model saw 2 of ")


def test_a_query_that_cannot_be_embedded():
    assert embed_query(FailingModel(TimeoutError(), queries_only=True), "x") is None
    found = embed_query(LetterCounts(), "x")
    assert found is not None
    assert found.shape == (26,)
