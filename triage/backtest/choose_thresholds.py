"""Chooses the thresholds that suit a repository, from how often the places that it leads to were right.

A named place that is wrong costs as much as four right ones gain: so those that are named should be right in four of
five. A repository has few issues of each sign, so a threshold moves only for a clear gain.
"""

from collections.abc import Sequence
from typing import get_args

from triage.backtest.past_case import LikelyPlace
from triage.domain.code import MatchSource
from triage.domain.project_config import Thresholds
from triage.domain.value import Value

COST_OF_WRONG = 4
MIN_GAIN = 2 * COST_OF_WRONG
"""As much as two wrong places less, or eight right ones more: one issue more or less is chance."""
MIN_PLACES = 8
LOWEST, HIGHEST, STEP = 0.1, 0.95, 0.05
MAX_LOWERED = 0.2
"""A few lucky issues must not make the comments much bolder than elsewhere."""


class ThresholdChoice(Value):
    """The threshold of one sign, and what speaks for it."""

    sign: MatchSource
    before: float
    after: float
    places: int
    """Issues that this sign leads anywhere in."""
    named_before: int
    right_before: int
    named_after: int
    right_after: int


def choose_thresholds(
    places: Sequence[LikelyPlace], before: Thresholds, *, may_lower: bool = True
) -> list[ThresholdChoice]:
    """Return the choice for each sign. The threshold for duplicates stays: an unmarked duplicate is no mistake.

    Without `may_lower` thresholds are only raised: messages of commits lead to places more surely than issues do.
    """
    max_lowered = MAX_LOWERED if may_lower else 0.0
    by_sign = {sign: [place for place in places if place.sign == sign] for sign in get_args(MatchSource)}
    return [_choose(sign, found, before.for_sign(sign), max_lowered) for sign, found in by_sign.items()]


def apply_choices(before: Thresholds, choices: Sequence[ThresholdChoice]) -> Thresholds:
    return before.model_copy(update={choice.sign: choice.after for choice in choices})


def _choose(sign: MatchSource, places: Sequence[LikelyPlace], before: float, max_lowered: float) -> ThresholdChoice:
    after = _find_best(places, before, max_lowered) if len(places) >= MIN_PLACES else before
    (named_before, right_before), (named_after, right_after) = _count(places, before), _count(places, after)
    return ThresholdChoice(
        sign=sign,
        before=before,
        after=after,
        places=len(places),
        named_before=named_before,
        right_before=right_before,
        named_after=named_after,
        right_after=right_after,
    )


def _find_best(places: Sequence[LikelyPlace], before: float, max_lowered: float) -> float:
    steps = round((HIGHEST - LOWEST) / STEP)
    levels = [round(LOWEST + number * STEP, 2) for number in range(steps + 1)]
    allowed = [before, *(level for level in levels if level >= before - max_lowered)]
    best = max(allowed, key=lambda level: (_rate(places, level), -abs(level - before)))
    return best if _rate(places, best) - _rate(places, before) >= MIN_GAIN else before


def _rate(places: Sequence[LikelyPlace], threshold: float) -> int:
    named, right = _count(places, threshold)
    return right - COST_OF_WRONG * (named - right)


def _count(places: Sequence[LikelyPlace], threshold: float) -> tuple[int, int]:
    named = [place for place in places if place.chance >= threshold]
    return len(named), sum(place.edited for place in named)
