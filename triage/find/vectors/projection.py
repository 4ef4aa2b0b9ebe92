"""Vectors without a model: the BM25 weights of a file's terms, projected at random to a fixed number of dimensions.

A hash of the term chooses four dimensions and their signs. The inner product of two projections estimates that of the
full vectors, and every process computes the same ones.
"""

from collections.abc import Iterable, Mapping
from hashlib import blake2b
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from triage.find.words.corpus import Corpus

Matrix = NDArray[np.float32]
DIMENSIONS = 256
_HASHES = 4
_BITS = 10
"""Of the term's hash, for each of them: nine for the dimension and one for the sign."""
_BLOCK = 4_096


def project_chunks(corpus: Corpus, rows_by_chunk: NDArray[np.int32], count: int) -> Matrix:
    """Return so many rows of `DIMENSIONS`, each the sum of its chunks. A chunk of row -1 has none."""
    scores = corpus.by_chunk
    rows = rows_by_chunk[scores.documents]
    pairs = np.flatnonzero(rows >= 0)
    rows, values = rows[pairs], scores.saturated_counts[pairs]
    terms = (np.searchsorted(scores.starts, pairs, side="right") - 1).astype(np.int32)
    hashes = _hash_used_terms(corpus, terms)
    vectors = np.zeros((count, DIMENSIONS), dtype=np.float32)
    for first in range(0, count, _BLOCK):
        block = vectors[first : first + _BLOCK]
        here = np.flatnonzero((rows >= first) & (rows < first + len(block)))
        _add_projections(block, rows[here] - first, hashes[terms[here]], values[here])
    return vectors


def project_query(corpus: Corpus, weights: Mapping[str, float]) -> Matrix:
    known = {term: found for term in weights if (found := corpus.vocabulary.find_number(term)) is not None}
    return project_terms({term: weights[term] * float(corpus.by_chunk.idf[found]) for term, found in known.items()})


def project_terms(weights: Mapping[str, float]) -> Matrix:
    """Return the projection of any terms with their weights."""
    vector: Matrix = np.zeros((1, DIMENSIONS), dtype=np.float32)
    values = np.fromiter(weights.values(), dtype=np.float32, count=len(weights))
    _add_projections(vector, np.zeros(len(weights), dtype=np.int32), _hash_terms(weights), values)
    return vector.reshape(DIMENSIONS)


def _hash_used_terms(corpus: Corpus, terms: NDArray[np.int32]) -> NDArray[np.uint64]:
    used = np.zeros(len(corpus.vocabulary), dtype=bool)
    used[terms] = True
    hashes = np.zeros(len(used), dtype=np.uint64)
    hashes[used] = _hash_terms(compress(corpus.vocabulary.terms, used.tolist()))
    return hashes


def _hash_terms(terms: Iterable[str]) -> NDArray[np.uint64]:
    joined = b"".join(blake2b(term.encode("utf-8", "replace"), digest_size=8).digest() for term in terms)
    return np.frombuffer(joined, dtype="<u8").astype(np.uint64)


def _add_projections(
    vectors: Matrix,
    rows: NDArray[np.int32],
    hashes: NDArray[np.uint64],
    values: Matrix,
) -> None:
    for number in range(_HASHES):
        bits = (hashes >> np.uint64(number * _BITS)).astype(np.int64)
        cells = rows.astype(np.int64) * DIMENSIONS + (bits & (DIMENSIONS - 1))
        signed = np.where(bits >> 9 & 1, values, -values)
        vectors += np.bincount(cells, weights=signed, minlength=vectors.size).reshape(vectors.shape).astype(np.float32)
