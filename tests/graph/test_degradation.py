"""Degradation levels: what goes first, and what last."""

import hypothesis
import pytest
from hypothesis import strategies as st

from triage.domain.run import Limits, Usage
from triage.graph.routing import LEVELS, RemainingBudget, choose_level

LIMITS = Limits(tokens=100_000, usd=1.0)


def tokens(count: int) -> Usage:
    return Usage(input_tokens=count, calls=1)


@pytest.mark.parametrize(
    ("spent", "last_round", "expected"),
    [
        (Usage(), Usage(), "whole"),
        (tokens(60_000), tokens(10_000), "whole"),
        (tokens(60_000), tokens(25_000), "no further rounds"),
        (tokens(71_000), Usage(), "no web search"),
        (tokens(81_000), Usage(), "fast model"),
        (tokens(96_000), Usage(), "rules"),
        (tokens(200_000), Usage(), "rules"),
        (Usage(input_tokens=10, calls=1, usd=0.75), Usage(), "no web search"),
        (Usage(input_tokens=10, calls=1, usd=0.99), Usage(), "rules"),
        (Usage(input_tokens=10, calls=1, usd=None), Usage(), "whole"),
    ],
)
def test_levels(spent: Usage, last_round: Usage, expected: str):
    assert choose_level(spent, last_round, LIMITS) == expected


def test_a_level_includes_those_before_it():
    assert RemainingBudget(LIMITS, 300, level="fast model").has_given_up("no web search")
    assert not RemainingBudget(LIMITS, 300, level="no web search").has_given_up("fast model")


@hypothesis.given(st.integers(0, 150_000), st.integers(0, 150_000), st.integers(0, 100_000))
def test_who_spends_more_never_climbs_up_again(less: int, more: int, last: int):
    less, more = sorted((less, more))
    down = [LEVELS.index(choose_level(tokens(spent), tokens(last), LIMITS)) for spent in (less, more)]
    assert down == sorted(down)
