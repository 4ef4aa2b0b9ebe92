"""Rates with small numbers, and what they are counted over."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.backtest.scorecard.sample_issues import ISSUES, comment, issue, judge, named
from triage.backtest.scorecard.count_results import Rate, count_rate, count_results


@pytest.mark.parametrize(
    ("rate", "text"),
    [
        (Rate(), "none yet"),
        (Rate(hits=3, cases=4), "3 of 4"),
        (Rate(hits=19, cases=19), "19 of 19"),
        (Rate(hits=15, cases=20), "15 of 20 (75 %)"),
        (Rate(hits=1_001, cases=2_000), "1,001 of 2,000 (50 %)"),
        (Rate(hits=999, cases=1_000), "999 of 1,000 (99 %)"),
        (Rate(hits=1, cases=1_000), "1 of 1,000 (0.1 %)"),
    ],
)
def test_a_share_needs_twenty_cases(rate: Rate, text: str) -> None:
    assert str(rate) == text


def test_unknown_is_no_case() -> None:
    assert count_rate([True, None, False, True]) == Rate(hits=2, cases=3)


def test_the_card_of_the_sample() -> None:
    card = count_results(judge(*ISSUES))
    assert (card.triaged, card.fixed, card.without_place, card.edited_by_others) == (10, 6, 1, 1)
    assert card.not_counted == {"none": 2, "no code": 1, "too large": 1}
    assert (card.first, card.any) == (Rate(hits=2, cases=4), Rate(hits=3, cases=4))
    assert [(band.low, band.mean_chance, band.first) for band in card.bands] == [
        (0.9, 0.93, Rate(hits=1, cases=2)),
        (0.7, 0.72, Rate(hits=0, cases=1)),
        (0.0, 0.45, Rate(hits=1, cases=1)),
    ]
    assert {sign: rate.cases for sign, rate in card.by.items()} == {"trace": 1, "message": 1, "name": 1, "model": 1}
    assert (card.answered, card.labels) == (Rate(hits=1, cases=2), Rate(hits=1, cases=1))
    assert (card.hidden, card.hidden_reasons) == (Rate(hits=1, cases=10), {"off-topic": 1})
    assert (card.thumbs_up, card.thumbs_down) == (Rate(hits=1, cases=10), Rate(hits=1, cases=10))


def test_what_the_server_does_not_say_is_not_counted() -> None:
    silent = comment(thumbs_up=None, thumbs_down=None, hidden_as=None)
    card = count_results(judge(issue(ours=silent)))
    assert (card.hidden, card.thumbs_up, card.thumbs_down) == (Rate(), Rate(), Rate())


@given(st.lists(st.floats(0, 1), max_size=40))
def test_every_chance_is_in_one_band(chances: list[float]) -> None:
    card = count_results(
        judge(*(issue(ours=comment(named("src/a.py", chance=one)), fix=["src/a.py"]) for one in chances))
    )
    assert sum(band.first.cases for band in card.bands) == len(chances)
    assert all(band.low - 0.005 <= band.mean_chance <= band.high + 0.005 for band in card.bands)
