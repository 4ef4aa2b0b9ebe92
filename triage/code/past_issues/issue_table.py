"""BM25 over issues, one added after the other.

`corpus.bm25` needs all documents at once; here a thousand reports are each compared with those before them.
"""

import math
from array import array
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from triage.code.past_issues.issue_terms import IssueTerms

K1, B = 2.0, 0.75
"""Chosen on SeaMonkey, Storm and Hive (`bench.duplicates`), as are the next three."""
QUERY_K1 = 2.0
"""How fast a repeated word of the new issue stops to count more."""
TITLE_WEIGHT = 3
_SHARED_LINE, _SHARED_LINE_SHARE = 5, 0.02
"""A line that more issues have than both, number and share, is of a template."""


@dataclass(slots=True)
class _Posting:
    documents: "array[int]" = field(default_factory=lambda: array("i"))
    counts: "array[int]" = field(default_factory=lambda: array("i"))


@dataclass(frozen=True, slots=True)
class Bag:
    """An issue's terms without lines that many issues share."""

    title: frozenset[str]
    counts: Mapping[str, int]
    """How often the issue has a term; in the title it counts three times."""
    numbers: frozenset[str]


class IssueTable:
    def __init__(self) -> None:
        self.bags: list[Bag] = []
        self._postings: dict[str, _Posting] = {}
        self._lengths = array("d")
        self._line_counts: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self.bags)

    def make_bag(self, terms: IssueTerms) -> Bag:
        limit = max(_SHARED_LINE, _SHARED_LINE_SHARE * len(self))
        counts: Counter[str] = Counter()
        for term in terms.title:
            counts[term] += TITLE_WEIGHT
        for line, line_terms in terms.lines:
            if self._line_counts[line] <= limit:
                counts.update(line_terms)
        return Bag(frozenset(terms.title), counts, terms.numbers)

    def add(self, terms: IssueTerms) -> None:
        self._line_counts.update({line for line, _ in terms.lines})
        bag = self.make_bag(terms)
        for term, count in bag.counts.items():
            posting = self._postings.setdefault(term, _Posting())
            posting.documents.append(len(self))
            posting.counts.append(count)
        self._lengths.append(sum(bag.counts.values()))
        self.bags.append(bag)

    def idf(self, term: str) -> float:
        """How rare the term is; the one of a term that no issue has is the highest."""
        posting = self._postings.get(term)
        frequency = len(posting.documents) if posting else 0
        return math.log1p((len(self) - frequency + 0.5) / (frequency + 0.5))

    def share(self, term: str) -> float:
        """Of the issues that have the term."""
        posting = self._postings.get(term)
        return len(posting.documents) / len(self) if posting else 0.0

    def score(self, query: Bag) -> NDArray[np.float64]:
        """One number for each issue. Takes time linear in the issues that share a term with the query."""
        scores = np.zeros(len(self))
        if not len(self):
            return scores
        lengths = np.array(self._lengths)
        norms = K1 * (1 - B + B * lengths / max(1e-9, float(lengths.mean())))
        for term, count in query.counts.items():
            if (posting := self._postings.get(term)) is None:
                continue
            documents, counts = np.array(posting.documents), np.array(posting.counts, dtype=np.float64)
            weight = self.idf(term) * count * (QUERY_K1 + 1) / (count + QUERY_K1)
            scores[documents] += weight * counts * (K1 + 1) / (counts + norms[documents])
        return scores
