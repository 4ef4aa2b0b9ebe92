"""The page, as people read it, and that no title of a stranger acts in it."""

import re
from datetime import timedelta
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.backtest.sample_issues import DATES, ISSUES, READER, START, comment, issue, judge, named
from tests.backtest.samples import case, outcome, place, result
from tests.backtest.test_count import RESULTS
from triage.backtest.backtest_page import render_html_page
from triage.backtest.closed_issues import ClosedIssue
from triage.backtest.judge import count_issues
from triage.backtest.scorecard import MAX_LISTED, ScorecardPage, render_scorecard
from triage.safety.active_content import find_active_content
from triage.say.report_pages import utf16_length
from triage.say.template import MAX_SUMMARY_UNITS


def make_page(*issues: ClosedIssue, **fields: object) -> ScorecardPage:
    results = judge(*issues)
    values = {
        "repository": "acme/ledger",
        "server_url": "https://github.com",
        "asked_since": START,
        "since": START,
        "closed": len(issues) + 31,
        "card": count_issues(results),
        "results": results,
    }
    return ScorecardPage.model_validate(values | fields)


NOT_FIXED = [issue(number, comment(asked=["version"])) for number in range(3)]


@pytest.mark.parametrize(
    ("name", "page"),
    [
        ("sample", make_page(*ISSUES)),
        ("nothing_triaged", make_page(closed=0)),
        ("nothing_fixed", make_page(*NOT_FIXED)),
        ("cut", make_page(*ISSUES[:2], asked_since=START - timedelta(days=60))),
    ],
)
def test_the_page_reads_as_in_its_golden_file(golden, name: str, page: ScorecardPage) -> None:
    golden(f"tests/golden/scorecard_{name}.md", render_scorecard(page))


def test_a_server_without_safe_links_gets_numbers() -> None:
    page = render_scorecard(make_page(*ISSUES, server_url="https://github.example.com"))
    assert "| `#401` Import" in page
    assert "http" not in page


@given(
    st.text(max_size=200)
    | st.sampled_from(["@octocat | #12 <img src=x> $x$", "`a|b` \\| c", "/close", "](https://evil.example)"])
)
def test_a_hostile_title_does_nothing(title: str) -> None:
    links = ["https://redirect.github.com/acme/ledger/issues/412"]
    page = render_scorecard(make_page(issue(title=title, ours=comment(named(DATES)), fix=[READER])))
    assert find_active_content(page, links) == []
    [row] = [line for line in page.splitlines() if "issues/412" in line]
    assert row.count(f"`{READER}` | no |") == 1


@given(st.lists(st.text(min_size=1, max_size=60), min_size=1, max_size=3))
def test_hostile_paths_of_a_fix_do_nothing(paths: list[str]) -> None:
    page = make_page(issue(ours=comment(named(DATES)), fix=[DATES, *(f"src/{path}" for path in paths)]))
    assert find_active_content(render_scorecard(page), ["https://redirect.github.com/acme/ledger/issues/412"]) == []


def test_many_issues_stay_on_one_page() -> None:
    many = [issue(number, comment(named(DATES)), [READER], title="é" * 300) for number in range(1, 1_500)]
    page = render_scorecard(make_page(*many))
    assert utf16_length(page) < MAX_SUMMARY_UNITS
    assert page.count("| [`#") == MAX_LISTED
    assert f"{1_499 - MAX_LISTED:,} other issues are not listed." in page


WHOLE = outcome(RESULTS, chosen=8, left_out={"the commit of the fix is not in this clone": 4})


def test_the_page(golden):
    golden("tests/golden/backtest.html", render_html_page(WHOLE))


def test_what_its_figures_are_worth_is_said():
    assert "Who writes them knows the cause" in render_html_page(outcome([result(1)], by_issues=False))


class Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


hostile = st.text(max_size=60) | st.sampled_from(
    [
        "<script>alert(1)</script>",
        '" onclick="x',
        "</title><img src=x onerror=x>",
        "{{ 7*7 }}",
        "\u202egpj.exe",
        "\x1b[2J",
    ]
)


@settings(max_examples=60)
@given(hostile, hostile, hostile)
def test_no_text_of_an_issue_becomes_a_part_of_the_page(title: str, path: str, url: str):
    one = result(1, case=case(title=title, edited=[path], url=url), place=place())
    page = render_html_page(outcome([one], repository=title))
    plain = render_html_page(outcome([result(1, case=case(title="x", edited=["x"], url=""), place=place())]))
    seen, expected = Elements(), Elements()
    seen.feed(page)
    expected.feed(plain)
    links = [attributes.get("href") or "" for tag, attributes in seen.found if tag == "a"]
    assert [tag for tag, _ in seen.found if tag != "a"] == [tag for tag, _ in expected.found if tag != "a"]
    assert all(link.startswith("https://") for link in links)
    assert not any(name.startswith("on") for _, attributes in seen.found for name in attributes)
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x1b]", page)


def test_the_page_needs_nothing_from_elsewhere():
    page = Elements()
    page.feed(render_html_page(WHOLE))
    assert not {tag for tag, _ in page.found} & {"script", "link", "img", "iframe", "form"}
