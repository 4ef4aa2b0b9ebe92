"""The figures of a backtest are counts of its results."""

import pytest

from tests.backtest.sample_issues import ISSUES, judge
from tests.backtest.samples import place, result
from triage.backtest.backtest_page import count_figures
from triage.backtest.judge import Rate, count_issues, count_rate
from triage.domain.run import Status

RESULTS = [
    result(1, rank=1, comment_reason="found", place=place()),
    result(2, rank=1, comment_reason="found", place=place(edited=False)),
    result(3, rank=3, comment_reason="question"),
    result(4, rank=None, kind="question", usd=0.25, by_model=True),
    result(5, rank=None, files=[], status=Status.DEGRADED, duplicate=3, comment_reason="duplicate", seconds=9.0),
    result(6, rank=2, comment_reason="analysis"),
]


def test_every_figure():
    assert [(one.name, one.figure) for one in count_figures(RESULTS, by_issues=True)] == [
        ("First file right", "2 of 6"),
        ("Among the first three", "4 of 6"),
        ("Read as a bug", "5 of 6"),
        ("Comments", "5 of 6"),
        ("Named places right", "1 of 2"),
        ("One of the named files right", "1 of 2"),
        ("Duplicates named", "1 of 6"),
        ("Incomplete", "1 of 6"),
        ("Time", "16 s"),
        ("Cost", "$0.25"),
    ]


def test_what_a_figure_says():
    said = {one.name: one.explanation for one in count_figures(RESULTS, by_issues=True)}
    assert said["Comments"] == "found: 2, question: 1, duplicate: 1, analysis: 1"
    assert said["Time"] == "median 1.5 s an issue"


def test_nothing_was_triaged():
    figures = count_figures([], by_issues=False)
    assert [one.figure for one in figures] == ["0 of 0", "0 of 0", "0 of 0", "0 s"]


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
    assert (card.answered, card.labels) == (Rate(hits=1, cases=2), Rate(hits=1, cases=1))
