"""The same vectors and metadata in this process's Chroma and on a real server.

Vectors compared one by one give what Chroma gives."""

import socket
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import httpx
import numpy as np
import pytest

from testing.checkouts.git_repositories import commit
from tests.code.chroma_server import free_port, run_chroma_server
from tests.code.indexes import make_corpus, make_query
from tests.code.indexes_compared import QUERIES
from tests.code.project import PROJECT
from triage.base.errors import BadInput
from triage.code.codebase import GitCodebase
from triage.code.vectors.chroma_connection import (
    ChromaClient,
    StoreFailed,
    connect_to_chroma,
    is_shared,
    open_embedded_chroma,
    translate_chroma_errors,
)
from triage.code.vectors.embed_corpus import embed_corpus
from triage.code.vectors.projection import project_files, project_query
from triage.code.vectors.vector_stores import ChromaStore, ExactStore, VectorKey, digest_layout
from triage.code.words.corpus import Corpus

Opener = Callable[[], ChromaClient]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with run_chroma_server(tmp_path_factory.mktemp("chroma")) as url:
        yield url


@pytest.fixture(params=["embedded", "server"])
def opener(request: pytest.FixtureRequest) -> Opener:
    return (
        open_embedded_chroma
        if request.param == "embedded"
        else partial(connect_to_chroma, request.getfixturevalue("address"))
    )


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return make_corpus(tmp_path_factory.mktemp("corpus"), PROJECT)


@pytest.fixture
def repository() -> str:
    return f"acme/{uuid.uuid4().hex}"


def collections(opener: Opener, repository: str) -> set[str]:
    return {one.name for one in opener().list_collections() if (one.metadata or {}).get("repository") == repository}


def test_what_goes_in_comes_out(corpus: Corpus, repository: str, opener: Opener):
    made = embed_corpus(corpus, repository, "c0ffee", None, "local", opener)
    assert made.notes == []
    assert isinstance(made.store, ChromaStore)
    near = made.store.nearest(project_query(corpus, {"flush": 1.0, "timeout": 1.0}), 200)
    best = max(near, key=lambda chunk: near[chunk])
    stored = made.store._collection.get(ids=[str(best)], include=["metadatas", "embeddings"])
    assert stored["metadatas"] == [{"path": "src/calendar_tool/queue.py"}]
    assert stored["embeddings"] is not None
    file = corpus.file_numbers["src/calendar_tool/queue.py"]
    assert np.allclose(stored["embeddings"][0], project_files(corpus, [file])[0])
    assert len(near) == made.store.size


def test_both_find_the_same(corpus: Corpus, repository: str, address: str):
    query = project_query(corpus, {"date": 1.0, "parse": 2.0})
    found = []
    for opener in (open_embedded_chroma, partial(connect_to_chroma, address)):
        store = embed_corpus(corpus, repository, "c0ffee", None, "local", opener).store
        assert isinstance(store, ChromaStore)
        found.append(store.nearest(query, 200))
    assert found[0] == pytest.approx(found[1], abs=1e-5)


def test_what_others_put_there_is_not_found(corpus: Corpus, repository: str, address: str):
    opener = partial(connect_to_chroma, address)
    store = embed_corpus(corpus, repository, "c0ffee", None, "local", opener).store
    assert isinstance(store, ChromaStore)
    vector = project_query(corpus, {"parse_date": 1.0})
    own = store.nearest(vector, 50)
    (name,) = collections(opener, repository)
    foreign = opener().get_or_create_collection(name)
    foreign.add(ids=["abc", "999999"], embeddings=np.stack([vector, vector]), metadatas=[{"path": "x"}] * 2)
    found = store.nearest(vector, 50)
    assert found
    assert found.items() <= own.items()


def test_what_is_there_is_taken_over(corpus: Corpus, repository: str, opener: Opener):
    first = embed_corpus(corpus, repository, "c0ffee", None, "local", opener).store
    assert isinstance(first, ChromaStore)
    first._collection.modify(metadata={"marked": 1})
    again = embed_corpus(corpus, repository, "c0ffee", None, "local", opener).store
    assert isinstance(again, ChromaStore)
    assert (again._collection.metadata or {}).get("marked") == 1
    assert again._collection.count() == first.size


