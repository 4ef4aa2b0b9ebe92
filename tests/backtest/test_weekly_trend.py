"""Weeks are counted by the day on which an issue was closed."""

from datetime import timedelta

import pytest

from tests.backtest.sample_issues import DATES, ISSUES, START, at, comment, issue, judge, named
from triage.backtest.weekly_trend import count_weeks, find_monday

MONDAY = START.date()


def test_an_issue_counts_in_the_week_in_which_it_was_closed() -> None:
    found = count_weeks(judge(*ISSUES))
    assert [one.monday for one in found] == [MONDAY + timedelta(weeks=number) for number in range(4)]
    assert [(one.triaged, one.named, one.first, one.any) for one in found] == [
        (2, 2, 1, 2),
        (3, 1, 0, 0),
        (2, 0, 0, 0),
        (3, 1, 1, 1),
    ]
    assert [(one.asked, one.answered, one.labels, one.labels_on_issue) for one in found[:2]] == [
        (0, 0, 1, 1),
        (2, 1, 0, 0),
    ]
    assert [(one.hidden, one.thumbs_up, one.thumbs_down) for one in found] == [
        (0, 0, 0),
        (1, 0, 1),
        (0, 0, 0),
        (0, 1, 0),
    ]


@pytest.mark.parametrize(("day", "number"), [(0, 0), (6.999, 0), (7, 1), (-0.001, -1)])
def test_a_week_begins_on_monday_in_utc(day: float, number: int) -> None:
    assert find_monday(at(day)) == MONDAY + timedelta(weeks=number)


def test_a_result_of_an_unknown_chance_does_not_break_a_week() -> None:
    assert count_weeks(judge(issue(ours=comment(named(DATES, chance=1.0)), fix=[DATES])))[0].first == 1
