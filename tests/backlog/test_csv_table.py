"""The CSV file: a line per issue, and nothing that a spreadsheet runs."""

import csv
import io
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.backlog.backlog_values import make_plan, make_report
from tests.comment.sample_reports import COMMIT, missing
from triage.backlog.backlog import LeftOut
from triage.backlog.csv_table import BOM, COLUMNS, make_safe_cell, render_csv
from triage.domain.code import BestPlace, Span

HOSTILE = st.text(st.sampled_from("=+-@\t\r\n;,\"'|<>&a1 \u200b\ufeff＝"), max_size=12) | st.text(max_size=30)
FOUND = BestPlace(
    sign="message", span=Span(path="src/a.py", start=3, end=9), line=5, quote="x", text="y", probability=0.81
)


def read(text: str) -> list[dict[str, str]]:
    assert text.startswith(BOM)
    return list(csv.DictReader(io.StringIO(text.removeprefix(BOM), newline="")))


def test_what_a_line_says() -> None:
    report = make_report(
        7,
        "Crash",
        same_as=5,
        severity="HIGH",
        best_place=FOUND,
        missing_information=[missing("version", "Which?", "Why")],
    )
    (row,) = read(render_csv(make_plan([[7]]), [report], {7: 5}, []))
    assert tuple(row) == COLUMNS
    assert row | {} == {
        "number": "7",
        "title": "Crash",
        "url": "https://github.com/acme/ledger/issues/7",
        "kind": "bug",
        "severity": "HIGH",
        "place": "src/a.py:5",
        "place_url": f"https://github.com/acme/ledger/blob/{COMMIT}/src/a.py#L5",
        "chance": "0.81",
        "found_by": "has the text of the message, 8 of 10",
        "same_as": "5",
        "group": "5",
        "questions": "version",
        "verdict": "CONFIRMED",
        "engine": "rules",
        "usd": "",
        "tokens": "",
        "not_triaged": "",
    }


def test_a_security_report_tells_nothing() -> None:
    (row,) = read(render_csv(make_plan([[7]]), [make_report(7, "Steal a token", security=True)], {}, []))
    assert (row["title"], row["kind"]) == ("Possible security report", "security")


def test_what_was_not_triaged_has_a_line_with_the_reason() -> None:
    (row,) = read(render_csv(make_plan([[7]]), [], {}, [LeftOut(number=7, title="T", reason="A bot opened it.")]))
    assert (row["number"], row["title"], row["not_triaged"]) == ("7", "T", "A bot opened it.")


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("  @SUM(1)", "'@SUM(1)"),
        ("\u200b=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
        ("a;=1+1", "a;'=1+1"),
        ("a - b = c", "a - b = c"),
        ("＝1", "'＝1"),
        ("one\ntwo", "one two"),
    ],
)
def test_a_cell_is_no_formula(text: str, cell: str) -> None:
    assert make_safe_cell(text) == cell


@example('x";=HYPERLINK("http://a")')
@given(HOSTILE)
def test_no_text_makes_a_formula_or_another_line(title: str) -> None:
    text = render_csv(make_plan([[7]]), [make_report(7, title)], {}, [LeftOut(number=8, title=title, reason=title)])
    assert [row["number"] for row in read(text)] == ["7", "8"]
    for delimiter in ",;\t":  # of a spreadsheet, by its country
        for row in csv.reader(io.StringIO(text.removeprefix(BOM), newline=""), delimiter=delimiter):
            assert not [cell for cell in row if re.match(r"[\s\"]*[=+@＝＋＠-]", cell)]