def test_what_is_there_in_part_is_completed(corpus: Corpus, repository: str, opener: Opener):
    first = embed_corpus(corpus, repository, "c0ffee", None, "local", opener).store
    assert isinstance(first, ChromaStore)
    first._collection.delete(ids=first._collection.get(include=[])["ids"][:2])
    again = embed_corpus(corpus, repository, "c0ffee", None, "local", opener).store
    assert isinstance(again, ChromaStore)
    assert again._collection.count() == first.size


def test_a_folder_may_have_changed_and_is_stored_anew(corpus: Corpus, repository: str, opener: Opener):
    first = embed_corpus(corpus, repository, None, None, "local", opener).store
    assert isinstance(first, ChromaStore)
    first._collection.modify(metadata={"marked": 1})
    again = embed_corpus(corpus, repository, None, None, "local", opener).store
    assert isinstance(again, ChromaStore)
    assert "marked" not in (again._collection.metadata or {})


def test_a_commit_that_was_cut_otherwise_is_another_one(corpus: Corpus):
    assert digest_layout(corpus, [0, 1]) != digest_layout(corpus, [0, 2])
    assert digest_layout(corpus, [0, 1]) == digest_layout(corpus, [0, 1])


def test_a_collection_can_be_dropped_twice(corpus: Corpus, repository: str, opener: Opener):
    store = embed_corpus(corpus, repository, "c0ffee", None, "local", opener).store
    assert isinstance(store, ChromaStore)
    assert collections(opener, repository) == {store.key.collection_name}
    store.drop()
    store.drop()
    assert collections(opener, repository) == set()


def test_a_server_forgets_the_repositorys_old_commits(corpus: Corpus, repository: str, address: str):
    opener = partial(connect_to_chroma, address)
    vectors = project_files(corpus, [0])
    old, young, foreign = (
        ChromaStore(opener(), VectorKey(name, commit, "local", vectors.shape[1]), corpus, [0], vectors)
        for name, commit in ((repository, "old"), (repository, "young"), (f"{repository}x", "old"))
    )
    for store in (old, foreign):
        store._collection.modify(metadata={"repository": store.key.repository, "made": 1})
    new = ChromaStore(opener(), VectorKey(repository, "new", "local", vectors.shape[1]), corpus, [0], vectors)
    assert collections(opener, repository) == {young.key.collection_name, new.key.collection_name}
    assert collections(opener, foreign.key.repository) == {foreign.key.collection_name}


def test_a_codebase_on_a_server(tmp_path: Path, repository: str, address: str):
    commit(tmp_path, PROJECT)
    codebase = GitCodebase(tmp_path, repository, chroma=partial(connect_to_chroma, address))
    facts = codebase.index()
    assert facts.vectors > 0
    assert facts.notes == []
    assert codebase.search(make_query(title="parse_date"), 1)[0].path == "src/calendar_tool/dates.py"
    assert collections(partial(connect_to_chroma, address), repository)
    assert not collections(open_embedded_chroma, repository)


def test_a_server_that_is_not_there_gives_way(corpus: Corpus, repository: str):
    made = embed_corpus(
        corpus, repository, "c0ffee", None, "local", partial(connect_to_chroma, f"http://127.0.0.1:{free_port()}")
    )
    assert made.notes == ["The Chroma server did not take the vectors (ConnectError)."]
    assert isinstance(made.store, ChromaStore)
    assert not is_shared(made.store._client)


