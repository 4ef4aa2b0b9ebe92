"""The words of issues as issues are compared by them, and BM25 over issues, one added after the other.

`words.bm25` needs all documents at once; here a thousand reports are each compared with those before them.
"""

import math
import re
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from triage.find.words.tokens import WORD_PATTERN, split_into_terms
from triage.safety.clean_text import clean_text

MAX_TITLE_CHARS, MAX_BODY_CHARS = 300, 5_000
"""What follows is mostly logs. With 2,500 or 10,000 characters no more duplicates are found."""
_MAX_RAW_CHARS = 20_000
"""Of a body with its comments, which templates are full of."""
_MAX_LINE_CHARS = 1_000
_NUMBER = re.compile(r"\d+(?:\.\d+)*")
_SUFFIXES = (("sses", "ss"), ("ies", "y"), ("ing", ""), ("edly", ""), ("ed", ""), ("ly", ""), ("es", ""), ("s", ""))
_MIN_STEM_CHARS = 3
K1, B = 2.0, 0.75
"""Chosen on SeaMonkey, Storm and Hive (`bench.duplicates`), as are the next three."""
QUERY_K1 = 2.0
"""How fast a repeated word of the new issue stops to count more."""
TITLE_WEIGHT = 3
_SHARED_LINE, _SHARED_LINE_SHARE = 5, 0.02
"""A line that more issues have than both, number and share, is of a template."""


@dataclass(frozen=True, slots=True)
class IssueTerms:
    title: list[str]
    lines: list[tuple[str, list[str]]]
    """Each line of the body that has words, with its terms."""
    numbers: frozenset[str]
    """In the title: versions, years, sizes."""


def extract_terms(title: str, body: str) -> IssueTerms:
    """Take time linear in the text, and at most that of 20,000 characters."""
    title = clean_text(title[:MAX_TITLE_CHARS])
    text = drop_comments(clean_text(body[:_MAX_RAW_CHARS]))[:MAX_BODY_CHARS]
    stripped = (line.strip()[:_MAX_LINE_CHARS] for line in text.split("\n"))
    return IssueTerms(
        title=_find_terms(title),
        lines=[(line, terms) for line in stripped if line and (terms := _find_terms(line))],
        numbers=frozenset(_NUMBER.findall(title)),
    )


def drop_comments(body: str) -> str:
    """Return a text without HTML comments, which a page does not show.

    One without an end reaches to the end of the text.
    """
    return "".join(_split_at_comments(body))


def _split_at_comments(body: str) -> Iterator[str]:
    position = 0
    while (start := body.find("<!--", position)) >= 0:
        yield body[position:start]
        end = body.find("-->", start)
        if end < 0:
            return
        position = end + 3
    yield body[position:]


def _find_terms(text: str) -> list[str]:
    return [term for word in WORD_PATTERN.findall(text) for term in stem_parts(word)]


@lru_cache(maxsize=50_000)
def stem_parts(word: str) -> Sequence[str]:
    return list(dict.fromkeys(stem(term) for term in split_into_terms(word)))


def stem(word: str) -> str:
    """Return the English stem, roughly: `crashes`, `crashed` and `crashing` are `crash`.

    On the sets of `bench.duplicates` it brings 2 of 100 more duplicates among the first ten.
    """
    if len(word) <= _MIN_STEM_CHARS + 1:
        return word
    for suffix, instead in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _MIN_STEM_CHARS and not word.endswith("ss"):
            return _drop_end(word[: -len(suffix)] + instead, doubled=suffix in ("ing", "ed"))
    return word.removesuffix("e")


def _drop_end(word: str, *, doubled: bool) -> str:
    if doubled and len(word) > _MIN_STEM_CHARS and word[-1] == word[-2] and word[-1] not in "lsz":
        return word[:-1]
    return word.removesuffix("e")


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
        """Return how rare a term is; a term that no issue has is the rarest."""
        posting = self._postings.get(term)
        frequency = len(posting.documents) if posting else 0
        return math.log1p((len(self) - frequency + 0.5) / (frequency + 0.5))

    def share(self, term: str) -> float:
        """Return the share of the issues that have a term."""
        posting = self._postings.get(term)
        return len(posting.documents) / len(self) if posting else 0.0

    def score(self, query: Bag) -> NDArray[np.float64]:
        """Return one number for each issue, in time linear in the issues that share a term with the query."""
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
