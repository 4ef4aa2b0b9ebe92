"""The report at a terminal: what it says of the run."""

import io
from collections.abc import Sequence

import pytest
from rich.console import Console

from tests.say.sample_reports import FULL, RULES, UNSAID, change_report
from tests.say.sample_runs import HOSTILE_RUN, REFUSED, SILENT
from triage.domain.code import Place, Span, Suspect
from triage.domain.report import Citations, RunReport
from triage.say.terminal_page import render_terminal_page


def shown(report: RunReport, lines: Sequence[str] = ()) -> list[str]:
    console = Console(file=io.StringIO(), width=400, color_system=None)
    console.print(render_terminal_page(report, lines), crop=False)
    assert isinstance(console.file, io.StringIO)
    return [line.strip() for line in console.file.getvalue().splitlines()]


@pytest.mark.parametrize(
    ("report", "engine"),
    [
        (FULL, "· by a model · 31,130 tokens, $0.0837, 27.0 s"),
        (RULES, "· by rules, no model · 2.3 s"),
        (SILENT, "· by rules (a model was asked and gave no usable answer) · 6.1 s"),
    ],
)
def test_the_page_says_who_answered_and_the_cost(report, engine):
    assert [line for line in shown(report) if line.endswith(engine)]


@pytest.mark.parametrize(
    ("sign", "line", "text", "first"),
    [
        (
            "trace",
            24,
            "ValueError: bad date",
            "The innermost line of this repository in the error is in src/dates.py, parse. ValueError: bad date",
        ),
        ("message", 24, "bad date", "The message bad date comes from src/dates.py, parse."),
        ("name", None, "parse", "The report names parse, which src/dates.py defines."),
        ("name", None, "", "The report names src/dates.py."),
        ("use", 24, "bad_date", "The error shows bad_date, which stands in src/dates.py, parse."),
    ],
)
def test_the_first_line_is_the_place_that_rules_find(sign, line, text, first):
    span = Span(path="src/dates.py", start=21, end=27)
    found = Place(sign=sign, rule="frame", span=span, line=line, symbol="parse", text=text, probability=0.87)
    suspect = Suspect(path=span.path, span=span, reason="found")
    lines = shown(RULES.model_copy(update={"best_place": found, "suspects": [suspect]}))
    assert lines[0] == first
    assert (f"{span.path}:24" if line else f"{span.path}:21-27") in lines
    assert shown(UNSAID)[0] == "Nothing in this report leads to a place in the code."
    assert shown(UNSAID.model_copy(update={"index": None}))[0].startswith("No code was read")


def test_the_code_is_shown_around_the_line_that_fails():
    span = Span(path="src/dates.py", start=2, end=40)
    found = Place(sign="trace", rule="frame", span=span, line=24, text="ValueError: bad date", symbol="parse")
    report = RULES.model_copy(update={"best_place": found})
    lines = [f"line_{number} = \x1b[2J{number}" for number in range(1, 61)]
    code = [line for line in shown(report, lines=lines) if "line_" in line]
    assert [line.split()[-3] for line in code] == [f"line_{number}" for number in range(17, 32)]
    assert [line for line in code if line.startswith("❱")] == ["❱ 24 line_24 = 24"]
    assert not [line for line in shown(report, lines=lines[:30]) if "line_" in line], "the file is another one by now"


def test_a_report_without_references_counts_none():
    report = RULES.model_copy(update={"citations": Citations()})
    assert not [line for line in shown(report) if "references" in line]


def test_who_decided():
    assert shown(REFUSED)[-2] == "4 decisions; 10 requests to models, 5 tool calls."


def test_no_control_character_reaches_a_terminal():
    assert "\x1b" not in "\n".join(shown(HOSTILE_RUN))


def test_whether_an_issue_like_this_gets_a_comment():
    assert shown(RULES)[-1] == "When it is opened, an issue like this gets no comment."
    triaged = RULES.model_copy(update={"comment_reason": "found"})
    assert shown(triaged)[-1] == "When it is opened, an issue like this gets a comment (found)."


def test_a_feature_request_shows_where_it_may_go():
    lines = shown(change_report(FULL, kind="feature_request", verdict=None))
    assert "Where it may go (3)" in lines
    assert any(FULL.suspects[0].path in line for line in lines)
