"""Makes vectors: of each chunk with an embedding model where one is given and answers, else by projection.

Projected vectors only add candidates to the ranking. Everything that was tried to make them count more left it as it
was or made it worse (docs/localization.md), so there is one for a file, and one for a section of the documentation.
A hash of each term chooses four dimensions and their signs. The inner product of two projections of BM25 weights
estimates that of the full vectors, and every process computes the same ones.
"""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from triage.base.errors import BudgetExceeded, TriageError
from triage.find.words.corpus import Corpus
from triage.safety.clean_text import clean_text

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

    from triage.find.vectors.chroma_store import ChromaStore

Matrix = NDArray[np.float32]
DIMENSIONS = 256
_HASHES = 4
_BITS = 10
"""Of the term's hash, for each of them: the lowest choose the dimension, the highest the sign."""
_BLOCK = 4_096
"""Rows at once, to save memory."""


def project_chunks(corpus: Corpus, rows_by_chunk: NDArray[np.int32], count: int) -> Matrix:
    """Return so many rows of `DIMENSIONS`, each the sum of its chunks. A chunk of row -1 has none."""
    scores = corpus.by_chunk
    rows = rows_by_chunk[scores.documents]
    pairs = np.flatnonzero(rows >= 0)
    rows, values = rows[pairs], scores.saturated_counts[pairs]
    terms = (np.searchsorted(scores.starts, pairs, side="right") - 1).astype(np.int32)
    hashes = _hash_terms(corpus.vocabulary.terms)
    vectors = np.zeros((count, DIMENSIONS), dtype=np.float32)
    for first in range(0, count, _BLOCK):
        block = vectors[first : first + _BLOCK]
        here = np.flatnonzero((rows >= first) & (rows < first + len(block)))
        _add_projections(block, rows[here] - first, hashes[terms[here]], values[here])
    return vectors


def embed_query_locally(corpus: Corpus, weights: Mapping[str, float]) -> Matrix:
    """Return the projection of the terms of a query that the repository has."""
    known = {term: number for term in weights if (number := corpus.vocabulary.find_number(term)) is not None}
    values = [weights[term] * float(corpus.by_chunk.idf[number]) for term, number in known.items()]
    vector: Matrix = np.zeros((1, DIMENSIONS), dtype=np.float32)
    _add_projections(vector, np.zeros(len(known), dtype=np.int32), _hash_terms(known), np.array(values, np.float32))
    return vector.reshape(DIMENSIONS)


def _hash_terms(terms: Iterable[str]) -> NDArray[np.uint64]:
    joined = b"".join(blake2b(term.encode("utf-8", "replace"), digest_size=8).digest() for term in terms)
    return np.frombuffer(joined, dtype="<u8").astype(np.uint64)


def _add_projections(
    vectors: Matrix,
    rows: NDArray[np.int32],
    hashes: NDArray[np.uint64],
    values: Matrix,
) -> None:
    """Add the value of each term to some cells of its row of `vectors`, with a sign, both chosen by its hash."""
    for number in range(_HASHES):
        bits = (hashes >> np.uint64(number * _BITS)).astype(np.int64)
        cells = rows.astype(np.int64) * DIMENSIONS + (bits & (DIMENSIONS - 1))
        signed = np.where(bits >> 9 & 1, values, -values)
        vectors += np.bincount(cells, weights=signed, minlength=vectors.size).reshape(vectors.shape).astype(np.float32)


LOCAL = "local"
"""Name of the projection; an embedding model makes one vector of a chunk of code."""
MAX_VECTORS = 10_000
"""By projection; Chroma needs 2 seconds for them. Further files and sections are found by their words only."""
MAX_EMBEDDED = 4_000
"""By an embedding model, which is paid by the token."""
EMBED_SECONDS = 60.0
_BATCH = 96
_MAX_CHARS = 6_000
"""Of a text; common embedding models take about 8,000 tokens."""
VectorStore: TypeAlias = "ChromaStore | ExactStore"


class ExactStore:
    def __init__(self, chunks: Sequence[int], vectors: Matrix) -> None:
        self.size = len(chunks)
        self._chunks = np.array(chunks, dtype=np.int64)
        self._rows = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.float32(1e-30))

    def nearest(self, vector: Matrix, count: int) -> dict[int, float]:
        """Return the nearest chunks with their cosine similarity; empty for a vector of another length."""
        if not self.size or not vector.any() or vector.shape != self._rows.shape[1:]:
            return {}
        similarities = self._rows @ (vector / np.linalg.norm(vector))
        best = np.argsort(-similarities, kind="stable")[:count]
        return dict(zip(self._chunks[best].tolist(), similarities[best].tolist(), strict=True))


@dataclass
class CorpusVectors:
    store: "VectorStore | None" = None
    embedding: str = LOCAL
    """`local`, or the name of the model."""
    notes: list[str] = field(default_factory=list)


