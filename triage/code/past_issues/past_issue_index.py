"""Compares an issue with past ones."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from triage.code.past_issues.issue_table import Bag, IssueTable
from triage.code.past_issues.issue_terms import MAX_BODY_CHARS, extract_terms, stem_parts
from triage.code.past_issues.likeness import SURE, Likeness, compare, count_days, estimate_probability, is_surely_same
from triage.code.past_issues.same_failure import read_failure, shows_other_failure, shows_same_error, shows_same_trace
from triage.code.words.tokens import find_words
from triage.domain.issue import ParsedIssue
from triage.domain.past_issues import PastIssue

_COMPARED = 30
"""Past issues that are compared closely: the best by their words."""
_MAX_WORDS = 3
_MIN_WORD_CHARS = 3
_COMMON_SHARE = 0.2
"""A word of more issues says nothing."""


@dataclass(frozen=True)
class Compared:
    """A past issue, and what this one shares with it."""

    past: PastIssue
    likeness: Likeness
    probability: float
    """That both report the same."""
    same_error: bool
    same_trace: bool
    words: list[str]
    """That both have, as this issue writes them, the rarest first."""


class PastIssueIndex:
    def __init__(self, past: Iterable[PastIssue] = ()) -> None:
        self._table = IssueTable()
        self._issues: list[PastIssue] = []
        for issue in sorted(past, key=lambda one: one.number):
            self.add(issue)

    def add(self, issue: PastIssue) -> None:
        self._table.add(extract_terms(issue.title, issue.body))
        self._issues.append(issue)

    def compare_likeliest(
        self,
        parsed: ParsedIssue,
        reported_at: datetime,
        near: Collection[int] = (),
        originals: Mapping[int, int] | None = None,
    ) -> list[Compared]:
        """Compare the issues that share most words with this one, and those numbered `near`. Likeliest first.

        `originals` has the number of the original of each known duplicate: neither is ahead of the other.
        """
        here = self._table.make_bag(extract_terms(parsed.title, parsed.body))
        scores = self._table.score(here)
        best = [
            position for position in np.argsort(-scores, kind="stable")[:_COMPARED].tolist() if scores[position] > 0
        ]
        failure = read_failure(parsed)
        roots = [(originals or {}).get(past.number, past.number) for past in self._issues]
        highest = float(scores[best[0]]) if best else 0.0
        positions = [*best, *(at for at, past in enumerate(self._issues) if past.number in near)]
        written = _write_out(parsed)
        compared = []
        for position in dict.fromkeys(positions):
            past, bag = self._issues[position], self._table.bags[position]
            other = next((float(scores[at]) for at in best if roots[at] != roots[position]), 0.0)
            same_error = shows_same_error(failure, past.title, past.body)
            same_trace = shows_same_trace(failure, past.body)
            likeness = compare(
                self._table,
                here,
                bag,
                days=count_days(past.created_at, reported_at),
                lead=(float(scores[position]) - other) / highest if highest else 0.0,
                same_failure=same_error or same_trace,
            )
            words = self._find_shared_words(here, bag, written)
            probability = estimate_probability(likeness)
            is_same = is_surely_same(self._table, here, bag, likeness, same_error=same_error, same_trace=same_trace)
            if is_same and (same_error or not shows_other_failure(failure, past.body)):
                probability = max(probability, SURE)
            compared.append(Compared(past, likeness, probability, same_error, same_trace, words))
        return sorted(compared, key=lambda one: (-one.probability, one.past.number))

    def _find_shared_words(self, here: Bag, past: Bag, written: Mapping[str, str]) -> list[str]:
        shared = [term for term in here.counts.keys() & past.counts.keys() if self._table.share(term) <= _COMMON_SHARE]
        rarest = sorted(shared, key=lambda term: (term not in here.title, -self._table.idf(term), term))
        words = (written[term] for term in rarest if len(written.get(term, "")) >= _MIN_WORD_CHARS)
        return list(dict.fromkeys(words))[:_MAX_WORDS]


def _write_out(parsed: ParsedIssue) -> dict[str, str]:
    """Each term as the issue first writes it."""
    written: dict[str, str] = {}
    for word in find_words(f"{parsed.title}\n{parsed.body[:MAX_BODY_CHARS]}"):
        for term in stem_parts(word):
            written.setdefault(term, word)
    return written
