"""What a report says about itself, with its place."""

from hypothesis import given
from hypothesis import strategies as st

from testing.each_row import each_row
from triage.domain.issue import Issue, IssueFacts, Quote
from triage.read.issue_facts import find_facts
from triage.read.read_issue import read_issue


def facts_of(title: str, body: str = "", project: str = "acme/shop") -> IssueFacts:
    return find_facts(read_issue(Issue(title=title, body=body)), project)


def words(quote: Quote | None) -> str | None:
    return quote.text if quote else None


def test_an_empty_report() -> None:
    assert facts_of("") == IssueFacts()


@given(st.text(), st.text())
def test_places_are_where_the_words_are(title: str, body: str) -> None:
    parsed = read_issue(Issue(title=title, body=body))
    facts = find_facts(parsed, title[:20])
    quotes = [facts.version, facts.error]
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