def embed_corpus(
    corpus: Corpus,
    model: "Embeddings | None",
    model_name: str,
    *,
    in_chroma: bool = True,
) -> CorpusVectors:
    """Make and store vectors. One of a file is stored as that of the file's first chunk.

    When the model fails, or does not answer with one vector for each text, the projection replaces it, and a note says
    so.
    """
    vectors = CorpusVectors()
    product_chunks: list[int] = np.flatnonzero(corpus.product_files[corpus.chunk_files]).tolist()
    chunks = product_chunks or list(range(len(corpus.chunk_files)))
    if not chunks:
        return vectors
    embedded = _embed_with_model(corpus, chunks[:MAX_EMBEDDED], model, vectors.notes)
    if embedded is not None:
        vectors.embedding = model_name
        rows = embedded
        if len(rows) < len(chunks):
            vectors.notes.append(f"The embedding model saw {len(rows)} of {len(chunks)} passages.")
        chunks = chunks[: len(rows)]
    else:
        chunks, rows = _project(corpus, np.array(chunks))
    vectors.store = store_vectors(chunks, rows, in_chroma=in_chroma)
    return vectors


def embed_query(model: "Embeddings", text: str) -> Matrix | None:
    """Return the vector of a search; None when the model fails."""
    try:
        return _to_matrix([model.embed_query(text[:_MAX_CHARS])], 1).reshape(-1)
    except embedding_errors():
        return None


def _project(corpus: Corpus, chunks: NDArray[np.int64]) -> tuple[list[int], Matrix]:
    """Return the first chunk of each file, the sections of the documentation, and a vector of each."""
    sections = np.flatnonzero(corpus.documentation_files[corpus.chunk_files])
    chunks = np.setdiff1d(chunks, sections)
    files, first, row_of_file = np.unique(corpus.chunk_files[chunks], return_index=True, return_inverse=True)
    rows = np.full(len(corpus.chunk_files), -1, dtype=np.int32)
    rows[chunks], rows[sections] = row_of_file, len(files) + np.arange(len(sections))
    rows[rows >= MAX_VECTORS] = -1
    named = [*chunks[first].tolist(), *sections.tolist()][:MAX_VECTORS]
    return named, project_chunks(corpus, rows, len(named))


def _embed_with_model(
    corpus: Corpus, chunks: Sequence[int], model: "Embeddings | None", notes: list[str]
) -> Matrix | None:
    """Return the vectors of the first chunks; None without a working model."""
    if model is None:
        return None
    texts = list(_chunk_texts(corpus, chunks))
    try:
        return embed_texts(model, texts)
    except embedding_errors() as error:
        notes.append(f"The embedding endpoint failed ({type(error).__name__}); local vectors stand in.")
        return None


def store_vectors(chunks: Sequence[int], rows: Matrix, *, in_chroma: bool) -> VectorStore:
    """Store vectors in Chroma; or compare them one by one, which is exact, needs no setup, and never fails."""
    if not in_chroma:
        return ExactStore(chunks, rows)
    from triage.find.vectors.chroma_store import ChromaError, ChromaStore

    try:
        return ChromaStore(chunks, rows)
    except ChromaError:
        return ExactStore(chunks, rows)


def _chunk_texts(corpus: Corpus, chunks: Sequence[int]) -> Iterator[str]:
    """Yield the text of each chunk below its path and definition."""
    for number, same_file in groupby(chunks, lambda chunk: int(corpus.chunk_files[chunk])):
        file = corpus.files[number]
        lines = file.read_lines()
        for chunk in same_file:
            own_lines = lines[corpus.chunk_starts[chunk] - 1 : corpus.chunk_ends[chunk]]
            yield "\n".join([f"{file.path} {corpus.chunk_symbols[chunk] or ''}", *own_lines])[:_MAX_CHARS]


def embed_texts(model: "Embeddings", texts: Sequence[str]) -> Matrix:
    """Return the vectors of the first texts: as many as time and budget allow, at least a batch."""
    deadline = time.monotonic() + EMBED_SECONDS
    rows: list[Matrix] = []
    for first in range(0, len(texts), _BATCH):
        if rows and time.monotonic() > deadline:
            break
        batch = texts[first : first + _BATCH]
        try:
            # Invisible characters must not influence where a passage lies.
            answer = model.embed_documents([clean_text(text) for text in batch])
        except BudgetExceeded:
            if not rows:
                raise
            break
        rows.extend(_to_matrix(answer, len(batch)))
    return _to_matrix(rows, len(rows))


def _to_matrix(rows: Sequence[Sequence[float] | Matrix], count: int) -> Matrix:
    """Return the rows as a matrix. Raises ValueError if they are not `count` vectors of one length."""
    if len(rows) != count:
        raise ValueError("not one vector for each text")
    matrix = np.array(rows, dtype=np.float32)
    if matrix.ndim != 2 or not matrix.shape[1] or not np.isfinite(matrix).all():
        raise ValueError("vectors of different length, or not of numbers")
    return matrix


def embedding_errors() -> tuple[type[Exception], ...]:
    from openai import OpenAIError

    return (TriageError, OpenAIError, OSError, ValueError, TypeError)