def test_a_server_that_never_answers_gives_way(corpus: Corpus, repository: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("triage.code.vectors.chroma_connection.HEARTBEAT_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        made = embed_corpus(corpus, repository, "c0ffee", None, "local", partial(connect_to_chroma, url))
    assert made.notes == ["The Chroma server did not take the vectors (ReadTimeout)."]
    assert isinstance(made.store, ChromaStore)


@pytest.mark.parametrize(
    ("url", "asked"),
    [
        ("http://chroma", "http://chroma:8000"),
        ("https://chroma.example/", "https://chroma.example:443"),
        ("http://[::1]:9000", "http://[::1]:9000"),
        ("http://httpd:9000", "http://httpd:9000"),
        ("https://gateway.example/team/chroma", "https://gateway.example:443/team/chroma"),
    ],
)
def test_where_a_server_is_asked(url: str, asked: str, monkeypatch: pytest.MonkeyPatch):
    calls: list[str] = []

    def answer(transport: httpx.HTTPTransport, request: httpx.Request) -> httpx.Response:
        port = request.url.port or (443 if request.url.scheme == "https" else 80)
        host = f"[{request.url.host}]" if ":" in request.url.host else request.url.host
        calls.append(f"{request.url.scheme}://{host}:{port}{request.url.path}")
        return httpx.Response(200 if request.url.path.endswith("/heartbeat") else 502, text="asked")

    monkeypatch.setattr(httpx.HTTPTransport, "handle_request", answer)
    with pytest.raises(StoreFailed):
        connect_to_chroma(url)
    assert calls[0] == f"{asked}/api/v2/heartbeat"
    assert len(calls) > 1
    assert all(where.startswith(f"{asked}/api/v2/") for where in calls)


def test_a_server_that_dies_leaves_the_words(tmp_path: Path, corpus: Corpus, repository: str):
    with run_chroma_server(tmp_path) as url:
        store = embed_corpus(corpus, repository, "c1", None, "local", partial(connect_to_chroma, url)).store
    assert isinstance(store, ChromaStore)
    assert is_shared(store._client)
    assert store.nearest(project_query(corpus, {"flush": 1.0}), 200) == {}
    with pytest.raises(StoreFailed):
        store.drop()


def test_no_chroma_at_all_leaves_the_words(corpus: Corpus, repository: str, monkeypatch: pytest.MonkeyPatch):
    from triage.code.vectors.chroma_package import InternalError

    def refuse(*words: object, **more: object) -> None:
        raise InternalError("no")

    monkeypatch.setattr(type(open_embedded_chroma()), "get_or_create_collection", refuse)
    made = embed_corpus(corpus, repository, None, None, "local")
    assert made.store is None
    assert made.notes == ["Chroma did not take the vectors (InternalError).", "The search goes by words alone."]


@pytest.mark.parametrize("url", ["", "chroma.example", "ftp://x", "http://", "file:///etc/passwd", "localhost:8000"])
def test_what_is_no_address(url: str):
    with pytest.raises(BadInput):
        connect_to_chroma(url)


def test_other_errors_are_not_swallowed():
    with pytest.raises(ZeroDivisionError), translate_chroma_errors():
        _ = 1 / 0
    with pytest.raises(StoreFailed, match="Exception"), translate_chroma_errors():
        raise Exception("<html>502</html>")


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


def test_chroma_finds_the_same_among_many(indexed_corpus: Corpus):
    rng = np.random.default_rng(7)
    rows = rng.standard_normal((600, 16)).astype(np.float32)
    key = VectorKey(f"acme/{uuid.uuid4().hex}", None, "local", 16)
    zeros = np.zeros(600, dtype=np.int32)
    many = replace(indexed_corpus, chunk_files=zeros, chunk_starts=zeros, chunk_ends=zeros, chunk_symbols=[None] * 600)
    store = ChromaStore(open_embedded_chroma(), key, many, range(600), rows)
    query = rng.standard_normal(16).astype(np.float32)
    expected = ExactStore(key, range(600), rows).nearest(query, 50)
    assert store.nearest(query, 50) == pytest.approx(expected, abs=1e-5)


@pytest.fixture
def indexed_corpus(tmp_path: Path) -> Corpus:
    return make_corpus(tmp_path, {"a.py": "x = 1\n"})
