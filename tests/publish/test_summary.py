"""The job's page: golden files to read, and the small pages."""

import pytest

from tests.publish import reports
from tests.publish.reports import DEGRADED, EVIL, FEATURE, FULL, HOSTILE, LONG, PATHS, RULES, changed
from triage.checks.inert import live_effects
from triage.domain.effect import AddLabels, EditComment, Effect, PostComment
from triage.publish.diagram import diagram
from triage.publish.fit import MAX_SUMMARY_UNITS, units
from triage.publish.sections import page
from triage.publish.summary import failure_summary, plan_summary, skip_summary, summary, unpublished_summary

PLANNED: list[Effect] = [
    PostComment(issue_number=412, body="x" * 1234),
    AddLabels(issue_number=412, labels=["bug", "a`b"]),
]


@pytest.mark.parametrize(
    ("name", "report", "planned"),
    [
        ("model", FULL, None),
        ("rules", RULES, PLANNED),
        ("feature_request", FEATURE, None),
        ("degraded", DEGRADED, None),
        ("hostile", HOSTILE, None),
    ],
)
def test_the_summary_reads_as_in_its_golden_file(golden, name, report, planned):
    golden(f"tests/golden/summary_{name}.md", summary(report, None, PATHS, planned=planned))


@pytest.mark.parametrize("name", ["FULL", "RULES", "FEATURE", "LOW", "DEGRADED", "SECOND", "LONG", "HOSTILE"])
def test_nothing_in_it_acts(name):
    report = getattr(reports, name)
    text = summary(report, None, PATHS)
    links = page(report, None, [], "suggest").links
    picture = diagram(report.steps)
    assert picture in text
    assert live_effects(text.replace(picture, ""), links) == []
    assert text.startswith("## Bug triage")
    assert text.splitlines().count("<details>") == text.splitlines().count("</details>") > 0
    assert units(text) <= MAX_SUMMARY_UNITS


def test_what_ran_is_shown_as_picture_and_table():
    text = summary(FULL, None, PATHS)
    assert "```mermaid\nflowchart LR" in text
    assert "| Codebase search | `gpt-4o` | 9.4 | 11,230 | 980 | 0.0379 | done |" in text
    assert "| **Total** | | **27.0** | **27,880** | **3,250** | **0.0837** | |" in text
    assert "<summary>The run: " not in text


def test_what_failed_says_why_and_an_unknown_price_is_unknown():
    text = summary(DEGRADED, None, PATHS)
    assert "| Critic | `gpt-4o` | 12.5 | 0 | 0 | 0.00 | failed: rate limited |" in text
    assert "| Critic, round 2 | rules (no model) |" in text
    assert "**unknown**" in text


def test_decisions_index_and_limits_are_told():
    text = summary(FULL, None, PATHS)
    assert "There is a hypothesis to look up." in text
    assert "| Left out: vendored | 41 |" in text
    assert "| Tokens | 31,130 | 100,000 |" in text


def test_a_run_that_did_nothing_yet_has_a_page_all_the_same():
    text = summary(changed(steps=[], decisions=[], index=None, suspects=[], evidence=[], root_cause=""), None, [])
    assert "mermaid" not in text
    assert "### What ran" in text


def test_a_terminal_has_no_issue_to_link_to():
    issue = FULL.issue.model_copy(update={"number": None, "url": ""})
    assert summary(changed(issue=issue, server_url="")).startswith("## Bug triage\n")


def test_skipping_failing_and_not_publishing_are_told():
    assert skip_summary("The issue is locked.") == "## Bug triage: skipped\n\nThe issue is locked.\n"
    assert failure_summary("There is no such issue.").startswith(
        "## Bug triage: failed\n\nThere is no such issue.\n\nNothing was triaged."
    )
    assert "- The token may not write.\n" in unpublished_summary(["The token may not write."])


def test_small_pages_are_inert_too():
    for text in (skip_summary(EVIL), failure_summary(EVIL), unpublished_summary([EVIL])):
        assert live_effects(text, []) == []
        assert text.startswith(("## ", "> "))


def test_a_plan_is_listed_in_words():
    edit = EditComment(issue_number=7, comment_id=99, body="abc")
    assert plan_summary([*PLANNED, edit]).splitlines()[2:] == [
        "- A new comment on issue 412 of 1,234 characters",
        "- Labels added to issue 412: `bug`, ``a`b``",
        "- The comment 99 on issue 7, 3 characters",
    ]
    assert plan_summary([]).endswith("Nothing.")


def test_a_long_summary_stays_below_what_github_shows():
    words = [LONG.notes[0] * 10] * 20
    many = changed(LONG, notes=words, next_steps=["x" * 100_000] * 20)
    assert units(summary(many, None, PATHS)) <= MAX_SUMMARY_UNITS
