"""The chunk vectors in Chroma. Text stays in the corpus: stored there too, it would triple time and memory."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from triage.index.corpus import Corpus

if TYPE_CHECKING:
    from chromadb.api import ClientAPI

_SEARCH_WIDTH = 400
"""Candidates that the graph search keeps; at the default of 100 it cannot find 200 neighbours well."""


@dataclass(frozen=True)
class Key:
    """What vectors belong to."""

    repository: str
    commit: str | None
    embedding: str
    dimensions: int

    @property
    def name(self) -> str:
        """A collection name that Chroma takes (3 to 512 of `a-zA-Z0-9._-`, an alphanumeric at both ends), unique."""
        readable = re.sub(r"[^a-zA-Z0-9]+", "-", f"{self.repository}-{(self.commit or 'folder')[:12]}")[-60:].strip("-")
        exact = "\0".join([self.repository, self.commit or "", self.embedding, str(self.dimensions)])
        digest = blake2b(exact.encode("utf-8", "replace"), digest_size=8).hexdigest()
        return f"triage-{readable}-{self.dimensions}-{digest}"


class VectorStore:
    """One collection. All stores of a process share Chroma's memory; making one replaces what had the same key."""

    def __init__(self, key: Key, corpus: Corpus, chunks: Sequence[int], vectors: NDArray[np.float32]) -> None:
        """Add the vectors of these chunks.

        Raises:
            chromadb.errors.ChromaError: Chroma refused them.
        """
        self.key = key
        self.size = len(chunks)
        self.drop()
        self._collection = _client().create_collection(
            key.name,
            embedding_function=None,
            configuration={"hnsw": {"space": "cosine", "ef_search": _SEARCH_WIDTH}},
            metadata={"repository": key.repository, "commit": key.commit or "", "embedding": key.embedding},
        )
        batch = _client().get_max_batch_size()
        for first in range(0, len(chunks), batch):
            part = chunks[first : first + batch]
            self._collection.add(
                ids=[str(chunk) for chunk in part],
                embeddings=vectors[first : first + batch],
                metadatas=[_metadata(corpus, chunk) for chunk in part],
            )

    def nearest(self, vector: NDArray[np.float32], count: int) -> dict[int, float]:
        """Chunks by cosine similarity."""
        if not self.size or not vector.any():
            return {}
        found = self._collection.query(query_embeddings=vector, n_results=min(count, self.size), include=["distances"])
        assert found["distances"] is not None
        return {
            int(chunk): 1 - distance for chunk, distance in zip(found["ids"][0], found["distances"][0], strict=True)
        }

    def drop(self) -> None:
        """Forget what is stored under the key."""
        from chromadb.errors import NotFoundError

        try:
            _client().delete_collection(self.key.name)
        except NotFoundError:
            return


def _metadata(corpus: Corpus, chunk: int) -> Mapping[str, str | int]:
    return {
        "path": corpus.files[corpus.chunk_files[chunk]].path,
        "start": int(corpus.chunk_starts[chunk]),
        "end": int(corpus.chunk_ends[chunk]),
        "symbol": corpus.chunk_symbols[chunk] or "",
    }


@cache
def _client() -> "ClientAPI":
    import chromadb
    from chromadb.config import Settings

    return chromadb.EphemeralClient(settings=Settings(anonymized_telemetry=False))
