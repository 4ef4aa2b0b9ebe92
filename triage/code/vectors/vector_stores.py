"""Stores chunk vectors in Chroma, or in numpy, without the texts, which would triple time and memory."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from triage.base.threads import raise_if_abandoned
from triage.code.words.corpus import Corpus

if TYPE_CHECKING:
    from triage.code.vectors.chroma_package import Collection


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


@dataclass(frozen=True)
class VectorKey:
    repository: str
    commit: str | None
    embedding: str
    dimensions: int
    layout: str = ""
    """Digest of the chunks: one commit may be cut differently in two runs, where parsing took too long in one."""

    @property
    def collection_name(self) -> str:
        """A unique name that Chroma accepts: 3 to 512 of `a-zA-Z0-9._-`, with an alphanumeric at both ends."""
        readable = re.sub(r"[^a-zA-Z0-9]+", "-", f"{self.repository}-{(self.commit or 'folder')[:12]}")[-60:].strip("-")
        exact = "\0".join([self.repository, self.commit or "", self.embedding, str(self.dimensions), self.layout])
        digest = blake2b(exact.encode("utf-8", "replace"), digest_size=8).hexdigest()
        return f"triage-{readable}-{self.dimensions}-{digest}"


class ChromaStore:
    """One collection in memory. A complete one with the same key is reused."""

    def __init__(self, key: VectorKey, corpus: Corpus | None, chunks: Sequence[int], vectors: Matrix) -> None:
        """Store one row of `vectors` for each chunk, or for each number without a corpus. Raises ChromaError."""
        self.key = key
        self.size = len(chunks)
        self._collection = self._open_collection()
        if self._collection.count() < self.size:
            self._add_vectors(corpus, chunks, vectors)

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

    def _open_collection(self) -> "Collection":
        from triage.code.vectors.chroma_package import open_chroma

        collection = self._get_or_create()
        # A folder without git has no commit: the collection may be of another state of it.
        if collection.count() and (self.key.commit is None or collection.count() > self.size):
            open_chroma().delete_collection(self.key.collection_name)
            return self._get_or_create()
        return collection

    def _get_or_create(self) -> "Collection":
        from triage.code.vectors.chroma_package import open_chroma

        key = self.key
        return open_chroma().get_or_create_collection(
            key.collection_name,
            embedding_function=None,
            configuration={
                "hnsw": {"space": "cosine", "ef_construction": _GRAPH_WIDTH, "ef_search": _SEARCH_WIDTH},
            },
            metadata={"repository": key.repository, "commit": key.commit or "", "embedding": key.embedding},
        )

    def _add_vectors(self, corpus: Corpus | None, chunks: Sequence[int], vectors: Matrix) -> None:
        for first in range(0, len(chunks), _BATCH):
            raise_if_abandoned()
            batch = chunks[first : first + _BATCH]
            self._collection.upsert(
                ids=[str(chunk) for chunk in batch],
                embeddings=vectors[first : first + _BATCH],
                metadatas=[_make_metadata(corpus, chunk, self.key) for chunk in batch] if corpus else None,
            )


def digest_layout(corpus: Corpus, chunks: Sequence[int]) -> str:
    """Return a digest of the lines of these chunks and of the paths of all files."""
    digest = blake2b("\0".join(file.path for file in corpus.files).encode(), digest_size=8)
    for column in (corpus.chunk_files, corpus.chunk_starts, corpus.chunk_ends):
        digest.update(np.ascontiguousarray(column[list(chunks)], dtype="<i4").tobytes())
    return digest.hexdigest()


def _make_metadata(corpus: Corpus, chunk: int, key: VectorKey) -> Mapping[str, str | int]:
    path = corpus.files[corpus.chunk_files[chunk]].path
    if key.embedding == LOCAL:
        return {"path": path}
    return {
        "path": path,
        "start": int(corpus.chunk_starts[chunk]),
        "end": int(corpus.chunk_ends[chunk]),
        "symbol": corpus.chunk_symbols[chunk] or "",
    }


class ExactStore:
    def __init__(self, key: VectorKey, chunks: Sequence[int], vectors: NDArray[np.float32]) -> None:
        self.key = key
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
