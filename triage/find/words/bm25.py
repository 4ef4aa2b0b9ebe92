"""BM25 over sparse postings, in numpy."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from triage.find.words.tokens import Vocabulary

_SHARES = (1.0, 1 / 2, 1 / 3)
"""Of a file's best, second and third part."""
K1, B = 1.5, 0.75
_COUNT_BITS = 20
MAX_COUNT = 1 << _COUNT_BITS
"""A file has at most half a million words."""
_BLOCK = 1 << 20
CountArray = NDArray[np.int32 | np.uint16]
"""A large repository has 20 million counts, so they take two bytes each where they fit."""


def sum_best_parts(scores: NDArray[np.float32], files: NDArray[np.int32], file_count: int) -> NDArray[np.float32]:
    """Return for each file the score of its best part, plus half of its second and a third of its third one.

    `scores` and `files` have one number for each part.
    """
    total = np.zeros(file_count, dtype=np.float32)
    scored = np.flatnonzero(scores)
    order = scored[np.lexsort((-scores[scored], files[scored]))]
    ordered = files[order]
    rank = np.arange(len(ordered)) - np.searchsorted(ordered, ordered)
    for number, share in enumerate(_SHARES):
        chosen = rank == number
        total[ordered[chosen]] += np.float32(share) * scores[order[chosen]]
    return total


def _empty() -> NDArray[np.int32]:
    return np.zeros(0, dtype=np.int32)


@dataclass
class TermCounts:
    """The terms of documents with their counts, one document after the other."""

    sizes: NDArray[np.int32] = field(default_factory=_empty)
    """Number of different terms in each document."""
    terms: NDArray[np.int32] = field(default_factory=_empty)
    counts: CountArray = field(default_factory=_empty)

    @property
    def documents(self) -> NDArray[np.int64]:
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    def take_first(self, count: int) -> Self:
        """Return the first documents."""
        end = int(self.sizes[:count].sum())
        return type(self)(self.sizes[:count], self.terms[:end], self.counts[:end])

    def renumber_terms(self, numbers: NDArray[np.int32]) -> Self:
        """Return the counts with `numbers[term]` for each term, without the terms whose new number is -1."""
        terms = numbers[self.terms]
        has_number = terms >= 0
        if has_number.all():
            return type(self)(self.sizes, terms, self.counts)
        sizes = np.bincount(self.documents[has_number], minlength=len(self.sizes)).astype(np.int32)
        return type(self)(sizes, terms[has_number], self.counts[has_number])


class TermCounter:
    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._parts: list[NDArray[np.int32]] = []
        self._lengths: list[int] = []

    def add(self, *parts: NDArray[np.int32]) -> None:
        """Add the next document by the numbers of its words, in one or more parts."""
        self._parts += parts
        self._lengths.append(sum(map(len, parts)))

    def count(self) -> TermCounts:
        """Return how often each term stands in each document."""
        documents = np.repeat(np.arange(len(self._lengths), dtype=np.int32), self._lengths)
        terms, documents = self._vocabulary.expand(np.concatenate([_empty(), *self._parts]), documents)
        pairs = documents.astype(np.int64) << 32 | terms
        pairs.sort()
        first = np.flatnonzero(np.diff(pairs, prepend=-1))
        counts = np.diff(first, append=len(pairs)).astype(np.int32)
        pairs = pairs[first]
        sizes = np.bincount(pairs >> 32, minlength=len(self._lengths)).astype(np.int32)
        return TermCounts(sizes, (pairs & 0xFFFFFFFF).astype(np.int32), counts)


class BM25:
    def __init__(
        self,
        starts: NDArray[np.int64],
        documents: NDArray[np.int32],
        counts: CountArray,
        document_count: int,
        k1: float = K1,
    ) -> None:
        """Take the documents of each term, ascending, with counts; one term after the other.

        `starts` has where the documents of each term start, and the end of the last.
        """
        self.size, self.starts, self.documents, self._k1 = document_count, starts, documents, k1
        lengths = np.bincount(documents, weights=counts, minlength=self.size)
        mean = float(lengths.mean()) if self.size else 1.0
        norms = (k1 * (1 - B + B * lengths / max(mean, 1e-9))).astype(np.float32)
        self.saturated_counts = counts.astype(np.float32)
        """Term frequency, saturated and normalised by length: 0 to 1. Times idf and k1 + 1 it is the BM25 score."""
        for first in range(0, len(self.saturated_counts), _BLOCK):
            block = self.saturated_counts[first : first + _BLOCK]
            block /= block + norms[documents[first : first + _BLOCK]]
        frequency = np.diff(starts)
        self.idf = np.log1p((self.size - frequency + 0.5) / (frequency + 0.5)).astype(np.float32)

    @classmethod
    def from_counts(cls, parts: list[TermCounts], vocabulary: int, k1: float = K1) -> Self:
        """Score documents whose terms are numbered alike, from 0 to before `vocabulary`.

        Empties `parts`, so that memory does not hold the counts twice.
        """
        size = sum(len(part.sizes) for part in parts)
        max_count = max((int(part.counts.max(initial=0)) for part in parts), default=0)
        count_type = np.uint16 if max_count <= np.iinfo(np.uint16).max else np.int32
        keys = _sorted_keys(parts, size.bit_length())
        frequency = np.zeros(vocabulary, dtype=np.int64)
        documents = np.empty(len(keys), dtype=np.int32)
        counts: CountArray = np.empty(len(keys), dtype=count_type)
        for first in range(0, len(keys), _BLOCK):
            block = keys[first : first + _BLOCK]
            counts[first : first + _BLOCK] = block & (MAX_COUNT - 1)
            block >>= _COUNT_BITS
            documents[first : first + _BLOCK] = block & ((1 << size.bit_length()) - 1)
            block >>= size.bit_length()
            frequency += np.bincount(block, minlength=vocabulary)
        del keys
        return cls(np.concatenate([[0], np.cumsum(frequency)]), documents, counts, size, k1)

    def find_documents(self, term: int | None) -> NDArray[np.int32]:
        """Return the documents that have a term."""
        if term is None or term + 1 >= len(self.starts):
            return _empty()
        return self.documents[self.starts[term] : self.starts[term + 1]]

    def find_idf(self, term: int | None) -> float:
        """Return how rare a term is; one that no document has is the rarest."""
        is_known = term is not None and term < len(self.idf)
        return float(self.idf[term]) if is_known else math.log1p(2 * self.size + 1)

    def score_documents(self, weights: Mapping[int, float]) -> NDArray[np.float32]:
        """Return the BM25 of each document for terms of these weights."""
        scores = np.zeros(self.size, dtype=np.float32)
        for term, weight in weights.items():
            if term + 1 < len(self.starts):
                postings = slice(self.starts[term], self.starts[term + 1])
                factor = np.float32(weight * (self._k1 + 1) * self.idf[term])
                scores[self.documents[postings]] += self.saturated_counts[postings] * factor
        return scores


def _sorted_keys(parts: list[TermCounts], document_bits: int) -> NDArray[np.int64]:
    """Return term, document and count in one number each, which numpy sorts fastest. Empties `parts`."""
    keys = np.empty(sum(len(part.terms) for part in parts), dtype=np.int64)
    documents = pairs = 0
    while parts:
        part = parts.pop(0)
        block = keys[pairs : pairs + len(part.terms)]
        block[:] = part.terms
        block <<= document_bits
        block |= part.documents + documents
        block <<= _COUNT_BITS
        block |= part.counts
        documents, pairs = documents + len(part.sizes), pairs + len(part.terms)
    keys.sort()
    return keys
