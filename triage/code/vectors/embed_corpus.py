"""Makes vectors: of each chunk with an embedding model where one is given and answers, else of each file by projection.

Projected vectors only add candidates to the ranking. Everything that was tried to make them count more left it as it
was or made it worse (docs/localization.md), so there is one for a file, which costs next to nothing.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from io import BytesIO
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from triage.base.errors import BudgetExceeded, TriageError
from triage.base.private_folder import make_private_folder, read_private_file, write_private_file
from triage.code.vectors.projection import project_files
from triage.code.vectors.vector_stores import LOCAL, ChromaStore, ExactStore, Matrix
from triage.code.words.corpus import Corpus
from triage.safety.clean_text import clean_text

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings


MAX_CACHED_VECTORS = 8_000
"""The least recently used ones go first. Twice what one index asks for; 50 MB of the usual 1,536 dimensions."""
MAX_CACHE_BYTES = 200_000_000
_KEY_BYTES = 16
MAX_VECTORS = 10_000
"""By projection; Chroma needs 1.5 seconds for them. Further files are found by their words only."""
MAX_EMBEDDED = 4_000
"""By an embedding model, which is paid by the token."""
EMBED_SECONDS = 60.0
_BATCH = 96
_MAX_CHARS = 6_000
"""Of a text; common embedding models take about 8,000 tokens."""
VectorStore = ChromaStore | ExactStore


class VectorCache:
    """The vectors of one model. Each addition is on disk before the next text is embedded.

    The file may come from anywhere. What does not parse counts as nothing, and a wrong vector only misleads a search.
    """

    def __init__(self, folder: Path, model: str) -> None:
        self._file = folder / f"vectors-{blake2b(model.encode(), digest_size=16).hexdigest()}.npy"
        self._rows = self._read()

    def find(self, texts: Sequence[str]) -> dict[int, NDArray[np.float32]]:
        found = {}
        for position, text in enumerate(texts):
            key = _digest_text(text)
            if key in self._rows:
                found[position] = self._rows[key] = self._rows.pop(key)  # now the most recently used
        return found

    def add(self, texts: Sequence[str], rows: NDArray[np.float32]) -> None:
        """Store the vectors of some texts. Vectors of another length are dropped: they are of another model."""
        for text, row in zip(texts, rows, strict=True):
            self._rows[_digest_text(text)] = row
        newest = [*self._rows.items()][-MAX_CACHED_VECTORS:]
        self._rows = {key: row for key, row in newest if len(row) == rows.shape[1]}
        keys = np.frombuffer(b"".join(self._rows), dtype=np.uint8).reshape(-1, _KEY_BYTES)
        table = np.concatenate([keys, np.stack([*self._rows.values()]).astype("<f4").view(np.uint8)], axis=1)
        content = BytesIO()
        np.save(content, table, allow_pickle=False)
        with suppress(OSError):  # they are paid again
            make_private_folder(self._file.parent)
            write_private_file(self._file, content.getvalue(), time.time())

    def _read(self) -> dict[bytes, NDArray[np.float32]]:
        try:
            content = read_private_file(self._file, MAX_CACHE_BYTES)
            table = np.load(BytesIO(content or b""), allow_pickle=False)
            # Copied: a view of some columns cannot be read as numbers of four bytes.
            rows = table[:, _KEY_BYTES:].copy().view("<f4")
            return {table[number, :_KEY_BYTES].tobytes(): rows[number] for number in _find_finite(rows)}
        except (OSError, ValueError, TypeError, IndexError, EOFError):
            return {}


def _find_finite(rows: NDArray[np.float32]) -> list[int]:
    numbers: list[int] = np.flatnonzero(np.isfinite(rows).all(axis=1)).tolist()
    return numbers


def _digest_text(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "replace"), digest_size=_KEY_BYTES).digest()


@dataclass
class CorpusVectors:
    store: VectorStore | None = None
    embedding: str = LOCAL
    """`local`, or the name of the model."""
    notes: list[str] = field(default_factory=list)


def embed_corpus(
    corpus: Corpus,
    model: "Embeddings | None",
    model_name: str,
    cache: VectorCache | None = None,
    *,
    in_chroma: bool = True,
) -> CorpusVectors:
    """Make and store vectors of the product code. One of a file is stored as that of the file's first chunk.

    When the model fails, or does not answer with one vector for each text, the projection replaces it, and a note says
    so.
    """
    vectors = CorpusVectors()
    product_chunks: list[int] = np.flatnonzero(corpus.product_files[corpus.chunk_files]).tolist()
    chunks = product_chunks or list(range(len(corpus.chunk_files)))
    if not chunks:
        return vectors
    embedded = _embed_with_model(corpus, chunks[:MAX_EMBEDDED], model, cache, vectors.notes)
    if embedded is not None:
        vectors.embedding = model_name
        positions, rows = embedded
        if len(rows) < len(chunks):
            vectors.notes.append(f"The embedding model saw {len(rows)} of {len(chunks)} passages.")
        chunks = [chunks[position] for position in positions]
    else:
        files, first = np.unique(corpus.chunk_files[chunks], return_index=True)
        chunks = [chunks[position] for position in first[:MAX_VECTORS].tolist()]
        rows = project_files(corpus, files[:MAX_VECTORS].tolist())
    vectors.store = store_vectors(chunks, rows, in_chroma=in_chroma)
    return vectors


def embed_query(model: "Embeddings", text: str) -> Matrix | None:
    """Return the vector of a search; None when the model fails."""
    try:
        return _to_matrix([model.embed_query(text[:_MAX_CHARS])], 1).reshape(-1)
    except embedding_errors():
        return None


def _embed_with_model(
    corpus: Corpus, chunks: Sequence[int], model: "Embeddings | None", cache: VectorCache | None, notes: list[str]
) -> tuple[list[int], Matrix] | None:
    """Return the positions of the chunks that have a vector, and the vectors; None without a working model."""
    if model is None:
        return None
    texts = list(_chunk_texts(corpus, chunks))
    try:
        return embed_texts(model, texts, cache)
    except embedding_errors() as error:
        notes.append(f"The embedding endpoint failed ({type(error).__name__}); local vectors stand in.")
        return None


def store_vectors(chunks: Sequence[int], rows: Matrix, *, in_chroma: bool) -> VectorStore:
    """Store vectors in Chroma; or compare them one by one, which is exact, needs no setup, and never fails."""
    if not in_chroma:
        return ExactStore(chunks, rows)
    from triage.code.vectors.chroma_package import ChromaError

    try:
        return ChromaStore(chunks, rows)
    except ChromaError:
        return ExactStore(chunks, rows)


def _chunk_texts(corpus: Corpus, chunks: Sequence[int]) -> Iterator[str]:
    for number, same_file in groupby(chunks, lambda chunk: int(corpus.chunk_files[chunk])):
        file = corpus.files[number]
        lines = file.read_lines()
        for chunk in same_file:
            own_lines = lines[corpus.chunk_starts[chunk] - 1 : corpus.chunk_ends[chunk]]
            yield "\n".join([f"{file.path} {corpus.chunk_symbols[chunk] or ''}", *own_lines])[:_MAX_CHARS]


def embed_texts(model: "Embeddings", texts: Sequence[str], cache: VectorCache | None) -> tuple[list[int], Matrix]:
    """Return the positions and vectors of as many texts as time and budget allow, at least of the first batch."""
    deadline = time.monotonic() + EMBED_SECONDS
    found = cache.find(texts) if cache else {}
    new = [position for position in range(len(texts)) if position not in found]
    for first in range(0, len(new), _BATCH):
        if found and time.monotonic() > deadline:
            break
        batch = new[first : first + _BATCH]
        try:
            # Invisible characters must not influence where a passage lies.
            answer = model.embed_documents([clean_text(texts[position]) for position in batch])
        except BudgetExceeded:
            if not found:
                raise
            break
        rows = _to_matrix(answer, len(batch))
        if cache:
            cache.add([texts[position] for position in batch], rows)
        found.update(zip(batch, rows, strict=True))
    positions = sorted(found)
    return positions, _to_matrix([found[position] for position in positions], len(positions))


def _to_matrix(rows: Sequence[Sequence[float] | Matrix], count: int) -> Matrix:
    if len(rows) != count:
        raise ValueError("not one vector for each text")
    matrix = np.array(rows, dtype=np.float32)
    if matrix.ndim != 2 or not matrix.shape[1] or not np.isfinite(matrix).all():
        raise ValueError("vectors of different length, or not of numbers")
    return matrix


def embedding_errors() -> tuple[type[Exception], ...]:
    from openai import OpenAIError

    return (TriageError, OpenAIError, OSError, ValueError, TypeError)
