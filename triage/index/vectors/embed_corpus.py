"""Vectors of chunks and queries: by an embedding model where one is given and answers, else by projection."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from triage.errors import BudgetExceeded, TriageError
from triage.index.corpus.corpus import Corpus
from triage.index.vectors.chroma_connection import StoreFailed, open_embedded_chroma
from triage.index.vectors.chroma_store import ChromaStore, VectorKey, digest_layout
from triage.index.vectors.exact_store import ExactStore
from triage.index.vectors.projection import project_chunks
from triage.index.vectors.vector_cache import VectorCache
from triage.text.clean_text import clean_text

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from langchain_core.embeddings import Embeddings

LOCAL = "local"
MAX_VECTORS = 20_000
"""By projection: adding them takes Chroma 4 seconds. What lies beyond is found by its words only."""
MAX_EMBEDDED = 4_000
"""By an endpoint, which is paid by the token."""
EMBED_SECONDS = 60.0
_BATCH = 96
_MAX_CHARS = 6_000
"""Of a chunk; common embedding models take about 8,000 tokens."""


class VectorStore(Protocol):
    """Vectors of one commit's chunks."""

    key: VectorKey
    size: int

    def nearest(self, vector: NDArray[np.float32], count: int) -> dict[int, float]:
        """Chunks by cosine similarity; none when that cannot be told."""

    def release(self) -> None:
        """We need it no more."""


@dataclass
class CorpusVectors:
    """The stored vectors, what made them, and what did not go as asked."""

    store: VectorStore | None = None
    embedding: str = LOCAL
    notes: list[str] = field(default_factory=list)


def embed_corpus(
    corpus: Corpus,
    repository: str,
    commit: str | None,
    model: "Embeddings | None",
    name: str,
    chroma: "Callable[[], ClientAPI] | None" = open_embedded_chroma,
    known: VectorCache | None = None,
) -> CorpusVectors:
    """Make and store vectors of the likely sources' chunks.

    A model that fails, or answers with something else than one vector for each text, is given up: the projection
    takes over, with a note. So does Chroma in this process for a server that fails.

    Args:
        corpus: The repository.
        repository: `owner/name`.
        commit: Full object id, if there is one.
        model: What makes vectors; without it they are made here.
        name: Of the model.
        chroma: Opens what stores them; without it they are compared here.
        known: What the model answered before.
    """
    made = CorpusVectors()
    chunks = _select_chunks(corpus)
    if not chunks:
        return made
    by_model = _embed_with_model(corpus, chunks[:MAX_EMBEDDED], model, known, made.notes)
    if by_model is not None:
        made.embedding = name
        places, rows = by_model
        if len(rows) < len(chunks):
            made.notes.append(f"The embedding model saw {len(rows)} of {len(chunks)} passages.")
        chunks = [chunks[place] for place in places]
    else:
        chunks = chunks[:MAX_VECTORS]
        rows = project_chunks(corpus, chunks)
    key = VectorKey(repository, commit, made.embedding, rows.shape[1], digest_layout(corpus, chunks))
    made.store = _store_vectors(chroma, key, corpus, chunks, rows, made.notes)
    return made


def _embed_with_model(
    corpus: Corpus, chunks: Sequence[int], model: "Embeddings | None", known: VectorCache | None, notes: list[str]
) -> tuple[list[int], NDArray[np.float32]] | None:
    """Which of the chunks have a vector, and the vectors."""
    if model is None:
        return None
    texts = list(_chunk_texts(corpus, chunks))
    try:
        try:
            return _embed_texts(model, texts, known)
        except DimensionsChanged:
            return _embed_texts(model, texts, known)  # what was known is forgotten
    except _embedding_errors() as error:
        notes.append(f"The embedding endpoint failed ({type(error).__name__}); local vectors stand in.")
        return None


