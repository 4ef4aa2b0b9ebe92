"""The table, the page, and what becomes of a measure that fails itself."""

from datetime import UTC, datetime

import pytest

from trust import measures
from trust.measure import Measure, MeasureResult
from trust.measure_process import run_measure
from trust.results_table import Row, escape_failure, list_failures, render_page, render_table
from trust.sampling import sample_evenly

SEEN = MeasureResult(2, ["seen"])
THREE = MeasureResult(3)


def measure(name: str = "Odd things", run: MeasureResult = THREE) -> Measure:
    return Measure(name, "0", "A thing that is odd.", lambda share: run, lambda: SEEN)


def row(tried: MeasureResult, blind: MeasureResult = SEEN) -> Row:
    return Row(measure(), tried, blind, 1.0)


def test_a_table_for_people_and_for_github():
    rows = [row(MeasureResult(1234, measured="0.8 s at most")), row(MeasureResult(2, ["one"]), MeasureResult(1))]
    assert render_table(rows).splitlines() == [
        "| Measure    | Cases | Failures | Goal | Measured      | Judge sees |",
        "|------------|-------|----------|------|---------------|------------|",
        "| Odd things | 1,234 | 0        | 0    | 0.8 s at most | yes        |",
        "| Odd things | 2     | 1        | 0    |               | NO         |",
    ]


@pytest.mark.parametrize(
    ("one", "kept"),
    [
        (row(MeasureResult(3)), True),
        (row(MeasureResult(3, ["one"])), False),
        (row(MeasureResult(0)), False),
        (row(MeasureResult(3), MeasureResult(2)), False),
    ],
    ids=["nothing failed", "one failed", "nothing tried", "a judge that is blind"],
)
def test_a_goal_is_met_by_cases_before_a_judge_that_sees(one: Row, kept: bool):
    assert one.is_met is kept


def test_failures_are_told_so_that_nobody_obeys_them():
    told = list_failures([row(MeasureResult(30, ["\n::error::x ##[error]y `@mona` \x1b[31m\u202e", *["more"] * 24]))])
    assert told[0] == "- Odd things: `\\n::error::x ## [error]y '@mona' \\x1b[31m\\u202e`"
    assert told[-1] == "- Odd things: 5 more"
    assert len(escape_failure("x" * 1_000)) < 400


def test_a_judge_that_is_blind_is_a_failure():
    assert list_failures([row(MeasureResult(1), MeasureResult(1))]) == [
        "- Odd things: `the judge saw nothing where it had to`"
    ]


def test_the_page_says_when_and_what_each_row_means():
    written = render_page([row(MeasureResult(3))], "1.2.3", datetime(2026, 11, 21, tzinfo=UTC), 0.1)
    assert "Version 1.2.3, 2026-11-21, Python 3" in written
    assert "10% of the cases" in written
    assert "- **Odd things**: A thing that is odd." in written
    assert "Failures:" not in written


def test_a_measure_that_fails_itself_is_a_row(monkeypatch: pytest.MonkeyPatch):
    def broken(share: float) -> MeasureResult:
        raise ZeroDivisionError("no such thing")

    monkeypatch.setattr(measures, "MEASURES", [Measure("Odd things", "0", "", broken, lambda: SEEN)])
    figure, blind = run_measure("Odd things", 1.0)
    assert figure.failures[0].startswith("the measure itself failed: ZeroDivisionError: no such thing (test_table.py:")
    assert blind.failures == []


def test_names_are_told_apart():
    names = [one.name for one in measures.MEASURES]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("share", "chosen"), [(1.0, [0, 1, 2, 3, 4, 5, 6, 7]), (0.25, [0, 4]), (0.0, [0]), (9.0, [*range(8)])]
)
def test_a_share_is_spread_evenly(share: float, chosen: list[int]):
    assert sample_evenly(range(8), share) == chosen
