"""What a report says, as text and as JSON."""

import json

import pytest

from tests.issue import issues
from triage.domain.issue import Issue
from triage.issue.reading_page import dump_summary, format_summary, name_kind


def test_the_page_has_what_the_report_has():
    page = format_summary(issues.COMPLETE)
    assert page.startswith("kind:        bug (")
    assert "version:     2.4.1\n" in page
    assert "traces:      python, 2 frames, ends in /srv/lib/shop/cart.py:41\n" in page
    assert "regression:  “Since the upgrade, an empty cart breaks the checkout page.”\n" in page
    assert "regression:  worked in 1.2, broken in 1.3 (“It worked in 1.2 and fails in 1.3.”)\n" in format_summary(
        Issue(title="Wrong total", body="It worked in 1.2 and fails in 1.3.")
    )
    assert "regression" not in format_summary(issues.THIN)
    assert "Would be asked" not in page


def test_questions_are_listed_below():
    page = format_summary(issues.THIN)
    assert "\nWould be asked:\n- " in page
    assert "too uncertain to say" in page


def test_support_and_security_are_named():
    support = Issue(
        title="How do I install this with pip?", body="I tried `pip install x` and get an error. Please help."
    )
    assert format_summary(support).startswith("kind:        support (")
    assert "; may report a vulnerability" in format_summary(Issue(title="XSS in the comment field"))


def test_no_control_characters_reach_the_terminal():
    page = format_summary(
        Issue(title="Crash \x1b[31m", body="```\nValueError: a\x1b]0;b\x07c\n```\nVersion 1.2.3\x1b[2J")
    )
    assert "\x1b" not in page
    assert "\x07" not in page


def test_json_has_the_kinds_of_the_questions():
    fields = json.loads(dump_summary(issues.VAGUE_CRASH))
    assert fields["missing"] == ["reproduction", "error_output", "version"]
    assert fields["kind"] == "bug"
    assert set(fields) == {
        *(
            "kind",
            "probability",
            "certain",
            "language",
            "support",
            "security",
            "version",
            "environment",
            "error",
            "traces",
        ),
        *("regression", "severity", "symptom", "reproduction", "expectation", "missing", "places"),
    }


@pytest.mark.parametrize(
    ("issue", "word"), [(issues.COMPLETE, "bug"), (issues.FEATURE, "feature"), (issues.QUESTION, "question")]
)
def test_one_word(issue: Issue, word: str):
    assert name_kind(issue) == word
