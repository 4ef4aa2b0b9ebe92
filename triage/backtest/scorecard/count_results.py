"""Counts the results of issues. Small numbers stay numbers: a share is given from `MIN_CASES_FOR_PERCENT` cases on."""

from collections import Counter
from collections.abc import Iterable, Sequence

from pydantic import Field

from triage.backtest.scorecard.judge_issue import IssueResult, PlaceResult
from triage.domain.past_issues import PredictedBy
from triage.domain.value import Value

MIN_CASES_FOR_PERCENT = 20
_BAND_EDGES = (0.9, 0.8, 0.7, 0.5, 0.0)


class Rate(Value):
    """How many of some cases."""

    hits: int = 0
    cases: int = 0

    def __str__(self) -> str:
        if not self.cases:
            return "none yet"
        share = f" ({self._format_percent()})" if self.cases >= MIN_CASES_FOR_PERCENT else ""
        return f"{self.hits:,} of {self.cases:,}{share}"

    def _format_percent(self) -> str:
        # 99.9 % is not 100 %, and one of a thousand is not none.
        percent = 100 * self.hits / self.cases
        return f"{min(percent, 99):.0f} %" if 1 <= percent < 100 else f"{percent:.2g} %" if percent < 1 else "100 %"


class Band(Value):
    """The comments whose chance of the first file is at least `low` and below `high`."""

    low: float
    high: float
    mean_chance: float
    first: Rate


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
    without_place: int
    """Closed by such a fix, and the comment named no place."""
    bands: list[Band] = Field(default_factory=list)
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


def count_rate(values: Iterable[bool | None]) -> Rate:
    """Returns how many are true; None is no case."""
    known = [value for value in values if value is not None]
    return Rate(hits=sum(known), cases=len(known))


def count_results(results: Sequence[IssueResult]) -> Scorecard:
    places = [one.place for one in results if one.place]
    fixed = [one for one in results if one.fix == "code"]
    ours = [one for one in fixed if not one.edited_by_others]
    hidden = [None if one.hidden_as is None else bool(one.hidden_as) for one in results]
    signs: list[PredictedBy] = ["trace", "message", "name", "model"]
    by = {sign: count_rate(place.first_right for place in places if place.by == sign) for sign in signs}
    return Scorecard(
        triaged=len(results),
        fixed=len(fixed),
        not_counted=dict(Counter(one.fix for one in results if one.fix != "code")),
        first=count_rate(place.first_right for place in places),
        any=count_rate(place.any_right for place in places),
        without_place=sum(one.place is None for one in ours),
        bands=_count_bands(places),
        by={sign: rate for sign, rate in by.items() if rate.cases},
        answered=count_rate(one.answered for one in results),
        labels=Rate(
            hits=sum(one.labels_on_issue for one in results),
            cases=sum(one.labels for one in results),
        ),
        hidden=count_rate(hidden),
        hidden_reasons=dict(Counter(one.hidden_as for one in results if one.hidden_as)),
        thumbs_up=count_rate(_is_positive(one.thumbs_up) for one in results),
        thumbs_down=count_rate(_is_positive(one.thumbs_down) for one in results),
        edited_by_others=sum(one.edited_by_others for one in results),
    )


def _is_positive(count: int | None) -> bool | None:
    return None if count is None else count > 0


def _count_bands(places: Sequence[PlaceResult]) -> list[Band]:
    bands: list[Band] = []
    for high, low in zip((1.01, *_BAND_EDGES), _BAND_EDGES, strict=False):
        inside = [place for place in places if low <= place.chance < high]
        if inside:
            mean = sum(place.chance for place in inside) / len(inside)
            rate = count_rate(place.first_right for place in inside)
            bands.append(Band(low=low, high=min(1.0, high), mean_chance=round(mean, 2), first=rate))
    return bands
