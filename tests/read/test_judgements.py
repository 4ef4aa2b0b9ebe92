"""The templates of a repository, and of which kind an issue is."""

import pytest

from testing.each_row import each_row
from tests.read import issues
from triage.domain.findings import Kind
from triage.domain.issue import Issue, ParsedIssue
from triage.read.issue_forms import find_answer, find_used_forms, parse_forms
from triage.read.kind.issue_kind import read_kind
from triage.read.read_issue import read_issue


def test_forms_are_read() -> None:
    form, template = parse_forms(
        [issues.FORM, issues.TEMPLATE, "", "body: 3", "body: [", "body:\n- 1\n- {type: input}", "\x00: : body:"]
    )
    assert [(field.label, field.kind, field.required) for field in form.fields] == [
        ("What happened?", "actual", True),
        ("Steps to reproduce", "reproduction", True),
        ("Shop version", "version", True),
        ("Which database?", "other", True),
        ("Anything else?", "other", False),
    ]
    assert [(field.label, field.kind) for field in template.fields] == [
        ("Description", "actual"),
        ("To Reproduce", "reproduction"),
        ("Expected behavior", "expected"),
    ]


def test_the_used_form_is_the_one_with_the_issues_headings() -> None:
    forms = parse_forms([issues.TEMPLATE, issues.FORM])
    parsed = read_issue(Issue(title="x", body=issues.FILLED.format(steps="y", version="_No response_", database="a")))
    sections = parsed.sections
    assert find_used_forms(forms, parsed) == [forms[1]]
    assert [find_answer(field, sections) for field in forms[1].fields] == ["The total is wrong.", "y", "", "a", None]
    dots = [section.model_copy(update={"text": "..."}) for section in sections]
    assert {find_answer(field, dots) for field in forms[1].fields} == {"", None}
    assert find_used_forms(forms, ParsedIssue()) == []


@each_row(
    ("issue", "labels", "kind"),
    [
        (issues.COMPLETE, [], "bug"),
        (issues.GO, [], None),
        (issues.THIN, [], None),
        (issues.VAGUE_CRASH, [], "bug"),
        (issues.FEATURE, [], "feature_request"),
        (issues.QUESTION, [], "question"),
        (issues.JUNK, [], "not_actionable"),
        (Issue(title="", body=""), [], "not_actionable"),
        (Issue(title="asdf", body="<!-- template -->\n### What happened?\n\n_No response_"), [], "not_actionable"),
        (Issue(title="Broken totals", body="two items"), ["enhancement"], "feature_request"),
        (Issue(title="Add an option for the port"), [], "feature_request"),
        (Issue(title="Add an option for the port"), ["bug"], "bug"),
        (Issue(title="How do I run this? TypeError: x is not a function", body=""), [], "question"),
        (Issue(title="Can I run two at once?", body="I did not find it in the manual."), [], "question"),
        (Issue(title="Can I run two at once?", body="The second one crashes."), [], None),
        (
            Issue(title="Why does total() return 4?", body="`total([1, 2])` returns the wrong value, expected 3."),
            [],
            None,
        ),
        (Issue(title="Allow to save: crashes when the disk is full"), [], None),
        (Issue(title="Add item fails", body="It fails."), [], None),
        (Issue(title="Ports", body="Where is it documented?"), ["question"], "question"),
        (Issue(title="Support for `a|b`", body="### Actual result\n\nnothing"), [], "feature_request"),
    ],
)
def test_kind(issue: Issue, labels: list[str], kind: Kind | None) -> None:
    assert read_kind(read_issue(issue), labels).kind == kind


def test_a_form_with_yaml_aliases_is_skipped() -> None:
    """Each line names the one before ten times: read, it would fill the memory."""
    bomb = "b0: &b0 {k: v}\n" + "".join(
        f"b{n}: &b{n} {{<<: [{', '.join([f'*b{n - 1}'] * 10)}]}}\n" for n in range(1, 10)
    )
    fields = "body:\n- type: input\n  attributes: {label: Version}\n"
    deep = "x: " + "[" * 30_000
    assert parse_forms([bomb + fields, fields + deep]) == []
    assert [form.fields[0].label for form in parse_forms([fields])] == ["Version"]


@pytest.mark.parametrize("value", ["!!bool maybe", "!!timestamp today", "!!int ''", "!!float _", "2001-99-99"])
def test_a_form_with_a_value_that_its_tag_does_not_allow_is_skipped(value: str) -> None:
    fields = "body:\n- type: input\n  attributes: {label: Version}\n"
    assert parse_forms([f"x: {value}\n{fields}", fields]) == parse_forms([fields])
