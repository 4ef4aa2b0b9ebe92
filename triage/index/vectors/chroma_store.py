"""The chunk vectors in Chroma. Text stays in the corpus: stored there too, it would triple time and memory."""

import re
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from triage.index.corpus.corpus import Corpus
from triage.index.vectors.chroma_connection import StoreFailed, is_shared, translate_chroma_errors
from triage.threads import raise_if_abandoned

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection

_GRAPH_WIDTH, _SEARCH_WIDTH = 30, 4_000
"""Candidates kept while the graph is built, and while it is searched.

Building costs seconds and searching milliseconds, so the search makes good what a thin graph lacks. Of the 200 nearest
of 11,592 chunks (Django, 60 issues) so found are 99.6 %, built in 2.0 seconds of one core; with the defaults for
building and a search of 400, 93 % in 4.9.
"""
_BATCH = 1_000
"""At once; Chroma takes 5,461, but needs a hundred megabytes more and a third longer then."""
_STALE_SECONDS = 86_400
"""Age at which another commit's vectors on a server are nobody's: a job ends within hours."""


@dataclass(frozen=True)
class VectorKey:
    """What vectors belong to."""

    repository: str
    commit: str | None
    embedding: str
    dimensions: int
    layout: str = ""
    """Tells how the commit was cut: what took too long to parse, or was too much, may differ from run to run."""

    @property
    def collection_name(self) -> str:
        """A collection name that Chroma takes (3 to 512 of `a-zA-Z0-9._-`, an alphanumeric at both ends), unique."""
        readable = re.sub(r"[^a-zA-Z0-9]+", "-", f"{self.repository}-{(self.commit or 'folder')[:12]}")[-60:].strip("-")
        exact = "\0".join([self.repository, self.commit or "", self.embedding, str(self.dimensions), self.layout])
        digest = blake2b(exact.encode("utf-8", "replace"), digest_size=8).hexdigest()
        return f"triage-{readable}-{self.dimensions}-{digest}"


class ChromaStore:
    """One collection, in memory or on a server. What is there under the same key is taken over where it is whole."""

    def __init__(
        self, client: "ClientAPI", key: VectorKey, corpus: Corpus, chunks: Sequence[int], vectors: NDArray[np.float32]
    ) -> None:
        """Add the vectors of these chunks.

        Raises:
            StoreFailed: Chroma refused them, or cannot be reached.
        """
        self.key = key
        self.size = len(chunks)
        self._stored = {str(chunk): int(chunk) for chunk in chunks}
        self._client = client
        with translate_chroma_errors():
            self._collection = self._opened()
            if self._collection.count() < self.size:
                self._add(corpus, chunks, vectors)
            if is_shared(client):
                self._sweep()

    def nearest(self, vector: NDArray[np.float32], count: int) -> dict[int, float]:
        """Chunks by cosine similarity; none when Chroma fails."""
        if not self.size or not vector.any():
            return {}
        try:
            with translate_chroma_errors():
                found = self._collection.query(
                    query_embeddings=vector, n_results=min(count, self.size), include=["distances"]
                )
        except StoreFailed:
            return {}
        assert found["distances"] is not None
        # A server that others may write to can hold what we did not store.
        return {
            self._stored[known]: 1 - distance
            for known, distance in zip(found["ids"][0], found["distances"][0], strict=True)
            if known in self._stored
        }

    def drop(self) -> None:
        """Forget what is stored under the key. Raises StoreFailed."""
        from chromadb.errors import NotFoundError

        with translate_chroma_errors():
            try:
                self._client.delete_collection(self.key.collection_name)
            except NotFoundError:
                return

    def release(self) -> None:
        """We need it no more: drop it, unless others may."""
        if not is_shared(self._client):
            with suppress(StoreFailed):
                self.drop()

    def _opened(self) -> "Collection":
        """The collection. A folder's may hold another state of it, and is made anew."""
        collection = self._collected()
        if collection.count() and (self.key.commit is None or collection.count() > self.size):
            self.drop()
            return self._collected()
        return collection

    def _collected(self) -> "Collection":
        key = self.key
        return self._client.get_or_create_collection(
            key.collection_name,
            embedding_function=None,
            configuration={
                "hnsw": {"space": "cosine", "ef_construction": _GRAPH_WIDTH, "ef_search": _SEARCH_WIDTH},
            },
            metadata={
                "repository": key.repository,
                "commit": key.commit or "",
                "embedding": key.embedding,
                "made": int(time.time()),
            },
        )

    def _add(self, corpus: Corpus, chunks: Sequence[int], vectors: NDArray[np.float32]) -> None:
        for first in range(0, len(chunks), _BATCH):
            raise_if_abandoned()
            part = chunks[first : first + _BATCH]
            # Not `add`: on a server another job may be writing the same.
            self._collection.upsert(
                ids=[str(chunk) for chunk in part],
                embeddings=vectors[first : first + _BATCH],
                metadatas=[_metadata(corpus, chunk) for chunk in part],
            )

    def _sweep(self) -> None:
        """Drop this repository's older commits."""
        for other in self._client.list_collections():
            about = other.metadata or {}
            if about.get("repository") != self.key.repository or other.name == self.key.collection_name:
                continue
            if int(str(about.get("made", 0))) < time.time() - _STALE_SECONDS:
                self._client.delete_collection(other.name)


def digest_layout(corpus: Corpus, chunks: Sequence[int]) -> str:
    """A digest of where these chunks stand, and of the files that were indexed."""
    digest = blake2b("\0".join(file.path for file in corpus.files).encode(), digest_size=8)
    for column in (corpus.chunk_files, corpus.chunk_starts, corpus.chunk_ends):
        digest.update(np.ascontiguousarray(column[list(chunks)], dtype="<i4").tobytes())
    return digest.hexdigest()


def _metadata(corpus: Corpus, chunk: int) -> Mapping[str, str | int]:
    return {
        "path": corpus.files[corpus.chunk_files[chunk]].path,
        "start": int(corpus.chunk_starts[chunk]),
        "end": int(corpus.chunk_ends[chunk]),
        "symbol": corpus.chunk_symbols[chunk] or "",
    }
