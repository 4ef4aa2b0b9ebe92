"""The order of the table."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.backlog.backlog_values import make_report
from triage.backlog.backlog_page import rank_issues
from triage.domain.code import Place, Span


def found(probability: float) -> Place:
    return Place(sign="trace", rule="frame", span=Span(path="a.py", start=1, end=2), probability=probability)


def numbers(*reports: Any) -> list[int]:
    return [number or 0 for group in group_numbers(*reports) for number in group]


def group_numbers(*reports: Any) -> list[list[int | None]]:
    return [[one.issue.number for one in group] for group in rank_issues(reports)]


def test_security_then_severity_then_how_sure_the_place_is() -> None:
    reports = [
        make_report(1),
        make_report(2, best_place=found(0.4)),
        make_report(3, best_place=found(0.9)),
        make_report(4, severity="LOW"),
        make_report(5, severity="CRITICAL"),
        make_report(6, kind="feature_request", security=True),
        make_report(7, kind="question"),
    ]
    assert numbers(*reports) == [6, 5, 4, 3, 2, 1]


def test_reports_of_one_bug_stand_together_below_the_oldest() -> None:
    reports = [make_report(9, severity="HIGH"), make_report(8, same_as=5), make_report(7, same_as=8), make_report(5)]
    assert group_numbers(*reports) == [[9], [5, 8], [7]]


def test_duplicates_of_duplicates_are_one_group() -> None:
    reports = [make_report(5), make_report(8, same_as=5), make_report(9, same_as=8, severity="LOW")]
    assert group_numbers(*reports) == [[5, 8, 9]]


def test_the_severity_of_one_report_counts_for_its_group() -> None:
    reports = [make_report(1), make_report(2, severity="HIGH"), make_report(3, same_as=1, severity="CRITICAL")]
    assert numbers(*reports) == [1, 3, 2]


def test_an_earlier_issue_outside_of_the_backlog_makes_no_group() -> None:
    assert group_numbers(make_report(8, same_as=2)) == [[8]]


@given(st.lists(st.tuples(st.integers(1, 40), st.none() | st.integers(1, 40)), max_size=40))
def test_every_report_stands_in_the_table_once(pairs: list[tuple[int, int | None]]) -> None:
    reports = {number: make_report(number, same_as=same) for number, same in pairs}
    assert sorted(numbers(*reports.values())) == sorted(reports)
