"""Bugs, feature requests and questions are distinguished, and what is too uncertain to say stays unsaid."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testing.each_row import each_row
from tests.read import issues
from triage.domain.findings import Kind
from triage.domain.issue import Issue, KindReading, ParsedIssue
from triage.read.kind.issue_kind import (
    KINDS,
    WEIGHTS_FILE,
    estimate_kind,
    find_declared_kind,
    read_kind,
)
from triage.read.kind.kind_features import extract_kind_features
from triage.read.read_issue import read_issue

EXAMPLES = Path(__file__).parents[3] / "examples"


def parsed(title: str, body: str = "") -> ParsedIssue:
    return read_issue(Issue(title=title, body=body))


def kind(title: str, body: str = "", *labels: str) -> KindReading:
    return read_kind(parsed(title, body), labels)


def read_example(name: str) -> ParsedIssue:
    title, _, body = (EXAMPLES / name).read_text().partition("\n")
    return parsed(title.removeprefix("# "), body)


def test_our_examples() -> None:
    assert read_kind(read_example("feature-request.md")).kind == "feature_request"
    assert read_kind(read_example("crash-with-traceback.md")).kind == "bug"


def test_little_text_is_uncertain() -> None:
    assert kind("Ports", "They are strange on my side.").kind is None


def test_probabilities_of_all_kinds_sum_to_one() -> None:
    chances = estimate_kind(parsed("Export fails"))
    assert set(chances) == set(KINDS)
    assert sum(chances.values()) == pytest.approx(1)


@each_row(
    ("labels", "expected"),
    [
        (["type: bug"], "bug"),
        (["good first issue", "enhancement"], "feature_request"),
        (["support"], "question"),
        (["docs"], "documentation"),
        (["docs", "bug"], "bug"),
        (["C-bug", "A-parser"], "bug"),
    ],
)
def test_a_label_decides(labels: list[str], expected: Kind) -> None:
    found = kind("Something about ports", "Words that say little.", *labels)
    assert (found.kind, found.probability) == (expected, 1.0)


@each_row(
    ("title", "body", "declared"),
    [
        ("x", "### Issue type\n\nBug\n\n### Version\n\n1", "bug"),
        ("x", "Type: Feature Request\n\nMore text.", "feature_request"),
        ("x", "**I'm submitting a...**\nfeature request", "feature_request"),
        ("x", "**Do you want to request a *feature* or report a *bug*?**\n\nFeature", "feature_request"),
        ("x", "### Describe the solution you'd like\n\nA button.", "feature_request"),
        ("[Bug] x", "", "bug"),
        ("[Feature Request]: x", "", "feature_request"),
        ("RFC: x", "", "feature_request"),
        ("x", "Type: Bug\n\nMore text.", None),
        ("x", "**Do you want to request a *feature* or report a *bug*?**\n\nbug", None),
        ("x", "**Do you want to request a *feature* or report a *bug*?**\n\nfeature or bug, unsure", None),
        ("x", "### Describe the solution you'd like\n\n_No response_", None),
        ("parser: x", "### Version\n\n1", None),
        ("Support for x", "The type: feature of the car.", None),
    ],
)
def test_what_the_reporter_chose(title: str, body: str, declared: Kind | None) -> None:
    assert find_declared_kind(parsed(title, body)) == declared


def test_a_question_that_shows_an_error_is_uncertain_unless_the_reporter_says_so() -> None:
    error = "```\nTypeError: x is not a function\n```"
    assert kind("I try to run this, any help?", error).kind is None
    assert kind("Question: I try to run this, any help?", f"Thanks! {error}", "question").kind == "question"
    assert kind("How do I run this? Any help?", error).kind == "question"


def test_an_error_makes_no_bug_of_a_wish() -> None:
    wish = "It would be nice if `from_file` opened the file in binary mode. Suggestion: add a `mode` parameter."
    error = f"{wish}\n\n```\nTypeError: File must be opened in binary mode\n```"
    assert kind("Add a file mode parameter to Config.from_file()", error).kind == "feature_request"


FORM = (
    "name: {name}\nlabels: [{labels}]\ntype: {type}\nbody:\n- type: input\n  attributes: {{label: What is it about?}}\n"
)


@each_row(
    ("form", "labels", "expected"),
    [
        (("Feature request", "", ""), [], "feature_request"),
        (("❓ Question", "", ""), [], "question"),
        (("Report", "'T: bug'", ""), [], "bug"),
        (("Report", "triage", "Feature"), [], "feature_request"),
        (("📚 Documentation", "", ""), [], "documentation"),
        (("CI failure", "", ""), [], "ci"),
        (("Bug or feature", "", ""), [], None),
        (("Bug report", "bug", ""), ["bug"], "bug"),
        (("Bug report", "bug", ""), ["bug", "question"], "question"),
    ],
)
def test_the_form_decides_unless_a_person_set_a_label(
    form: tuple[str, str, str], labels: list[str], expected: Kind | None
) -> None:
    name, of_form, issue_type = form
    text = FORM.format(name=name, labels=of_form, type=issue_type)
    report = parsed("Ports", "### What is it about?\n\nThe ports are strange on my side.")
    assert read_kind(report, labels, [text]).kind == expected


def test_a_trace_of_the_repository_is_a_bug_whatever_the_form_says() -> None:
    form = FORM.format(name="Question", labels="question", type="")
    report = parsed("How do I run this?", "### What is it about?\n\nThe ports that I use here.")
    assert read_kind(report, ["question"], [form], fails_in_repository=True).kind == "bug"


@each_row(
    ("title", "expected"),
    [
        ("Typo in the README", "documentation"),
        ("`--all` is not documented", "documentation"),
        ("Docstring example uses -a where the parameter is -all", "documentation"),
        ("The README uses -a", "documentation"),
        ("[till] pay doc comment incorrectly states that it waits", "documentation"),
        ("Highlighting of a doc comment is broken", None),
        ("The changelog parser references freed memory", None),
        ("Documentation on hover uses wrong color in dark mode", None),
        ("Flaky test: test_total", "ci"),
        ("test_total fails in CI", "ci"),
        ("CI is red on main", "ci"),
        ("A missing docs directory crashes init", None),
        ("Flaky tests crash the runner", None),
    ],
)
def test_a_title_that_says_it(title: str, expected: Kind | None) -> None:
    assert kind(title, "See there.").kind == expected


def test_the_weights_are_small_and_fit_the_kinds() -> None:
    assert WEIGHTS_FILE.stat().st_size <= 1_000_000
    stored = json.loads(WEIGHTS_FILE.read_text("utf-8"))
    assert len(stored["bias"]) == len(KINDS)
    assert {len(row) for row in stored["features"].values()} == {len(KINDS)}
    known = extract_kind_features(read_issue(issues.COMPLETE)).keys() & stored["features"].keys()
    assert len(known) > 30, "the file was learned from other features"


@given(st.text(), st.text())
def test_any_text_has_a_kind(title: str, body: str) -> None:
    found = read_kind(parsed(title, body))
    assert found.likeliest in KINDS
    assert 1 / 3 <= found.probability <= 1


@each_row(
    ("title", "body"),
    [
        ("Help", "help me pls"),
        ("[Bug]", ""),
    ],
)
def test_nothing_to_act_on(title: str, body: str) -> None:
    assert kind(title, body).kind == "not_actionable"


PLACEHOLDERS = (
    "**Describe the bug**\nA clear and concise description of the bug goes here.\n\n**To Reproduce**\nSteps or minimal test "
    "case to reproduce the issue. Provide a small program, sample input, and actual vs. expected output if possible.\n\n"
    "**Expected behavior**\nDescribe what you expected to happen instead of the observed behavior.\n\n"
    "**Additional context**\nAdd other relevant context, error logs, or clarifications here."
)


def test_a_trace_alone_says_something() -> None:
    assert kind("Crash", "PHP Warning:  Undefined variable $x in /srv/a.php on line 9").kind != "not_actionable"


def test_a_form_as_it_was_below_a_few_words_says_nothing() -> None:
    template = "## Environment\n\n- Ruby **[version]**\n\n## Current behavior\n\nWrite to help@shop.example about it.\n"
    title = "verify_token has not been defined"
    assert read_kind(parsed(title, template), [], [template]).kind == "not_actionable"
    assert read_kind(parsed(title, template.replace("[version]", "3.2")), [], [template]).kind != "not_actionable"
    assert read_kind(parsed(f"{title} in the shop", template), [], [template]).kind != "not_actionable"


def test_placeholders_of_a_form_are_no_text() -> None:
    form = f"---\nname: Bug report\nlabels: bug\n---\n{PLACEHOLDERS}\n"
    assert kind("[Bug]", PLACEHOLDERS).kind == "not_actionable"
    assert read_kind(parsed("acme/shop", PLACEHOLDERS), ["bug"], [form]).kind == "not_actionable"


@each_row(
    ("title", "body", "found"),
    [
        ("#24755", "- Shop Version: #.#.#\n- Till:\n\n### Description:", "not_actionable"),
        ("#24755", "- Shop Version: 2.4.1\n- Till: crashes at night\n\n### Description:", None),
        ("[module] Short description of the issue", "- Till:", "not_actionable"),
        ("I have read the whole wiki of the shop", "", "not_actionable"),
        ("Till closes itself at night", "- Till:", None),
    ],
)
def test_what_the_template_says_tells_nothing(title: str, body: str, found: str | None) -> None:
    template = (
        '---\nname: New\ntitle: "[module] Short description of the issue"\n---\n- Shop Version: #.#.#\n- Till:\n\n'
        "### Description:\n"
    )
    form = (
        "body:\n- type: checkboxes\n  attributes:\n    options:\n    - label: I have read the whole wiki of the shop\n"
    )
    assert read_kind(parsed(title, body), [], [template, form]).kind == found
