"""What is missing in an issue, of which kind it is, and what the bug does to users."""

import pytest

from tests.reading import issues
from triage.domain.findings import Kind, MissingKind
from triage.domain.issue import Issue
from triage.reading.issue_forms import find_answer, find_used_form, parse_forms
from triage.reading.issue_kind import classify_issue
from triage.reading.missing_information import find_missing_information
from triage.reading.read_issue import read_issue
from triage.reading.symptoms import find_symptoms


def asked(issue: Issue, *forms: str) -> list[MissingKind]:
    return [missing.kind for missing in find_missing_information(read_issue(issue), forms)]


@pytest.mark.parametrize(
    ("issue", "kinds"),
    [
        (issues.COMPLETE, []),
        (issues.JAVASCRIPT, []),
        (issues.GO, []),
        (issues.FURTHER, []),
        (issues.FEATURE, []),
        (issues.QUESTION, []),
        (issues.THIN, ["reproduction", "version", "actual", "expected"]),
        (issues.VAGUE_CRASH, ["reproduction", "error_output", "version"]),
        (issues.FLAKY, ["reproduction"]),
        (issues.PLATFORM, ["environment"]),
    ],
)
def test_only_what_is_missing_is_asked(issue: Issue, kinds: list[MissingKind]) -> None:
    assert asked(issue) == kinds


def test_reports_in_other_languages_get_no_questions_about_wording() -> None:
    german = Issue(
        title="Kein Login möglich",
        body="Beim Klick auf Anmelden passiert seit gestern leider gar nichts mehr. Version 2.3.1.",
    )
    assert asked(german) == ["reproduction"]
    assert asked(Issue(title="无法登录", body="点击登录按钮后没有反应。版本 2.3.1")) == ["reproduction"]


def test_reasons_quote_the_report() -> None:
    missing = find_missing_information(read_issue(issues.VAGUE_CRASH), [])
    assert [(question.question, question.reason) for question in missing[:2]] == [
        (
            "What are the steps, or the smallest piece of code or input, that show the problem?",
            "The report describes “Crash on startup”, but nothing in it can be run or clicked through.",
        ),
        (
            "Could you paste the full error message and stack trace as text?",
            "The report says “Crash”, but shows neither the message nor where it came from.",
        ),
    ]


def test_an_intermittent_bug_gets_a_question_about_circumstances() -> None:
    question = find_missing_information(read_issue(issues.FLAKY), [])[0]
    assert question.question.startswith("How often does it happen")
    assert "“sometimes hangs”" in question.reason


@pytest.mark.parametrize(
    "body",
    [
        "I use version 2.0.1.",
        "Tested on the latest master.",
        "Happens on commit 1234abcd99.",
        "### Shop version\n\nnightly build",
        "See https://github.com/a/b/blob/1234567/x.py#L3",
        "```\n$ pip list\nshop==2.0.1\n```",
    ],
)
def test_a_given_version_is_not_asked_for(body: str) -> None:
    assert "version" not in asked(
        Issue(title="Total is wrong for two items", body=f"`total([1, 2])` returns 4.\n\n{body}")
    )


def test_a_platform_version_is_not_the_projects_version() -> None:
    issue = Issue(title="Total is wrong for two items", body="`total([1, 2])` returns 4 with Python 3.11.2.")
    question = next(missing for missing in find_missing_information(read_issue(issue), []) if missing.kind == "version")
    assert "Python 3.11.2 is named" in question.reason


def test_a_title_that_describes_a_change_gets_no_questions() -> None:
    assert asked(Issue(title="Simplify the signature of Store.save", body="The second argument is never used.")) == []


FILLED = "### What happened?\n\nThe total is wrong.\n\n### Steps to reproduce\n\n{steps}\n\n### Shop version\n\n{version}\n\n### Which database?\n\n{database}"


def test_an_answered_form_is_not_asked_again() -> None:
    body = FILLED.format(steps="Add two items.", version="2.1", database="a")
    assert asked(Issue(title="Total is wrong", body=body), issues.FORM) == []


def test_empty_fields_are_asked_for_by_their_label() -> None:
    body = FILLED.format(steps="Add two items.", version="_No response_", database="_No response_")
    missing = find_missing_information(read_issue(Issue(title="Total is wrong", body=body)), [issues.FORM])
    assert [(question.kind, question.question) for question in missing] == [
        ("version", "Could you fill in “Shop version”? It is empty in the report."),
        ("other", "Could you fill in “Which database?”? It is empty in the report."),
    ]


def test_answers_outside_of_their_field_count() -> None:
    body = FILLED.format(steps="_No response_", version="_No response_", database="a")
    body += "\n\n### Anything else?\n\n```\nshop==2.1\n```\n"
    assert asked(Issue(title="Total is wrong", body=body), issues.FORM) == []


def test_an_empty_template_asks_for_its_headings() -> None:
    body = "## Description\n\nThe total is wrong.\n\n**To Reproduce**\n\n## Expected behavior\n\n"
    missing = find_missing_information(read_issue(Issue(title="Total is off", body=body)), [issues.TEMPLATE])
    assert missing[0].question == "Could you fill in “To Reproduce”? It is empty in the report."


def test_forms_are_read() -> None:
    form, template = parse_forms(
        [issues.FORM, issues.TEMPLATE, "", "body: 3", "body: [", "body:\n- 1\n- {type: input}", "\x00: : body:"]
    )
    assert [(field.label, field.kind, field.required) for field in form] == [
        ("What happened?", "actual", True),
        ("Steps to reproduce", "reproduction", True),
        ("Shop version", "version", True),
        ("Which database?", "other", True),
        ("Anything else?", "other", False),
    ]
    assert [(field.label, field.kind) for field in template] == [
        ("Description", "actual"),
        ("To Reproduce", "reproduction"),
        ("Expected behavior", "expected"),
    ]


