"""Vectors in Chroma; compared one by one, they give what Chroma gives."""

import numpy as np
import pytest

from tests.find.indexes import make_corpus, project_files
from tests.find.project import PROJECT
from triage.find.vectors.chroma_store import ChromaStore, open_chroma
from triage.find.vectors.embed_corpus import ExactStore, embed_corpus, embed_query_locally
from triage.find.words.corpus import Corpus


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return make_corpus(tmp_path_factory.mktemp("corpus"), PROJECT)


def test_the_same_vectors_are_stored_once(corpus: Corpus):
    vectors = project_files(corpus, [0, 1, 2])
    first = ChromaStore([0, 1, 2], vectors)
    before = len(open_chroma().list_collections())
    first._collection.delete(ids=["0", "1"])
    again = ChromaStore([0, 1, 2], vectors)
    assert (again._collection.id, again._collection.count()) == (first._collection.id, 3)
    assert len(open_chroma().list_collections()) == before
    others = [ChromaStore([0, 1, 3], vectors), ChromaStore([0, 1, 2], vectors * 2)]
    assert len({one._collection.id for one in [first, *others]}) == 3


def test_without_chroma_the_vectors_are_compared_one_by_one(corpus: Corpus, monkeypatch: pytest.MonkeyPatch):
    def refuse(*words: object, **more: object) -> None:
        from chromadb.errors import InternalError

        raise InternalError("no")

    monkeypatch.setattr(type(open_chroma()), "get_or_create_collection", refuse)
    assert isinstance(embed_corpus(corpus, None, "local").store, ExactStore)


def test_a_search_that_fails_finds_nothing(corpus: Corpus):
    store = embed_corpus(corpus, None, "local").store
    assert isinstance(store, ChromaStore)
    assert store.nearest(np.ones(3, dtype=np.float32), 5) == {}
    open_chroma().delete_collection(store._collection.name)
    assert store.nearest(embed_query_locally(corpus, {"flush": 1.0}), 5) == {}


ROWS = np.array([[1, 0, 0], [3, 4, 0], [0, 0, 0], [0, -2, 0]], dtype=np.float32)


def vector(*numbers: float) -> np.ndarray:
    return np.array(numbers, dtype=np.float32)


def test_the_nearest_come_first_whatever_their_length():
    store = ExactStore([7, 8, 9, 10], ROWS)
    found = store.nearest(vector(0, 5, 0), 2)
    assert list(found) == [8, 7]
    assert found == pytest.approx({8: 0.8, 7: 0.0})
    assert store.nearest(vector(2, 0, 0), 9) == pytest.approx({7: 1.0, 8: 0.6, 9: 0.0, 10: 0.0})
    assert store.size == 4


def test_what_has_no_direction_or_does_not_fit_finds_nothing():
    store = ExactStore([7, 8, 9, 10], ROWS)
    assert store.nearest(vector(0, 0, 0), 2) == {}
    assert store.nearest(vector(1, 1), 2) == {}
    assert ExactStore([], np.zeros((0, 3), dtype=np.float32)).nearest(vector(1, 0, 0), 2) == {}
