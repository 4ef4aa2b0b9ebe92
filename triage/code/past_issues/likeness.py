"""How likely two issues report the same: a logistic regression over what they share."""

import math
from collections.abc import Collection
from dataclasses import astuple, dataclass
from datetime import datetime

from triage.code.past_issues.issue_table import Bag, IssueTable

_SECONDS_PER_DAY = 86_400
_LIKE_FROM = 0.5
"""Of the words that one of two issues has: the share that both have, from which it counts that they are alike."""


@dataclass(frozen=True, slots=True)
class Likeness:
    title_in_past: float
    """Share of the title's words that the past issue has, the rare ones counting more; from 0 to 1."""
    past_title_here: float
    """The same for the past issue's title and this issue."""
    days: float
    """Logarithm of the days between both, plus one: duplicates follow the release that broke something."""
    lead: float
    """BM25 score ahead of the best other past issue, as a share of the best; at most 1, negative where another one is
    ahead."""
    alike: float
    """How far the words of both are the same, in the titles and everywhere, above a half; 0 where the titles have
    different numbers. At most 0.5."""
    same_failure: float
    """1 for the same error text or the same stack trace."""

    @property
    def titles(self) -> float:
        """How much of either title the other issue has, at least."""
        return min(self.title_in_past, self.past_title_here)


WEIGHTS = Likeness(title_in_past=2.29, past_title_here=2.19, days=-0.27, lead=1.6, alike=3.84, same_failure=0.21)
BIAS = -5.94
"""`python -m bench.duplicates --fit SeaMonkey Storm Hive` made them."""


SURE = 0.9
"""Probability of two signs that the lists of duplicates, which the weights are learned from, do not show well: many
reports that say the same are listed nowhere. By reading, 96 of the 103 pairs that are named in six projects report the
same (docs/memory.md)."""
SAME_TITLES, _CLEAR_LEAD = 0.9, 0.5
_MIN_TITLE_TERMS = 3
_SHARED_TITLE = 0.6
_LIKE_TITLES, _LEAD_WITH_ERROR = 0.6, 0.6


def is_surely_same(
    table: IssueTable, here: Bag, past: Bag, likeness: Likeness, *, same_error: bool, same_trace: bool
) -> bool:
    """Whether the titles are nearly the same, or much alike with the same error text, and no other issue is as near.

    Titles with other numbers, such as versions, are not nearly the same, and short ones say too little.
    """
    if min(len(here.title), len(past.title)) < _MIN_TITLE_TERMS:
        return False
    has_shared_title = _share_both(table, here.title, past.title) >= _SHARED_TITLE
    if has_shared_title and here.numbers == past.numbers and likeness.titles >= SAME_TITLES:
        return likeness.lead >= _CLEAR_LEAD
    is_same_failure = same_error and (same_trace or has_shared_title)
    return is_same_failure and likeness.titles >= _LIKE_TITLES and likeness.lead >= _LEAD_WITH_ERROR


def estimate_probability(likeness: Likeness) -> float:
    """That both report the same, from 0 to 1."""
    logit = BIAS + sum(weight * value for weight, value in zip(astuple(WEIGHTS), astuple(likeness), strict=True))
    return 1 / (1 + math.exp(-logit))


def compare(table: IssueTable, here: Bag, past: Bag, days: float, lead: float, *, same_failure: bool) -> Likeness:
    titles = _share_both(table, here.title, past.title)
    everywhere = _share_both(table, here.counts.keys(), past.counts.keys())
    return Likeness(
        title_in_past=_share_found(table, here.title, past.counts.keys()),
        past_title_here=_share_found(table, past.title, here.counts.keys()),
        days=days,
        lead=lead,
        alike=max(0.0, min(titles, everywhere) - _LIKE_FROM) if here.numbers == past.numbers else 0.0,
        same_failure=float(same_failure),
    )


def count_days(earlier: datetime, later: datetime) -> float:
    """The value of `Likeness.days`. Which of both is earlier makes no difference."""
    return math.log1p(abs((later - earlier).total_seconds()) / _SECONDS_PER_DAY)


def _share_found(table: IssueTable, terms: Collection[str], among: Collection[str]) -> float:
    total = sum(map(table.idf, terms))
    return sum(table.idf(term) for term in terms if term in among) / total if total else 0.0


def _share_both(table: IssueTable, one: Collection[str], other: Collection[str]) -> float:
    union = {*one, *other}
    total = sum(map(table.idf, union))
    return sum(table.idf(term) for term in union if term in one and term in other) / total if total else 0.0