def _store_vectors(
    chroma: "Callable[[], ClientAPI] | None",
    key: VectorKey,
    corpus: Corpus,
    chunks: Sequence[int],
    rows: NDArray[np.float32],
    notes: list[str],
) -> VectorStore | None:
    if chroma is None:
        return ExactStore(key, chunks, rows)
    tried: list[Callable[[], ClientAPI]] = (
        [chroma] if chroma is open_embedded_chroma else [chroma, open_embedded_chroma]
    )
    for opened in tried:
        try:
            return ChromaStore(opened(), key, corpus, chunks, rows)
        except StoreFailed as error:
            whose = "Chroma" if opened is open_embedded_chroma else "The Chroma server"
            notes.append(f"{whose} did not take the vectors ({error}).")
    notes.append("The search goes by words alone.")
    return None


def embed_query(model: "Embeddings", text: str) -> NDArray[np.float32] | None:
    """The vector of a search; none when the endpoint fails."""
    try:
        return _to_matrix([model.embed_query(text[:_MAX_CHARS])], 1).reshape(-1)
    except _embedding_errors():
        return None


def _select_chunks(corpus: Corpus) -> list[int]:
    """Chunks of likely sources; of everything in a repository without any."""
    found: list[int] = np.flatnonzero(corpus.product_files[corpus.chunk_files]).tolist()
    return found or list(range(len(corpus.chunk_files)))


def _chunk_texts(corpus: Corpus, chunks: Sequence[int]) -> Iterator[str]:
    """Path, symbol and lines of each chunk; a file is unpacked once for those side by side."""
    for number, alike in groupby(chunks, lambda chunk: int(corpus.chunk_files[chunk])):
        file = corpus.files[number]
        lines = file.read_lines()
        for chunk in alike:
            own = lines[corpus.chunk_starts[chunk] - 1 : corpus.chunk_ends[chunk]]
            yield "\n".join([f"{file.path} {corpus.chunk_symbols[chunk] or ''}", *own])[:_MAX_CHARS]


class DimensionsChanged(ValueError):
    """The model answers with vectors of another length than before."""


def _embed_texts(
    model: "Embeddings", texts: Sequence[str], known: VectorCache | None
) -> tuple[list[int], NDArray[np.float32]]:
    """Places and vectors of as many texts as time and budget allow, at least of the first batch."""
    latest = time.monotonic() + EMBED_SECONDS
    found = known.find(texts) if known else {}
    new = [place for place in range(len(texts)) if place not in found]
    for first in range(0, len(new), _BATCH):
        if found and time.monotonic() > latest:
            break
        part = new[first : first + _BATCH]
        try:
            rows = _embed_batch(model, [texts[place] for place in part])
        except BudgetExceeded:
            if not found:
                raise
            break
        if known:
            known.add([texts[place] for place in part], rows)
        if any(len(row) != rows.shape[1] for row in found.values()):
            raise DimensionsChanged
        found.update(zip(part, rows, strict=True))
    places = sorted(found)
    return places, _to_matrix([found[place] for place in places], len(places))


def _embed_batch(model: "Embeddings", texts: Sequence[str]) -> NDArray[np.float32]:
    """One vector for each text. Raises ValueError for anything else."""
    # What nobody sees is not to steer where a passage lies.
    answer = model.embed_documents([clean_text(text) for text in texts])
    if len(answer) != len(texts):
        raise ValueError("not one vector for each text")
    return _to_matrix(answer, len(texts))


def _to_matrix(rows: Sequence[Sequence[float] | NDArray[np.float32]], count: int) -> NDArray[np.float32]:
    matrix = np.array(rows, dtype=np.float32)
    if matrix.ndim != 2 or len(matrix) != count or not matrix.shape[1] or not np.isfinite(matrix).all():
        raise ValueError("vectors of different length, or not of numbers")
    return matrix


def _embedding_errors() -> tuple[type[Exception], ...]:
    """What an embeddings object raises when its endpoint fails."""
    from openai import OpenAIError

    return (TriageError, OpenAIError, OSError, ValueError, TypeError)
