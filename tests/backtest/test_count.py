"""The figures of a backtest are counts of its results."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.backtest.sample_issues import ISSUES, comment, issue, judge
from tests.backtest.samples import place, result
from triage.backtest.count import Rate, count_bands, count_issues, count_rate, score_results
from triage.backtest.results import DuplicateResult
from triage.domain.run import Status

RESULTS = [
    result(1, rank=1, chance=0.95, comment_reason="found", place=place(0.95)),
    result(2, rank=1, chance=0.72, comment_reason="found", place=place(0.72, edited=False)),
    result(3, rank=3, chance=0.25, comment_reason="question"),
    result(4, rank=None, chance=0.05, kind="question", usd=0.25, by_model=True),
    result(
        5, rank=None, chance=0.0, files=[], status=Status.DEGRADED, duplicate=3, comment_reason="duplicate", seconds=9.0
    ),
    result(6, rank=2, chance=0.3, comment_reason="analysis"),
]
DUPLICATES = [
    DuplicateResult(number=8, title="x", original=1, named=1, outcome="found"),
    DuplicateResult(number=9, title="x", original=1, named=5, outcome="other"),
    DuplicateResult(number=10, title="x", original=1, outcome="none"),
]


def test_every_figure():
    score = score_results(RESULTS, DUPLICATES)
    assert (str(score.first), str(score.ranked), str(score.bugs)) == ("2 of 6", "4 of 6", "5 of 6")
    assert str(score.comments) == "5 of 6"
    assert score.comment_reasons == {"found": 2, "question": 1, "duplicate": 1, "analysis": 1}
    assert (str(score.named), str(score.analysed)) == ("1 of 2", "0 of 1")
    assert {sign: str(share) for sign, share in score.named_by_sign.items()} == {"name": "1 of 2"}
    assert (str(score.duplicates), score.wrong_duplicates, str(score.unmarked_named)) == ("1 of 3", 1, "1 of 6")
    assert (score.incomplete, score.seconds, score.median_seconds) == (1, 16.5, 1.5)
    assert (score.usd, score.by_model) == (0.25, True)


def test_bands_hold_each_issue_with_a_file_once():
    bands = score_results([*RESULTS, result(7, chance=1.0)], []).bands
    assert [(band.low, band.high, band.first.cases, band.first.hits) for band in bands] == [
        (0.0, 0.1, 1, 0),
        (0.1, 0.3, 1, 0),
        (0.3, 0.5, 1, 0),
        (0.7, 0.9, 1, 1),
        (0.9, 1.0, 2, 2),
    ]
    assert bands[-1].mean_chance == 0.97


def test_nothing_was_triaged():
    score = score_results([], [])
    assert (score.issues, str(score.first), score.bands, score.median_seconds) == (0, "none yet", [], 0.0)


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
    card = count_issues(judge(*ISSUES))
    assert (card.triaged, card.fixed, card.edited_by_others) == (11, 6, 1)
    assert card.outcomes == {
        "place": {"right": 2, "wrong": 1, "missed": 1},
        "cause": {"right": 1},
        "known": {"right": 1},
        "fixed": {"wrong": 1},
        "question": {"right": 1},
    }
    assert card.not_counted == {"none": 3, "no code": 1, "too large": 1}
    assert (card.first, card.any) == (Rate(hits=2, cases=4), Rate(hits=3, cases=4))
    assert {sign: rate.cases for sign, rate in card.by.items()} == {"trace": 1, "message": 1, "name": 1, "model": 1}
    assert (card.answered, card.labels) == (Rate(hits=1, cases=2), Rate(hits=1, cases=1))
    assert (card.hidden, card.hidden_reasons) == (Rate(hits=1, cases=11), {"off-topic": 1})
    assert (card.thumbs_up, card.thumbs_down) == (Rate(hits=1, cases=11), Rate(hits=1, cases=11))


def test_what_the_server_does_not_say_is_not_counted() -> None:
    silent = comment(thumbs_up=None, thumbs_down=None, hidden_as=None)
    card = count_issues(judge(issue(ours=silent)))
    assert (card.hidden, card.thumbs_up, card.thumbs_down) == (Rate(), Rate(), Rate())


@given(st.lists(st.floats(0, 1), max_size=40))
def test_every_chance_is_in_one_band(chances: list[float]) -> None:
    bands = count_bands([(one, True) for one in chances])
    assert sum(band.first.cases for band in bands) == len(chances)
    assert all(band.low - 0.005 <= band.mean_chance <= band.high + 0.005 for band in bands)
