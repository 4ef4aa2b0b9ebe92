"""Counts how often it was right. Every figure can be counted again from the results."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import get_args

from pydantic import Field

from triage.backtest.judge import IssueResult, Outcome
from triage.domain.code import MatchSource
from triage.domain.past_issues import PredictedBy
from triage.domain.task import Subject
from triage.domain.value import Value

MIN_CASES_FOR_PERCENT = 20
"""Small numbers stay numbers."""


class Rate(Value):
    """How many of some cases."""

    hits: int = 0
    cases: int = 0

    @property
    def fraction(self) -> str:
        return f"{self.hits:,} of {self.cases:,}"

    def __str__(self) -> str:
        if not self.cases:
            return "none yet"
        return f"{self.fraction} ({self._format_percent()})" if self.cases >= MIN_CASES_FOR_PERCENT else self.fraction

    def _format_percent(self) -> str:
        # 99.9 % is not 100 %, and one of a thousand is not none.
        percent = 100 * self.hits / self.cases
        return f"{min(percent, 99):.0f} %" if 1 <= percent < 100 else f"{percent:.2g} %" if percent < 1 else "100 %"


def count_rate(values: Iterable[bool | None]) -> Rate:
    """Return how many are true; None is no case."""
    known = [value for value in values if value is not None]
    return Rate(hits=sum(known), cases=len(known))


class Scorecard(Value):
    triaged: int
    """Closed issues with a comment of ours."""
    fixed: int
    """Those that were closed by a fix that edits product code."""
    not_counted: dict[str, int] = Field(default_factory=dict)
    """Closed issues by why they are not in `fixed`: `no code`, `too large`, `none`."""
    first: Rate
    """The first file that the comment named is among those that the fix edited."""
    any: Rate
    """One of the first three is."""
    outcomes: dict[Subject, dict[Outcome, int]] = Field(default_factory=dict)
    """How often what the comments said was right or wrong, and how often it was missed, also without a comment."""
    by: dict[PredictedBy, Rate] = Field(default_factory=dict)
    """The first file right, by what led to it."""
    answered: Rate
    labels: Rate
    hidden: Rate
    hidden_reasons: dict[str, int] = Field(default_factory=dict)
    thumbs_up: Rate
    """Comments with at least one."""
    thumbs_down: Rate
    edited_by_others: int = 0


def count_issues(results: Sequence[IssueResult], silent: Sequence[Mapping[Subject, Outcome]] = ()) -> Scorecard:
    places = [one.place for one in results if one.place]
    fixed = [one for one in results if one.fix == "code"]
    outcomes = [*(one.outcomes for one in results if not one.edited_by_others), *silent]
    counted = {subject: Counter(one[subject] for one in outcomes if subject in one) for subject in get_args(Subject)}
    signs: list[PredictedBy] = [*get_args(MatchSource), "files", "model"]
    by = {sign: count_rate(place.first_right for place in places if place.by == sign) for sign in signs}
    return Scorecard(
        triaged=len(results),
        fixed=len(fixed),
        not_counted=dict(Counter(one.fix for one in results if one.fix != "code")),
        first=count_rate(place.first_right for place in places),
        any=count_rate(place.any_right for place in places),
        outcomes={subject: dict(counts) for subject, counts in counted.items() if counts},
        by={sign: rate for sign, rate in by.items() if rate.cases},
        answered=count_rate(one.answered for one in results),
        labels=Rate(
            hits=sum(one.labels_on_issue for one in results),
            cases=sum(one.labels for one in results),
        ),
        hidden=count_rate(None if one.hidden_as is None else bool(one.hidden_as) for one in results),
        hidden_reasons=dict(Counter(one.hidden_as for one in results if one.hidden_as)),
        thumbs_up=count_rate(_is_positive(one.thumbs_up) for one in results),
        thumbs_down=count_rate(_is_positive(one.thumbs_down) for one in results),
        edited_by_others=sum(one.edited_by_others for one in results),
    )


def _is_positive(count: int | None) -> bool | None:
    return None if count is None else count > 0
