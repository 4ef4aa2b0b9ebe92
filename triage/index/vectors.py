"""Vectors of chunks and queries: by an embedding model where one is given and answers, else by projection."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from triage.errors import BudgetSpent, TriageError
from triage.index.chroma import StoreFailed, embedded
from triage.index.corpus import Corpus
from triage.index.projection import projected_chunks
from triage.index.store import Key, VectorStore, layout_of

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


@dataclass
class Vectors:
    """The stored vectors, what made them, and what did not go as asked."""

    store: VectorStore | None = None
    embedding: str = LOCAL
    notes: list[str] = field(default_factory=list)


def embed(
    corpus: Corpus,
    repository: str,
    commit: str | None,
    model: "Embeddings | None",
    name: str,
    chroma: "Callable[[], ClientAPI]" = embedded,
) -> Vectors:
    """Make and store vectors of the likely sources' chunks.

    A model that fails, or answers with something else than one vector for each text, is given up: the projection
    takes over, with a note. So does Chroma in this process for a server that fails.

    Args:
        corpus: The repository.
        repository: `owner/name`.
        commit: Full object id, if there is one.
        model: What makes vectors; without it they are made here.
        name: Of the model.
        chroma: Opens what stores them.
    """
    made = Vectors()
    chunks = _worth_storing(corpus)
    if not chunks:
        return made
    rows = _by_model(corpus, chunks[:MAX_EMBEDDED], model, made.notes)
    if rows is not None:
        made.embedding = name
        if len(rows) < len(chunks):
            made.notes.append(f"The embedding model saw {len(rows)} of {len(chunks)} passages.")
        chunks = chunks[: len(rows)]
    else:
        chunks = chunks[:MAX_VECTORS]
        rows = projected_chunks(corpus, chunks)
    key = Key(repository, commit, made.embedding, rows.shape[1], layout_of(corpus, chunks))
    made.store = _stored(chroma, key, corpus, chunks, rows, made.notes)
    return made


def _by_model(
    corpus: Corpus, chunks: Sequence[int], model: "Embeddings | None", notes: list[str]
) -> NDArray[np.float32] | None:
    if model is None:
        return None
    try:
        return _asked(model, [_text_of(corpus, chunk) for chunk in chunks])
    except _faults() as error:
        notes.append(f"The embedding endpoint failed ({type(error).__name__}); local vectors stand in.")
        return None


def _stored(
    chroma: "Callable[[], ClientAPI]",
    key: Key,
    corpus: Corpus,
    chunks: Sequence[int],
    rows: NDArray[np.float32],
    notes: list[str],
) -> VectorStore | None:
    tried: list[Callable[[], ClientAPI]] = [chroma] if chroma is embedded else [chroma, embedded]
    for opened in tried:
        try:
            return VectorStore(opened(), key, corpus, chunks, rows)
        except StoreFailed as error:
            whose = "Chroma" if opened is embedded else "The Chroma server"
            notes.append(f"{whose} did not take the vectors ({error}).")
    notes.append("The search goes by words alone.")
    return None


def embedded_query(model: "Embeddings", text: str) -> NDArray[np.float32] | None:
    """The vector of a search; none when the endpoint fails."""
    try:
        return _matrix([model.embed_query(text[:_MAX_CHARS])], 1).reshape(-1)
    except _faults():
        return None


def _worth_storing(corpus: Corpus) -> list[int]:
    """Chunks of likely sources; of everything in a repository without any."""
    found: list[int] = np.flatnonzero(corpus.likely[corpus.chunk_files]).tolist()
    return found or list(range(len(corpus.chunk_files)))


def _text_of(corpus: Corpus, chunk: int) -> str:
    """Path, symbol and lines."""
    file = corpus.files[corpus.chunk_files[chunk]]
    lines = file.lines()[corpus.chunk_starts[chunk] - 1 : corpus.chunk_ends[chunk]]
    return "\n".join([f"{file.path} {corpus.chunk_symbols[chunk] or ''}", *lines])[:_MAX_CHARS]


def _asked(model: "Embeddings", texts: Sequence[str]) -> NDArray[np.float32]:
    """Vectors of as many texts as time and budget allow, at least of the first batch."""
    latest = time.monotonic() + EMBED_SECONDS
    rows: list[list[float]] = []
    for first in range(0, len(texts), _BATCH):
        if first and time.monotonic() > latest:
            break
        part = list(texts[first : first + _BATCH])
        try:
            answer = model.embed_documents(part)
        except BudgetSpent:
            if not rows:
                raise
            break
        if len(answer) != len(part):
            raise ValueError("not one vector for each text")
        rows += answer
    return _matrix(rows, len(rows))


def _matrix(rows: Sequence[Sequence[float]], count: int) -> NDArray[np.float32]:
    matrix = np.array(rows, dtype=np.float32)
    if matrix.ndim != 2 or len(matrix) != count or not matrix.shape[1] or not np.isfinite(matrix).all():
        raise ValueError("vectors of different length, or not of numbers")
    return matrix


def _faults() -> tuple[type[Exception], ...]:
    """What an embeddings object raises when its endpoint fails."""
    from openai import OpenAIError

    return (TriageError, OpenAIError, OSError, ValueError, TypeError)
