"""The job's page: golden files to read, and the small pages."""

import pytest

from testing.each_row import each_row
from tests.say import sample_reports, sample_runs
from tests.say.rendering import render_job_page
from tests.say.sample_reports import EVIL, FEATURE, FULL, LONG, PAST, RULES, UNSAID, change_report, step
from tests.say.sample_runs import (
    CUT,
    HOSTILE_RUN,
    PLANNED,
    REFUSED,
    ROUNDS,
    run,
)
from triage.domain.effect import AddLabels, EditComment, Effect, PostComment
from triage.domain.report import Citations, RunReport
from triage.safety.active_content import find_active_content
from triage.say.notices import render_notice
from triage.say.report_pages import build_job_page, utf16_length
from triage.say.template import MAX_SUMMARY_UNITS

DRY_RUN: list[Effect] = [
    PostComment(issue_number=412, body="x" * 1234),
    AddLabels(issue_number=412, labels=["bug", "a`b"]),
]


@pytest.mark.parametrize(
    ("name", "report", "planned"),
    [
        ("model", FULL, None),
        ("rules", RULES, DRY_RUN),
        ("feature_request", FEATURE, None),
        ("planned", PLANNED, None),
        ("refused", REFUSED, None),
        ("rounds", ROUNDS, None),
        ("cut", CUT, None),
        ("past", PAST, None),
        ("hostile", HOSTILE_RUN, None),
        ("skills_by_rules", sample_reports.SKILLS_BY_RULES, None),
        ("skills_by_model", sample_reports.SKILLS_BY_MODEL, None),
    ],
)
def test_the_summary_reads_as_in_its_golden_file(golden, name, report, planned):
    golden(f"tests/golden/summary_{name}.md", render_job_page(report, planned))


def test_a_silent_run_begins_with_what_was_found(golden):
    report = change_report(UNSAID, regression_window=PAST.regression_window, kind=None, kind_probability=None)
    text = render_job_page(report, says_why_no_comment=True)
    golden("tests/golden/summary_without_comment.md", text)
    assert text.splitlines()[2].startswith("**The report says that it worked before.**")


@each_row(
    ("changes", "reason"),
    [
        ({}, "no fact in the report leads to something that it does not say itself"),
        ({"kind": None, "kind_probability": None}, "it is not clear that this is a bug"),
        ({"kind": "feature_request"}, "a feature request gets none"),
        ({"kind": "question"}, "a question gets none"),
        ({"kind": "not_actionable"}, "nothing in it can be looked into"),
        ({"why": "It drops the format.", "confidence": 0.3}, "the model is not sure enough of what it found"),
    ],
)
def test_a_silent_run_says_why(changes, reason):
    text = render_job_page(change_report(UNSAID, **changes), says_why_no_comment=True)
    assert f"because {reason}. With_ `comment: always` _there is one._" in text


SCENES = {
    name: report for module in (sample_reports, sample_runs) for name, report in vars(module).items() if name.isupper()
}
REPORTS = {name: report for name, report in SCENES.items() if isinstance(report, RunReport)}


@each_row("name", REPORTS)
def test_no_content_is_active(name):
    report = REPORTS[name]
    text = render_job_page(report)
    links = build_job_page(report).links
    assert find_active_content(text, links) == []
    assert text.startswith("## Bug triage")
    assert text.splitlines().count("<details>") == text.splitlines().count("</details>") > 0
    assert utf16_length(text) <= MAX_SUMMARY_UNITS


def test_tokens_and_dollars_appear_once_with_their_caps():
    text = render_job_page(PLANNED)
    assert "<summary>6 steps: 31.4 of 300 s, 33,130 of 100,000 tokens, 0.0887 of 1.00 US dollars</summary>" in text
    assert text.count("0.0887") == 1
    assert "<summary>5 steps: 2.3 of 300 s</summary>" in render_job_page(RULES)
    unknown = PLANNED.usage.model_copy(update={"usd": None})
    assert "of 100,000 tokens, price unknown</summary>" in render_job_page(change_report(PLANNED, usage=unknown))


def test_a_long_table_is_cut_and_says_so():
    steps = [step("critic", number, number, 1.0) for number in range(1, 130)]
    text = render_job_page(run(FULL, steps, FULL.decisions, 4.0))
    assert "The first 100 of 129: the rest stands in the JSON report." in text


def test_a_run_without_steps_has_a_page():
    text = render_job_page(change_report(steps=[], decisions=[], index=None, suspects=[], evidence=[]))
    assert "### What ran\n\nNobody decided anything: the run ended before that.\n" in text


def test_a_terminal_has_no_issue_to_link_to():
    issue = FULL.issue.model_copy(update={"number": None, "url": ""})
    assert render_job_page(change_report(issue=issue, server_url="")).startswith("## Bug triage\n")


def test_notices_of_skipped_failed_and_unpublished_runs():
    assert render_notice("skip", "The issue is locked.") == "## Bug triage: skipped\n\nThe issue is locked.\n"
    assert render_notice("failure", "There is no such issue.").startswith(
        "## Bug triage: failed\n\nThere is no such issue.\n\nNothing was triaged."
    )
    assert "- The token may not write.\n" in render_notice("unpublished", ["The token may not write."])


def test_small_pages_are_inert_too():
    for text in (
        render_notice("skip", EVIL),
        render_notice("unfinished", EVIL),
        render_notice("failure", EVIL),
        render_notice("unpublished", [EVIL]),
    ):
        assert find_active_content(text, []) == []
        assert text.startswith(("## ", "> "))


def test_a_dry_run_lists_its_effects():
    edit = EditComment(issue_number=7, comment_id=99, body="abc")
    title = "### Dry run: what would have been written\n\n"
    effects = [
        "- A new comment on issue 412 of 1,234 characters",
        "- Labels added to issue 412: `bug`, ``a`b``",
        "- The comment 99 on issue 7, 3 characters",
    ]
    assert title + "\n".join(effects) + "\n\n" in render_job_page(FULL, planned=[*DRY_RUN, edit])
    assert f"{title}Nothing.\n\n" in render_job_page(FULL, planned=[])


def test_a_long_summary_stays_below_what_github_shows():
    words = [LONG.notes[0] * 10] * 20
    many = change_report(LONG, notes=words)
    assert utf16_length(render_job_page(many)) <= MAX_SUMMARY_UNITS


@pytest.mark.parametrize(
    ("total", "said"),
    [
        (14, "3 of 14 citations did not hold. `report.json` says why."),
        (1, "1 of 1 citation did not hold. `report.json` says why."),
    ],
)
def test_citations_are_counted_and_not_listed(total: int, said: str):
    citations = Citations(verified=max(0, total - 3), total=total, refused=["a: gone"] * 3)
    text = render_job_page(change_report(citations=citations))
    assert text.count(said) == 1
    assert "gone" not in text
