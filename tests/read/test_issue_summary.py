"""What a report says, in a few fields, as text and as JSON."""

import json

import pytest
import yaml

from tests.read import issues
from triage.domain.issue import Issue
from triage.read.issue_summary import dump_summary, format_summary, name_kind, summarize_issue


def test_a_report_that_says_nothing_of_it_has_none_of_it():
    summary = summarize_issue(Issue(title="The header is large", body="It covers half of the page."))
    assert (summary.version, summary.error, summary.regression, summary.severity) == (None,) * 4
    assert summary.traces == []
    assert [question.kind for question in summary.missing] == ["reproduction"]


def test_a_label_decides_what_is_asked():
    crash = issues.VAGUE_CRASH
    assert summarize_issue(crash).missing != []
    labelled = summarize_issue(crash.model_copy(update={"labels": ["question"]}))
    assert (labelled.kind, labelled.severity, labelled.missing) == ("question", None, [])


def test_the_name_of_the_project_tells_its_version_apart():
    issue = Issue(
        title="Wrong total", body="numpy: 1.18.4\nxarray: 0.16.0", url="https://github.com/pydata/xarray/issues/7"
    )
    assert summarize_issue(issue).version == "0.16.0"
    assert summarize_issue(issue, "numpy/numpy").version == "1.18.4"


def test_the_page_has_what_the_report_has():
    page = format_summary(issues.COMPLETE)
    assert page.startswith("kind: bug\n")
    found = yaml.safe_load(page)
    assert found["version"] == "2.4.1"
    assert found["error"] == "TypeError: unsupported operand type(s) for +: 'int' and 'NoneType'"
    assert found["regression"]["quote"]["text"] == "Since the upgrade, an empty cart breaks the checkout page."
    assert "  - path: /srv/lib/shop/cart.py\n    line: 41\n" in page
    assert "severity" not in page
    assert "missing" not in page
    asked = format_summary(issues.THIN)
    assert "regression" not in asked
    assert "\nmissing:\n- kind: reproduction\n" in asked


def test_no_control_characters_reach_the_terminal():
    page = format_summary(
        Issue(title="Crash \x1b[31m", body="```\nValueError: a\x1b]0;b\x07c\n```\nVersion 1.2.3\x1b[2J")
    )
    assert "\x1b" not in page
    assert "\x07" not in page


def test_json_has_the_kinds_of_the_questions():
    fields = json.loads(dump_summary(issues.VAGUE_CRASH))
    assert fields["missing"] == ["error_output"]
    assert fields["kind"] == "bug"
    facts = ("kind", "probability", "likeliest", "language", "security", "version", "error", "traces")
    assert set(fields) == {*facts, "regression", "severity", "missing"}


@pytest.mark.parametrize(
    ("issue", "word"), [(issues.COMPLETE, "bug"), (issues.FEATURE, "feature"), (issues.QUESTION, "question")]
)
def test_one_word(issue: Issue, word: str):
    assert name_kind(issue) == word
