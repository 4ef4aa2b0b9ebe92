"""The table, the page, and a measure that breaks."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from trust import measures
from trust.measure import Measure, MeasureResult, sample_evenly
from trust.measure_process import run_measure
from trust.results_table import Row, escape_failure, list_failures, render_page, render_table

TRUST_PAGE = Path(__file__).parents[2] / "docs" / "trust.md"

DETECTED = MeasureResult(2, ["detected"])
THREE = MeasureResult(3)


def measure(name: str = "Odd things", run: MeasureResult = THREE) -> Measure:
    return Measure(name, "0", "A thing that is odd.", lambda share: run, lambda: DETECTED)


def row(result: MeasureResult, without_defence: MeasureResult = DETECTED) -> Row:
    return Row(measure(), result, without_defence, 1.0)


def test_a_table_for_people_and_for_github():
    rows = [row(MeasureResult(1234, measured="0.8 s at most")), row(MeasureResult(2, ["one"]), MeasureResult(1))]
    assert render_table(rows).splitlines() == [
        "| Measure    | Cases | Failures | Goal | Measured      | Detects failures |",
        "|------------|-------|----------|------|---------------|------------------|",
        "| Odd things | 1,234 | 0        | 0    | 0.8 s at most | yes              |",
        "| Odd things | 2     | 1        | 0    |               | NO               |",
    ]


@pytest.mark.parametrize(
    ("one", "is_met"),
    [
        (row(MeasureResult(3)), True),
        (row(MeasureResult(3, ["one"])), False),
        (row(MeasureResult(0)), False),
        (row(MeasureResult(3), MeasureResult(2)), False),
    ],
    ids=["nothing failed", "one failed", "nothing tried", "failures not detected"],
)
def test_a_goal_needs_cases_without_failures_and_detection(one: Row, is_met: bool):
    assert one.is_met is is_met


def test_failures_are_escaped():
    lines = list_failures([row(MeasureResult(30, ["\n::error::x ##[error]y `@mona` \x1b[31m\u202e", *["more"] * 24]))])
    assert lines[0] == "- Odd things: `\\n::error::x ## [error]y '@mona' \\x1b[31m\\u202e`"
    assert lines[-1] == "- Odd things: 5 more"
    assert len(escape_failure("x" * 1_000)) < 400


def test_failures_that_are_not_detected_are_a_failure():
    assert list_failures([row(MeasureResult(1), MeasureResult(1))]) == [
        "- Odd things: `it did not detect failures without the defence`"
    ]


def test_the_page_has_a_date_and_the_meaning_of_each_row():
    page = render_page([row(MeasureResult(3))], "1.2.3", datetime(2026, 11, 21, tzinfo=UTC), 0.1)
    assert "Version 1.2.3, 2026-11-21, Python 3" in page
    assert "10% of the cases" in page
    assert "- **Odd things**: 3 cases, 0 failures. A thing that is odd." in page
    assert "Failures:" not in page


def test_a_measure_that_breaks_is_a_row_with_a_failure(monkeypatch: pytest.MonkeyPatch):
    def broken(share: float) -> MeasureResult:
        raise ZeroDivisionError("no such thing")

    monkeypatch.setattr(measures, "MEASURES", [Measure("Odd things", "0", "", broken, lambda: DETECTED)])
    result, without_defence = run_measure("Odd things", 1.0)
    assert result.failures[0].startswith(
        "the measure itself failed: ZeroDivisionError: no such thing (test_results_table.py:"
    )
    assert without_defence.failures == []


@pytest.mark.parametrize(
    ("share", "chosen"), [(1.0, [0, 1, 2, 3, 4, 5, 6, 7]), (0.25, [0, 4]), (0.0, [0]), (9.0, [*range(8)])]
)
def test_a_share_is_spread_evenly(share: float, chosen: list[int]):
    assert sample_evenly(range(8), share) == chosen


def test_the_page_has_a_row_for_each_measure() -> None:
    lines = [line for line in TRUST_PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("- **")]
    assert [line.partition("**: ")[0] for line in lines] == [f"- **{one.name}" for one in measures.MEASURES]
    for line, one in zip(lines, measures.MEASURES, strict=True):
        assert line.endswith(f". {one.description}")
        assert (f" (goal: {one.goal})." in line) is bool(re.search("[1-9]", one.goal))
