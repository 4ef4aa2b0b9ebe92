"""chromadb sends every request by the HTTP client that it is given, also a future version of it."""

from pathlib import Path

import httpx
import numpy as np
import pytest

from tests.code.chroma_server import run_chroma_server
from triage.base.network import DIRECT
from triage.code.vectors.chroma_http import ChromaServer, create_http_client
from triage.code.vectors.chroma_package import Settings


def test_every_request_goes_by_the_given_http_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    requests: list[str] = []

    def note(request: httpx.Request) -> None:
        requests.append(f"{request.method} {request.url.path.rpartition('/')[2]}")

    # A client of chromadb's own would read these, and fail.
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    with run_chroma_server(tmp_path) as url:
        http_client = create_http_client(url, DIRECT, 60.0, 10.0)
        http_client.event_hooks = {**http_client.event_hooks, "request": [note]}
        settings = Settings(
            anonymized_telemetry=False,
            chroma_api_impl="chromadb.api.fastapi.FastAPI",
            chroma_server_host=url,
            chroma_server_http_port=int(url.rpartition(":")[2]),
        )
        server = ChromaServer(settings, http_client)
        collection = server.get_or_create_collection("one", metadata={"made": 1})
        vectors = np.eye(2, dtype=np.float32)
        collection.upsert(ids=["a", "b"], embeddings=vectors, metadatas=[{"path": "x"}] * 2)
        assert collection.count() == 2
        assert collection.query(query_embeddings=vectors[:1], n_results=1, include=["distances"])["ids"] == [["a"]]
        assert [(one.name, one.metadata) for one in server.list_collections()] == [("one", {"made": 1})]
        server.delete_collection("one")
        assert server.list_collections() == []
    assert [one for one in requests if "pre-flight" not in one] == [
        "GET default_database",
        "POST collections",
        "POST upsert",
        "GET count",
        "POST query",
        "GET collections",
        "DELETE one",
        "GET collections",
    ]
