"""A threshold moves only for a clear gain, and then to where one wrong place costs four right ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.backtest.samples import place
from triage.backtest.choose_thresholds import COST_OF_WRONG, MIN_PLACES, apply_choices, choose_thresholds
from triage.backtest.past_case import LikelyPlace
from triage.domain.project_config import Thresholds


def choose(places: list[LikelyPlace], before: float = 0.7) -> float:
    return apply_choices(Thresholds(name=before), choose_thresholds(places, Thresholds(name=before))).name


def test_few_places_move_nothing():
    assert choose([place(0.9, edited=False)] * (MIN_PLACES - 1)) == 0.7


def test_wrong_places_raise_the_threshold_above_them():
    places = [place(0.75, edited=False)] * 4 + [place(0.92)] * 6
    assert choose(places) == 0.8


def test_right_places_below_lower_it_but_not_far():
    assert choose([place(0.6)] * 8) == 0.6
    assert choose([place(0.3)] * 20) == 0.7, "a few lucky issues must not make it much bolder"


def test_messages_of_commits_only_raise_thresholds():
    below, wrong = [place(0.6)] * 8, [place(0.75, edited=False)] * 8
    for places, after in ((below, 0.7), (wrong, 0.8)):
        choices = choose_thresholds(places, Thresholds(), may_lower=False)
        assert apply_choices(Thresholds(), choices).name == after


def test_a_small_gain_moves_nothing():
    assert choose([place(0.6)] * 3 + [place(0.9)] * 8) == 0.7


def test_if_nothing_is_right_hardly_anything_is_named():
    assert choose([place(0.9, edited=False)] * 10) == 0.95


def test_the_choice_says_what_speaks_for_it():
    [name] = [
        one
        for one in choose_thresholds([place(0.75, edited=False)] * 4 + [place(0.92)] * 6, Thresholds())
        if one.sign == "name"
    ]
    assert (name.named_before, name.right_before, name.named_after, name.right_after) == (10, 6, 6, 6)


def test_each_sign_has_its_own_and_duplicates_stay():
    places = [place(0.9, edited=False, sign="trace")] * 10
    before = Thresholds(duplicate=0.66)
    after = apply_choices(before, choose_thresholds(places, before))
    assert after == before.model_copy(update={"trace": 0.95})


@given(
    st.lists(st.tuples(st.floats(0, 1), st.booleans()), max_size=40),
    st.sampled_from([0.1, 0.3, 0.5, 0.7, 0.95]),
)
def test_no_choice_is_worse_than_the_threshold_before(raw: list[tuple[float, bool]], before: float):
    places = [place(chance, edited) for chance, edited in raw]
    after = choose(places, before)

    def rate(threshold: float) -> int:
        named = [one for one in places if one.chance >= threshold]
        right = sum(one.edited for one in named)
        return right - COST_OF_WRONG * (len(named) - right)

    assert rate(after) >= rate(before)
    assert after == pytest.approx(before) or 0.1 <= after <= 0.95
