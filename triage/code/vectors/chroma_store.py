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

from triage.base.threads import raise_if_abandoned
from triage.code.vectors.projection import Matrix

_GRAPH_WIDTH, _SEARCH_WIDTH = 30, 4_000
"""Number of candidates while the graph is built, and while it is searched.

Building costs seconds and searching milliseconds, so a wide search makes up for a thin graph. Up to 4,000 vectors, more
than most repositories have source files, every one is looked at, and the answer is the same in each run.
"""
_BATCH = 1_000
"""Vectors in one call. Chroma takes up to 5,461, but then needs 100 MB more and a third longer."""
_GRPC_EXPORTER = "opentelemetry.exporter.otlp.proto.grpc.trace_exporter"


class _NoExporter:
    def __init__(self, **options: object) -> None:
        raise NotImplementedError("Chroma's own tracing is not available here")


@contextmanager
def _without_grpc_exporter() -> Iterator[None]:
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

    def __init__(self, chunks: Sequence[int], vectors: Matrix) -> None:
        """Store one row of `vectors` for each number. Raises ChromaError."""
        self.size = len(chunks)
        digest = blake2b(np.asarray(chunks, dtype="<i8").tobytes(), digest_size=16)
        digest.update(repr(vectors.shape).encode() + np.ascontiguousarray(vectors, dtype="<f4").tobytes())
        self._collection = open_chroma().get_or_create_collection(
            f"triage-{digest.hexdigest()}",
            embedding_function=None,
            configuration={
                "hnsw": {"space": "cosine", "ef_construction": _GRAPH_WIDTH, "ef_search": _SEARCH_WIDTH},
            },
        )
        if self._collection.count() < self.size:
            for first in range(0, self.size, _BATCH):
                raise_if_abandoned()
                names = [str(chunk) for chunk in chunks[first : first + _BATCH]]
                self._collection.upsert(ids=names, embeddings=vectors[first : first + _BATCH])

    def nearest(self, vector: Matrix, count: int) -> dict[int, float]:
        """Return the nearest chunks with their cosine similarity, from -1 to 1; empty when Chroma fails."""
        if not self.size or not vector.any():
            return {}
        try:
            found = self._collection.query(
                query_embeddings=vector, n_results=min(count, self.size), include=["distances"]
            )
        except (ChromaError, ValueError):  # a query of another length than the vectors, from an endpoint that changed
            return {}
        distances = zip(found["ids"][0], (found["distances"] or [])[0], strict=True)
        return {int(name): min(1.0, max(-1.0, 1 - float(distance))) for name, distance in distances}
