"""Stores chunk vectors in Chroma, or in numpy, without the texts, which would triple time and memory."""

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from triage.base.threads import raise_if_abandoned

Matrix = NDArray[np.float32]

_GRAPH_WIDTH, _SEARCH_WIDTH = 30, 4_000
"""Number of candidates while the graph is built, and while it is searched.

Building costs seconds and searching milliseconds, so a wide search makes up for a thin graph. Up to 4,000 vectors, more
than most repositories have source files, every one is looked at, and the answer is the same in each run.
"""
_BATCH = 1_000
"""Vectors in one call. Chroma takes up to 5,461, but then needs 100 MB more and a third longer."""
LOCAL = "local"
"""Name of the projection, which makes one vector of a file; an embedding model makes one of a chunk."""


class ChromaStore:
    """One collection in memory. It is named by its content: the same vectors are stored once."""

    def __init__(self, chunks: Sequence[int], vectors: Matrix) -> None:
        """Store one row of `vectors` for each number. Raises ChromaError."""
        from triage.code.vectors.chroma_package import open_chroma

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
        from triage.code.vectors.chroma_package import ChromaError

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


class ExactStore:
    def __init__(self, chunks: Sequence[int], vectors: NDArray[np.float32]) -> None:
        self.size = len(chunks)
        self._chunks = np.array(chunks, dtype=np.int64)
        self._rows = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.float32(1e-30))

    def nearest(self, vector: NDArray[np.float32], count: int) -> dict[int, float]:
        """Return the nearest chunks with their cosine similarity; empty for a vector of another length."""
        if not self.size or not vector.any() or vector.shape != self._rows.shape[1:]:
            return {}
        similarities = self._rows @ (vector / np.linalg.norm(vector))
        best = np.argsort(-similarities, kind="stable")[:count]
        return dict(zip(self._chunks[best].tolist(), similarities[best].tolist(), strict=True))
