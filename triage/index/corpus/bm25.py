"""BM25 over sparse postings, in numpy."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from triage.index.corpus.tokens import Vocabulary

K1, B = 1.5, 0.75
_COUNT_BITS = 20
MAX_COUNT = 1 << _COUNT_BITS
"""A file has at most half a million words."""
_BLOCK = 1 << 20
CountArray = NDArray[np.int32 | np.uint16]
"""A large repository has 20 million of them: two bytes have to do where they can."""


def _none() -> NDArray[np.int32]:
    return np.zeros(0, dtype=np.int32)


@dataclass
class TermCounts:
    """Terms of documents, one document after the other."""

    sizes: NDArray[np.int32] = field(default_factory=_none)
    """How many different terms each document has."""
    terms: NDArray[np.int32] = field(default_factory=_none)
    counts: CountArray = field(default_factory=_none)
    """How often the document has the term."""

    @property
    def documents(self) -> NDArray[np.int64]:
        """The document of each term."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    def take_first(self, documents: int) -> Self:
        """The first few documents."""
        sizes = self.sizes[:documents]
        return type(self)(sizes, self.terms[: sizes.sum()], self.counts[: sizes.sum()])

    def take_range(self, first: int, last: int) -> Self:
        """Some documents, up to before the last."""
        start, end = int(self.sizes[:first].sum()), int(self.sizes[:last].sum())
        return type(self)(self.sizes[first:last], self.terms[start:end].copy(), self.counts[start:end])

    def renumber_terms(self, numbers: NDArray[np.int32]) -> Self:
        """With other numbers for the terms; those whose number is -1 are forgotten."""
        terms = numbers[self.terms]
        kept = terms >= 0
        if kept.all():
            return type(self)(self.sizes, terms, self.counts)
        sizes = np.bincount(self.documents[kept], minlength=len(self.sizes)).astype(np.int32)
        return type(self)(sizes, terms[kept], self.counts[kept])


class TermCounter:
    """Collects the words of documents, and counts their terms."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._parts: list[NDArray[np.int32]] = []
        self._lengths: list[int] = []

    def add(self, *parts: NDArray[np.int32]) -> None:
        """The next document, by its words in one or more parts."""
        self._parts += parts
        self._lengths.append(sum(map(len, parts)))

    def count(self) -> TermCounts:
        """The terms of all documents."""
        if not self._parts:
            return TermCounts(np.zeros(len(self._lengths), dtype=np.int32))
        documents = np.repeat(np.arange(len(self._lengths), dtype=np.int32), self._lengths)
        terms, documents = self._vocabulary.expand(np.concatenate(self._parts), documents)
        pairs = documents.astype(np.int64) << 32 | terms
        pairs.sort()
        first = np.flatnonzero(np.diff(pairs, prepend=-1))
        counts = np.diff(first, append=len(pairs)).astype(np.int32)
        pairs = pairs[first]
        sizes = np.bincount(pairs >> 32, minlength=len(self._lengths)).astype(np.int32)
        return TermCounts(sizes, (pairs & 0xFFFFFFFF).astype(np.int32), counts)

    def build_bm25(self) -> "BM25":
        """The scores of these documents alone."""
        return BM25.from_counts([self.count()], len(self._vocabulary))


@dataclass(frozen=True)
class Postings:
    """Which documents have each term, and how often: one term after the other, its documents ascending."""

    starts: NDArray[np.int64]
    """Where each term's documents begin; one more, for the end."""
    documents: NDArray[np.int32]
    counts: CountArray
    size: int
    """How many documents there are."""

    def to_term_counts(self) -> TermCounts:
        """The terms of each document."""
        order = np.argsort(self.documents, kind="stable")
        terms = np.repeat(np.arange(len(self.starts) - 1, dtype=np.int32), np.diff(self.starts))
        sizes = np.bincount(self.documents, minlength=self.size).astype(np.int32)
        return TermCounts(sizes, terms[order], self.counts[order])


class BM25:
    """What each term adds to each document that has it."""

    def __init__(self, postings: Postings) -> None:
        """Score what was counted."""
        self.postings = postings
        self.size, self.starts, self.documents = postings.size, postings.starts, postings.documents
        lengths = np.bincount(postings.documents, weights=postings.counts, minlength=self.size)
        mean = float(lengths.mean()) if self.size else 1.0
        norms = (K1 * (1 - B + B * lengths / max(mean, 1e-9))).astype(np.float32)
        self.saturated_counts = postings.counts.astype(np.float32)
        """Term frequency, saturated and normalised by length: 0 to 1. Times idf and k1 + 1 it is BM25."""
        for first in range(0, len(self.saturated_counts), _BLOCK):
            many = self.saturated_counts[first : first + _BLOCK]
            many /= many + norms[postings.documents[first : first + _BLOCK]]
        frequency = np.diff(postings.starts)
        self.idf = np.log1p((self.size - frequency + 0.5) / (frequency + 0.5)).astype(np.float32)

    @classmethod
    def from_counts(cls, parts: list[TermCounts], vocabulary: int) -> Self:
        """Order counted documents by term. The parts are used up: memory would have to hold them twice.

        Args:
            parts: Documents, whose terms are numbered alike.
            vocabulary: How many terms there are.
        """
        size = sum(len(part.sizes) for part in parts)
        most = max((int(part.counts.max(initial=0)) for part in parts), default=0)
        keys = _sorted_keys(parts, size.bit_length())
        frequency = np.zeros(vocabulary, dtype=np.int64)
        documents, counts = np.empty(len(keys), dtype=np.int32), _room(len(keys), most)
        for first in range(0, len(keys), _BLOCK):
            block = keys[first : first + _BLOCK]
            counts[first : first + _BLOCK] = block & (MAX_COUNT - 1)
            block >>= _COUNT_BITS
            documents[first : first + _BLOCK] = block & ((1 << size.bit_length()) - 1)
            block >>= size.bit_length()
            frequency += np.bincount(block, minlength=vocabulary)
        del keys
        return cls(Postings(np.concatenate([[0], np.cumsum(frequency)]), documents, counts, size))

    def score_documents(self, weights: Mapping[int, float]) -> NDArray[np.float32]:
        """One score per document for weighted terms."""
        found = np.zeros(self.size, dtype=np.float32)
        for term, weight in weights.items():
            if term + 1 < len(self.starts):
                place = slice(self.starts[term], self.starts[term + 1])
                found[self.documents[place]] += self.saturated_counts[place] * np.float32(
                    weight * (K1 + 1) * self.idf[term]
                )
        return found

    def explain_score(self, document: int, weights: Mapping[int, float]) -> dict[int, float]:
        """What each term adds to one document's score."""
        found: dict[int, float] = {}
        for term, weight in weights.items():
            if term + 1 < len(self.starts):
                first, last = self.starts[term], self.starts[term + 1]
                at = first + int(np.searchsorted(self.documents[first:last], document))
                if at < last and self.documents[at] == document:
                    found[term] = weight * float(self.idf[term] * self.saturated_counts[at])
        return found


def _room(length: int, most: int) -> CountArray:
    """For so many counts of at most so much."""
    return np.empty(length, dtype=np.uint16 if most <= np.iinfo(np.uint16).max else np.int32)


def _sorted_keys(parts: list[TermCounts], document_bits: int) -> NDArray[np.int64]:
    """Term, document and count of each pair in one number: numpy sorts those fastest."""
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
