"""What a report says about itself, with its place."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from testing.each_row import each_row
from tests.issue import issues
from triage.domain.issue import CodeBlock, Issue, ParsedIssue, Quote, ReportFacts
from triage.issue.read_issue import read_issue
from triage.issue.report_facts import find_facts, quote_code_steps


def facts_of(title: str, body: str = "", project: str = "acme/shop") -> ReportFacts:
    return find_facts(read_issue(Issue(title=title, body=body)), project)


def words(quote: Quote | None) -> str | None:
    return quote.text if quote else None


def test_a_complete_report() -> None:
    facts = find_facts(read_issue(issues.COMPLETE), "acme/shop")
    assert words(facts.version) == "2.4.1"
    assert {quote.text for quote in facts.environment} == {"Python: 3.11.2", "Ubuntu 22.04"}
    assert words(facts.error) == "TypeError: unsupported operand type(s) for +: 'int' and 'NoneType'"
    assert words(facts.symptom) == words(facts.error)
    assert (words(facts.reproduction) or "").startswith("```python\nfrom shop import Cart")
    assert words(facts.expectation) == "Zero."
    assert facts.regression is not None
    assert words(facts.regression.quote) == "Since the upgrade, an empty cart breaks the checkout page."
    assert facts.severity is None


def test_an_empty_report() -> None:
    assert facts_of("") == ReportFacts()


@settings(max_examples=100)
@given(st.text(), st.text())
def test_places_are_where_the_words_are(title: str, body: str) -> None:
    parsed = read_issue(Issue(title=title, body=body))
    facts = find_facts(parsed, title[:20])
    quotes = [facts.version, *facts.environment, facts.error, facts.reproduction, facts.expectation, facts.symptom]
    for quote in quotes:
        assert quote is None or parsed.text[quote.start : quote.end] == quote.text


@each_row(
    ("body", "worked", "version"),
    [
        ("This works with 2.8.1, but not with 2.9.", "2.8.1", "2.9"),
        ("This was never the case in 22.0.\n\nVersion: 23.0", "22.0", "23.0"),
        ("Since upgrading from `0.7.6` to `1.0.0`, it fails.", "0.7.6", "1.0.0"),
    ],
)
def test_the_version_is_the_broken_one(body: str, worked: str, version: str) -> None:
    facts = facts_of("Total is off", body)
    assert words(facts.version) == version
    assert facts.regression is not None
    assert (facts.regression.worked_in, facts.regression.broken_in) == (worked, version)


@pytest.mark.parametrize(
    ("body", "reproduction"),
    [
        ("### Steps\n\nOpen the page and close it.", "Open the page and close it."),
        ("Run\n\n```\n$ shop total --all\n```\n\nand see", "$ shop total --all"),
        ("1. Open the page\n2. Close it\n\nand see", "1. Open the page\n2. Close it"),
        ("```\nKeyError: 'a long name'\n```", None),
        ("```\nshopc 1.0.0-nightly (2b01a37ec 2015-02-21) (built 2015-02-22)\ntax, version 2.6.0\n```", None),
        ("### STR\n\nOpen the page and close it.", "Open the page and close it."),
        ("It is wrong.", None),
    ],
)
def test_the_reproduction_is_a_whole_block(body: str, reproduction: str | None) -> None:
    assert words(facts_of("Total is off", body).reproduction) == reproduction


def test_a_component_in_the_title_is_no_environment() -> None:
    assert facts_of("os: add a function", "It is for all.").environment == []


@each_row(
    ("body", "environment"),
    [
        ("OS: Arch Linux\nPython version: 3.9.0", ["Arch Linux", "Python version: 3.9.0"]),
        ("### Operating system\n\nWindows 10", ["Windows 10"]),
        ("It fails on macOS with Node v20.11.0.", ["Node v20.11.0", "macOS"]),
        ("### OS\n\n_No response_", []),
        ("We look at the windows of the page.", []),
        ("It is win8.1 here.", ["win8.1"]),
        ("- OS: [e.g. iOS]\n- OS Platform (e.g., Linux Ubuntu 16.04): Fedora 38", ["Fedora 38"]),
        ("Go version: go1.21.3", ["go1.21.3"]),
        ("- Browser:\n- OS:\n\nSteps to Reproduce: none", []),
        ("java.lang.RuntimeException: Unable to start\n\nRUST_BACKTRACE=1 shop\n\nrustc: /src/x.h:7: failed", []),
        ("(node:71335) Warning at node.js:442:5, numpy=0.9599878>", []),
        ("### Platform\n\nWe use it for all of our shops and it does not work in some of them.", []),
    ],
)
def test_the_environment(body: str, environment: list[str]) -> None:
    assert [quote.text for quote in facts_of("Total is off", body).environment] == environment


CODE = "fig, (a, b) = plt.subplots(1, 2, subplot_kw={'projection': '3d'})\n>>> a.draw() # now\n$ make build_docs\necho `date`\n"


@pytest.mark.parametrize(
    ("step", "shown"),
    [
        (
            "fig, (a, b) = plt.subplots(1, 2, subplot_kw={'projection': '3d'})",
            "`fig, (a, b) = plt.subplots(1, 2, subplot_kw={'projection': '3d'})`",
        ),
        ("a.draw()", "`a.draw()`"),
        (" make build_docs ", "`make build_docs`"),
        ("make build", "make build"),
        ("Call a.draw() twice", "Call a.draw() twice"),
        ("echo `date`", "echo `date`"),
    ],
)
def test_a_step_that_begins_a_line_of_the_code_is_code(step: str, shown: str):
    assert quote_code_steps([step, "  "], ParsedIssue(code=[CodeBlock(language="", text=CODE)])) == [shown]


@each_row(
    ("written", "broken"),
    [
        ("https://github.com/acme/shop/pull/31", "#31"),
        ("https://github.com/mona/shop/pull/31", "#31"),
        ("https://github.com/other/basket/pull/31", ""),
        ("PR #31", "#31"),
        ("other/basket#31", ""),
    ],
)
def test_only_a_pull_request_of_the_project_is_blamed(written: str, broken: str):
    issue = Issue(title="It fails", body=f"It stopped working. {written} is the culprit.")
    facts = find_facts(read_issue(issue), "acme/shop")
    assert (facts.regression.broken_in if facts.regression else "") == broken
