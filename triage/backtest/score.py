"""Counts of a backtest. Every figure can be counted again from the results."""

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import get_args

from pydantic import Field

from triage.backtest.choose_thresholds import ThresholdChoice, choose_thresholds
from triage.backtest.past_case import CaseResult, DuplicateResult
from triage.domain.code import MatchSource
from triage.domain.project_config import Thresholds
from triage.domain.run import Status
from triage.domain.value import Value

BAND_EDGES = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)


class Band(Value):
    """Issues whose first file has a chance from `low` to `high`."""

    low: float
    high: float
    issues: int
    right: int
    """First files that the fix edited."""
    mean_chance: float


class Share(Value):
    count: int = 0
    of: int = 0

    def __str__(self) -> str:
        return f"{self.count} of {self.of}"


class BacktestScore(Value):
    issues: int
    first: Share
    """The first file was edited."""
    ranked: Share
    """One of the first three was."""
    bugs: Share
    """Read as a bug."""
    bands: list[Band] = Field(default_factory=list)
    comments: Share
    """`comment: auto` would have written one."""
    speaks: dict[str, int] = Field(default_factory=dict)
    """Comments by their reason."""
    named: Share
    """Comments that name a place which the fix edited, of those that name one."""
    named_by_sign: dict[MatchSource, Share] = Field(default_factory=dict)
    analysed: Share
    """The same for comments with a model's analysis, by the first file."""
    duplicates: Share
    """Marked duplicates of which an earlier report of the same group was named."""
    wrong_duplicates: int = 0
    """Marked duplicates of which an issue of another group was named."""
    unmarked_named: Share
    """Fixed issues, which nobody marked as a duplicate, of which an earlier issue was named."""
    incomplete: int = 0
    """Runs that were cut or degraded. They are not in the bands, and no threshold is chosen by them."""
    seconds: float = 0.0
    median_seconds: float = 0.0
    usd: float = 0.0
    has_price: bool = True
    by_model: bool = False
    choices: list[ThresholdChoice] = Field(default_factory=list)


def score_results(
    results: Sequence[CaseResult],
    duplicates: Sequence[DuplicateResult],
    thresholds: Thresholds,
    *,
    by_issues: bool = True,
) -> BacktestScore:
    complete = [result for result in results if result.status is Status.COMPLETE]
    places = [result.place for result in complete if result.place]
    named = [result for result in results if result.speaks == "found" and result.place]
    analysed = [result for result in results if result.speaks == "analysis"]
    speaks = Counter(str(result.speaks) for result in results if result.speaks)
    seconds = [result.seconds for result in results]
    return BacktestScore(
        issues=len(results),
        first=_share(result.is_first_right for result in results),
        ranked=_share(result.is_among_ranked for result in results),
        bugs=_share(result.kind == "bug" for result in results),
        bands=_count_bands(complete),
        comments=_share(result.speaks is not None for result in results),
        speaks=dict(speaks.most_common()),
        named=_share(_is_right(result) for result in named),
        named_by_sign=_count_signs(named),
        analysed=_share(result.is_first_right for result in analysed),
        duplicates=_share(one.outcome == "found" for one in duplicates),
        wrong_duplicates=sum(one.outcome == "other" for one in duplicates),
        unmarked_named=_share(result.duplicate is not None for result in results),
        incomplete=len(results) - len(complete),
        seconds=round(sum(seconds), 1),
        median_seconds=round(statistics.median(seconds), 1) if seconds else 0.0,
        usd=sum(result.usd for result in results),
        has_price=all(result.has_price for result in results),
        by_model=any(result.by_model for result in results),
        choices=choose_thresholds(places, thresholds, may_lower=by_issues),
    )


def _is_right(result: CaseResult) -> bool:
    return result.place is not None and result.place.edited


def _count_signs(named: Sequence[CaseResult]) -> Mapping[MatchSource, Share]:
    by_sign = {
        sign: _share(_is_right(result) for result in named if result.place and result.place.sign == sign)
        for sign in get_args(MatchSource)
    }
    return {sign: share for sign, share in by_sign.items() if share.of}


def _count_bands(results: Sequence[CaseResult]) -> list[Band]:
    bands = []
    for low, high in pairwise(BAND_EDGES):
        inside = [one for one in results if one.files and (low <= one.chance < high or one.chance == high == 1.0)]
        if inside:
            mean = statistics.fmean(one.chance for one in inside)
            right = sum(one.is_first_right for one in inside)
            bands.append(Band(low=low, high=high, issues=len(inside), right=right, mean_chance=round(mean, 3)))
    return bands


def _share(flags: Iterable[bool]) -> Share:
    counted = list(flags)
    return Share(count=sum(counted), of=len(counted))
