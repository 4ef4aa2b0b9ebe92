"""What a Chroma server may answer: without end, compressed, or something else than was asked for."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from testing.each_row import each_row
from testing.servers.endless_body import EndlessBody
from testing.servers.http_server import QuietHandler, serve_http
from tests.code.indexes import make_corpus
from tests.code.project import PROJECT
from triage.code.vectors.chroma_connection import StoreFailed, connect_to_chroma
from triage.code.vectors.chroma_http import MAX_RESPONSE_BYTES
from triage.code.vectors.vector_stores import ChromaStore, VectorKey
from triage.code.words.corpus import Corpus

BUFFERS = 8_000_000
"""What the connection holds that nobody has read."""
COLLECTION: dict[str, Any] = {
    "id": "0b9c2c5e-0000-4000-8000-000000000000",
    "name": "one",
    "configuration_json": {},
    "metadata": None,
    "dimension": 4,
    "tenant": "default_tenant",
    "database": "default_database",
}
USUAL: dict[str, Any] = {
    "heartbeat": {"nanosecond heartbeat": 1},
    "default_database": {"id": COLLECTION["id"], "name": "default_database", "tenant": "default_tenant"},
    "pre-flight-checks": {"max_batch_size": 1_000},
    "identity": {"user_id": "", "tenant": "default_tenant", "databases": ["default_database"]},
    "POST collections": COLLECTION,
    "GET collections": [],
    "count": 2,
    "upsert": {},
    "query": {"ids": [["0", "1"]], "distances": [[0.25, 0.5]], "include": ["distances"]},
}


@contextmanager
def serve_chroma(changes: dict[str, Any], headers: dict[str, str] | None = None) -> Iterator[str]:
    """A server with these answers by the last part of the path; bytes and endless bodies are sent as they are."""

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            self.answer()

        def do_POST(self) -> None:
            self.answer()

        def answer(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            name = self.path.partition("?")[0].rpartition("/")[2]
            answers = USUAL | changes
            answer = answers.get(f"{self.command} {name}", answers.get(name))
            if isinstance(answer, EndlessBody):
                answer.send(self)
                return
            data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(200)
            for header, value in {"content-length": str(len(data)), **(headers or {})}.items():
                self.send_header(header, value)
            self.end_headers()
            self.wfile.write(data)

    with serve_http(Handler) as url:
        yield url


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return make_corpus(tmp_path_factory.mktemp("project"), PROJECT)


def find_nearest(url: str, corpus: Corpus) -> dict[int, float]:
    vectors = np.eye(2, 4, dtype=np.float32)
    key = VectorKey("o/r", "c1", "local", 4)
    return ChromaStore(connect_to_chroma(url), key, corpus, [0, 1], vectors).nearest(vectors[0], 2)


def test_the_usual_answers_are_understood(corpus: Corpus):
    with serve_chroma({}) as url:
        assert find_nearest(url, corpus) == {0: 0.75, 1: 0.5}


@pytest.mark.parametrize("name", ["default_database", "POST collections", "count", "GET collections"])
def test_no_more_than_8_megabytes_are_read(name: str, corpus: Corpus):
    body = EndlessBody()
    with serve_chroma({name: body}) as url, pytest.raises(StoreFailed, match="answer larger than 8 MB"):
        find_nearest(url, corpus)
    assert abs(body.sent_bytes - MAX_RESPONSE_BYTES) < BUFFERS


def test_a_search_goes_on_without_an_answer_that_is_too_large(corpus: Corpus):
    with serve_chroma({"query": EndlessBody()}) as url:
        assert find_nearest(url, corpus) == {}


def test_a_compressed_answer_is_refused_unread(corpus: Corpus):
    body = EndlessBody(gzipped=True)
    with serve_chroma({"count": body}) as url, pytest.raises(StoreFailed, match="DecodingError"):
        find_nearest(url, corpus)
    assert body.sent_bytes < BUFFERS


@each_row("name", ["default_database", "POST collections", "count", "GET collections", "query"])
@each_row(
    "answer",
    [
        *(b"[" * 100_000, b"[" * 900 + b"]" * 900, b'{"a":' * 500 + b"1" + b"}" * 500),
        *(b"{", b"[]", b"5", b'"x"', b"null", b"[null]", b"[{}]", b"{}"),
    ],
)
def test_another_answer_costs_the_vectors_only(name: str, answer: bytes, corpus: Corpus):
    with serve_chroma({name: answer}) as url:
        try:
            found = find_nearest(url, corpus)
        except StoreFailed:
            return
    assert found in ({}, {0: 0.75, 1: 0.5})


@each_row(
    ("answer", "found"),
    [
        (b'{"ids": [["0", "1"]], "distances": [[-1e308, 1e308]]}', {0: 1.0, 1: -1.0}),
        (b'{"ids": [["0", "1"]], "distances": [["0.5", "nan"]]}', {0: 0.5}),
        (b'{"ids": [["0", "7"]], "distances": [[0.5, 0.5]]}', {0: 0.5}),
        (b'{"ids": [["0"]], "distances": [[null]]}', {}),
        (b'{"ids": [["0", "1"]], "distances": [[0.5]]}', {}),
        (b'{"ids": [[["0"]]], "distances": [[0.5]]}', {}),
        (b'{"ids": [["0"]], "distances": null}', {}),
        (b'{"ids": [], "distances": []}', {}),
    ],
)
def test_similarities_are_finite_and_bounded(answer: bytes, found: dict[int, float], corpus: Corpus):
    with serve_chroma({"query": answer}) as url:
        assert find_nearest(url, corpus) == found