def test_the_used_form_is_the_one_with_the_issues_headings() -> None:
    forms = parse_forms([issues.TEMPLATE, issues.FORM])
    sections = read_issue(
        Issue(title="x", body=FILLED.format(steps="y", version="_No response_", database="a"))
    ).sections
    used = find_used_form(forms, sections)
    assert used == forms[1]
    assert [find_answer(field, sections) for field in forms[1]] == ["The total is wrong.", "y", "", "a", None]
    assert find_used_form(forms, []) == []


@pytest.mark.parametrize(
    ("issue", "labels", "kind"),
    [
        (issues.COMPLETE, [], "bug"),
        (issues.GO, [], "bug"),
        (issues.THIN, [], "bug"),
        (issues.VAGUE_CRASH, [], "bug"),
        (issues.FEATURE, [], "feature_request"),
        (issues.QUESTION, [], "question"),
        (issues.JUNK, [], "not_actionable"),
        (issues.SPAM, [], "not_actionable"),
        (Issue(title="", body=""), [], "not_actionable"),
        (Issue(title="asdf", body="<!-- template -->\n### What happened?\n\n_No response_"), [], "not_actionable"),
        (Issue(title="Broken totals", body="two items"), ["enhancement"], "feature_request"),
        (Issue(title="Add an option for the port"), [], "feature_request"),
        (Issue(title="Add an option for the port"), ["bug"], "bug"),
        (Issue(title="How do I run this? TypeError: x is not a function", body=""), [], "bug"),
        (
            Issue(title="Why does total() return 4?", body="`total([1, 2])` returns the wrong value, expected 3."),
            [],
            "bug",
        ),
        (Issue(title="Allow to save: crashes when the disk is full"), [], "bug"),
        (Issue(title="Add item fails", body="It fails."), [], "bug"),
        (Issue(title="Ports", body="Where is it documented?"), ["question"], "question"),
        (Issue(title="Support for `a|b`", body="### Actual result\n\nnothing"), [], "bug"),
    ],
)
def test_kind(issue: Issue, labels: list[str], kind: Kind) -> None:
    assert classify_issue(read_issue(issue), labels) == kind


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("An XSS vulnerability in the search field", {"security": "XSS"}),
        ("The log leaks the API key of every user", {"security": "leaks the API key"}),
        ("Saving loses all my changes", {"data_loss": "loses all my changes"}),
        ("The database is corrupted after a restart", {"data_loss": "database is corrupted"}),
        ("The editor crashes on paste", {"crash": "crashes"}),
        ("It worked in 2.1 and no longer starts", {"regression": "worked in 2.1"}),
        ("Broken since v3.0", {"regression": "Broken since v3.0"}),
        ("The worker hangs on exit", {"hang": "hangs"}),
        ("save() returns the wrong value", {"wrong_result": "returns the wrong"}),
        ("Import is 10x slower than before", {"performance": "10x slower"}),
        ("There is a memory leak in the pool", {"performance": "memory leak"}),
        ("Nobody can work: all users are affected", {"blocks_everyone": "all users are affected"}),
        ("cannot install on Linux", {"blocks_everyone": "cannot install"}),
        ("A typo in the menu", {"cosmetic": "typo"}),
        ("The documentation says otherwise", {"documentation": "documentation says"}),
        ("It does not crash, there is no data loss and it is not a regression", {}),
        ("We fit a linear regression", {}),
        ("Nothing special", {}),
    ],
)
def test_symptoms(text: str, found: dict[str, str]) -> None:
    assert {symptom.kind: symptom.phrase for symptom in find_symptoms(read_issue(Issue(title=text)))} == found


def test_a_trace_is_a_crash_with_its_error_as_phrase() -> None:
    assert [(symptom.kind, symptom.phrase) for symptom in find_symptoms(read_issue(issues.COMPLETE))] == [
        ("crash", "TypeError"),
        ("regression", "Since the upgrade"),
    ]


def test_the_worst_comes_first() -> None:
    text = "Typo in the menu; today it crashes and deletes all files"
    assert [symptom.kind for symptom in find_symptoms(read_issue(Issue(title=text)))] == [
        "data_loss",
        "crash",
        "cosmetic",
    ]


def test_a_form_with_yaml_aliases_is_skipped() -> None:
    """Each line names the one before ten times: read, it would fill the memory."""
    bomb = "b0: &b0 {k: v}\n" + "".join(
        f"b{n}: &b{n} {{<<: [{', '.join([f'*b{n - 1}'] * 10)}]}}\n" for n in range(1, 10)
    )
    fields = "body:\n- type: input\n  attributes: {label: Version}\n"
    deep = "x: " + "[" * 30_000
    assert parse_forms([bomb + fields, fields + deep]) == []
    assert [form[0].label for form in parse_forms([fields])] == ["Version"]


@pytest.mark.parametrize("value", ["!!bool maybe", "!!timestamp today", "!!int ''", "!!float _", "2001-99-99"])
def test_a_form_with_a_value_that_its_tag_does_not_allow_is_skipped(value: str) -> None:
    fields = "body:\n- type: input\n  attributes: {label: Version}\n"
    assert parse_forms([f"x: {value}\n{fields}", fields]) == parse_forms([fields])
