"""Vectors compared one by one give what Chroma gives."""

import uuid
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from testing.checkouts.git_repositories import commit
from tests.code.indexes import make_corpus
from tests.code.indexes_compared import QUERIES
from tests.code.project import PROJECT
from triage.code.codebase import GitCodebase
from triage.code.vectors.chroma_connection import open_embedded_chroma
from triage.code.vectors.chroma_store import ChromaStore, VectorKey
from triage.code.vectors.exact_store import ExactStore
from triage.code.words.corpus import Corpus

KEY = VectorKey("acme/calendar", "c0ffee", "local", 3)
ROWS = np.array([[1, 0, 0], [3, 4, 0], [0, 0, 0], [0, -2, 0]], dtype=np.float32)


def vector(*numbers: float) -> np.ndarray:
    return np.array(numbers, dtype=np.float32)


def test_the_nearest_come_first_whatever_their_length():
    store = ExactStore(KEY, [7, 8, 9, 10], ROWS)
    found = store.nearest(vector(0, 5, 0), 2)
    assert list(found) == [8, 7]
    assert found == pytest.approx({8: 0.8, 7: 0.0})
    assert store.nearest(vector(2, 0, 0), 9) == pytest.approx({7: 1.0, 8: 0.6, 9: 0.0, 10: 0.0})
    assert (store.size, store.key) == (4, KEY)


def test_what_has_no_direction_or_does_not_fit_finds_nothing():
    store = ExactStore(KEY, [7, 8, 9, 10], ROWS)
    assert store.nearest(vector(0, 0, 0), 2) == {}
    assert store.nearest(vector(1, 1), 2) == {}
    assert ExactStore(KEY, [], np.zeros((0, 3), dtype=np.float32)).nearest(vector(1, 0, 0), 2) == {}


def test_the_vectors_given_are_left_as_they_are():
    rows = ROWS.copy()
    ExactStore(KEY, [7, 8, 9, 10], rows).nearest(vector(1, 0, 0), 2)
    assert (rows == ROWS).all()


def test_chroma_finds_the_same(tmp_path: Path):
    commit(tmp_path, PROJECT)
    exact = GitCodebase(tmp_path, "acme/calendar", chroma=None)
    chroma = GitCodebase(tmp_path, f"acme/{uuid.uuid4().hex}")
    facts = chroma.index()
    assert exact.index().model_copy(update={"seconds": facts.seconds}) == facts
    for query in QUERIES:
        assert exact.search(query, 20) == chroma.search(query, 20)


def test_chroma_finds_the_same_among_many(corpus: Corpus):
    rng = np.random.default_rng(7)
    rows = rng.standard_normal((600, 16)).astype(np.float32)
    key = VectorKey(f"acme/{uuid.uuid4().hex}", None, "local", 16)
    zeros = np.zeros(600, dtype=np.int32)
    many = replace(corpus, chunk_files=zeros, chunk_starts=zeros, chunk_ends=zeros, chunk_symbols=[None] * 600)
    store = ChromaStore(open_embedded_chroma(), key, many, range(600), rows)
    query = rng.standard_normal(16).astype(np.float32)
    expected = ExactStore(key, range(600), rows).nearest(query, 50)
    assert store.nearest(query, 50) == pytest.approx(expected, abs=1e-5)


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    return make_corpus(tmp_path, {"a.py": "x = 1\n"})
