"""BM25 over sparse postings, in numpy."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from triage.index.tokens import Vocabulary

K1, B = 1.5, 0.75
_BATCH = 400_000
"""Words expanded and counted at once."""


class Counting:
    """Collects the words of documents, and counts their terms in batches."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.documents = 0
        self._vocabulary = vocabulary
        self._pending: list[NDArray[np.int32]] = []
        self._lengths: list[int] = []
        self._pending_words = 0
        self._first = 0
        self._counted: list[tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]] = []

    def add(self, *parts: NDArray[np.int32]) -> None:
        """The next document, by its words in one or more parts."""
        length = sum(map(len, parts))
        self._pending.extend(parts)
        self._lengths.append(length)
        self._pending_words += length
        self.documents += 1
        if self._pending_words > _BATCH:
            self._count()

    def _count(self) -> None:
        if not self._pending:
            return
        numbers = np.arange(self._first, self.documents, dtype=np.int32)
        documents = np.repeat(numbers, self._lengths)
        terms, documents = self._vocabulary.expand(np.concatenate(self._pending), documents)
        pairs, counts = np.unique(documents.astype(np.int64) << 32 | terms, return_counts=True)
        self._counted.append(
            ((pairs & 0xFFFFFFFF).astype(np.int32), (pairs >> 32).astype(np.int32), counts.astype(np.int32))
        )
        self._pending, self._lengths, self._pending_words, self._first = [], [], 0, self.documents

    def finish(self) -> "BM25":
        """The scores' tables; the collected words are given up."""
        self._count()
        empty = np.zeros(0, dtype=np.int32)
        terms, documents, counts = (
            np.concatenate([part[column] for part in self._counted]) if self._counted else empty for column in range(3)
        )
        self._counted = []
        return BM25(terms, documents, counts, self.documents, len(self._vocabulary))


class BM25:
    """What each term adds to each document that has it."""

    def __init__(
        self,
        terms: NDArray[np.int32],
        documents: NDArray[np.int32],
        counts: NDArray[np.int32],
        size: int,
        vocabulary: int,
    ) -> None:
        """Take the counted pairs of term and document, documents ascending."""
        self.size = size
        lengths = np.bincount(documents, weights=counts, minlength=size)
        mean = float(lengths.mean()) if size else 1.0
        norms = (K1 * (1 - B + B * lengths / max(mean, 1e-9))).astype(np.float32)
        by_term = np.argsort(terms, kind="stable")
        self.documents = documents[by_term]
        frequency = np.bincount(terms, minlength=vocabulary)
        self.starts = np.concatenate([[0], np.cumsum(frequency)])
        self.idf = np.log1p((size - frequency + 0.5) / (frequency + 0.5)).astype(np.float32)
        many = counts[by_term].astype(np.float32)
        self.share = many / (many + norms[self.documents])
        """Term frequency, saturated and normalised by length: 0 to 1. Times idf and k1 + 1 it is BM25."""

    def scores(self, weights: Mapping[int, float]) -> NDArray[np.float32]:
        """One score per document for weighted terms."""
        found = np.zeros(self.size, dtype=np.float32)
        for term, weight in weights.items():
            if term + 1 < len(self.starts):
                place = slice(self.starts[term], self.starts[term + 1])
                found[self.documents[place]] += self.share[place] * np.float32(weight * (K1 + 1) * self.idf[term])
        return found

    def parts(self, document: int, weights: Mapping[int, float]) -> dict[int, float]:
        """What each term adds to one document's score."""
        found: dict[int, float] = {}
        for term, weight in weights.items():
            if term + 1 < len(self.starts):
                first, last = self.starts[term], self.starts[term + 1]
                at = first + int(np.searchsorted(self.documents[first:last], document))
                if at < last and self.documents[at] == document:
                    found[term] = weight * float(self.idf[term] * self.share[at])
        return found
