"""Stores vectors in Chroma, in this process, without the texts, which would triple time and memory.

Only this module imports Chroma first; that takes half a second.

chromadb 1.5.9 can trace itself. For that it imports OpenTelemetry's gRPC exporter, whether or not tracing is on
(`chromadb/telemetry/opentelemetry/__init__.py`), and we never turn it on. So another module stands in for the exporter
while chromadb is imported: gRPC is not loaded, and `requirements-excluded.txt` can leave out its 19 MB. If a release of
chromadb imports gRPC elsewhere, this module cannot be imported, and the tests of the vectors fail.
"""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from hashlib import blake2b
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from triage.base.threads import raise_if_abandoned

_GRAPH_WIDTH, _EDGES, _SEARCH_WIDTH = 30, 64, 10_000
"""Candidates while the graph is built, edges of a vector, and candidates while it is searched.

So every vector of an index (`embed_corpus.MAX_VECTORS`) is looked at: of Django's 4,606 different ones all are reached,
and 41 of 41 searches find what a comparison one by one finds, for 0.4 CPU seconds. With 16 edges it was 20 of 41, other
ones in each run, for 0.25. Equal vectors are stored once, for they tear the graph apart.
"""
_BATCH = 1_000
"""Vectors in one call. Chroma takes up to 5,461, but then needs 100 MB more and a third longer."""
_GRPC_EXPORTER = "opentelemetry.exporter.otlp.proto.grpc.trace_exporter"


class _NoExporter:
    def __init__(self, **options: object) -> None:
        raise NotImplementedError("Chroma's own tracing is not available here")


@contextmanager
def _without_grpc_exporter() -> Iterator[None]:
    """Let Chroma be imported without its exporter over gRPC, which it never uses here."""
    if _GRPC_EXPORTER in sys.modules:
        yield
        return
    stub_module = ModuleType(_GRPC_EXPORTER)
    vars(stub_module)["OTLPSpanExporter"] = _NoExporter
    sys.modules[_GRPC_EXPORTER] = stub_module
    try:
        yield
    finally:
        del sys.modules[_GRPC_EXPORTER]


with _without_grpc_exporter():
    from chromadb import EphemeralClient
    from chromadb.api import ClientAPI
    from chromadb.config import Settings
    from chromadb.errors import ChromaError

__all__ = ["ChromaError", "ChromaStore", "open_chroma"]


@cache
def open_chroma() -> ClientAPI:
    """Return Chroma in this process's memory, shared by the whole process."""
    return EphemeralClient(settings=Settings(anonymized_telemetry=False, chroma_otel_granularity=None))


class ChromaStore:
    """One collection in memory. It is named by its content: the same vectors are stored once."""

    def __init__(self, chunks: Sequence[int], vectors: NDArray[np.float32]) -> None:
        """Store one row of `vectors` for each number. Raises ChromaError."""
        self._chunks: dict[str, list[int]] = {}  # by the name of their vector, which is that of the first
        names: dict[bytes, str] = {}
        for chunk, row in zip(chunks, np.ascontiguousarray(vectors, dtype="<f4"), strict=True):
            self._chunks.setdefault(names.setdefault(row.tobytes(), str(chunk)), []).append(chunk)
        self.size = len(chunks)
        digest = blake2b(repr((vectors.shape, list(names.values()))).encode() + b"".join(names), digest_size=16)
        self._collection = open_chroma().get_or_create_collection(
            f"triage-{digest.hexdigest()}",
            embedding_function=None,
            configuration={
                "hnsw": {
                    "space": "cosine",
                    "ef_construction": _GRAPH_WIDTH,
                    "max_neighbors": _EDGES,
                    "ef_search": _SEARCH_WIDTH,
                },
            },
        )
        if self._collection.count() < len(names):
            rows = np.frombuffer(b"".join(names), dtype="<f4").reshape(len(names), -1)
            for first in range(0, len(names), _BATCH):
                raise_if_abandoned()
                ids = list(names.values())[first : first + _BATCH]
                self._collection.upsert(ids=ids, embeddings=rows[first : first + _BATCH])

    def nearest(self, vector: NDArray[np.float32], count: int) -> dict[int, float]:
        """Return the nearest chunks with their cosine similarity, from -1 to 1; empty when Chroma fails."""
        if not self.size or not vector.any():
            return {}
        try:
            found = self._collection.query(
                query_embeddings=vector, n_results=min(count, len(self._chunks)), include=["distances"]
            )
        except (ChromaError, ValueError):  # a query of another length than the vectors, from an endpoint that changed
            return {}
        distances = zip(found["ids"][0], (found["distances"] or [])[0], strict=True)
        similarities = ((min(1.0, max(-1.0, 1 - float(distance))), name) for name, distance in distances)
        ranked = sorted((-similarity, chunk) for similarity, name in similarities for chunk in self._chunks[name])
        return {chunk: -negated for negated, chunk in ranked[:count]}
