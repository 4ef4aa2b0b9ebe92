"""The page, as people read it, and that no title of a stranger acts in it."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.backtest.scorecard.sample_issues import DATES, ISSUES, READER, START, comment, issue, judge, named
from triage.backtest.scorecard.count_results import count_results
from triage.backtest.scorecard.scorecard_page import MAX_LISTED, ScorecardPage, render_scorecard, render_trend_comment
from triage.backtest.scorecard.weekly_trend import MAX_WEEKS, count_weeks, parse_marker
from triage.comment.inert_page import MAX_SUMMARY_UNITS
from triage.comment.sections import utf16_length
from triage.domain.past_issues import TriagedIssue
from triage.safety.active_content import find_active_content


def make_page(*issues: TriagedIssue, **fields: object) -> ScorecardPage:
    results = judge(*issues)
    values = {
        "repository": "acme/ledger",
        "server_url": "https://github.com",
        "asked_since": START,
        "since": START,
        "closed": len(issues) + 31,
        "card": count_results(results),
        "results": results,
        "weeks": count_weeks(results),
    }
    return ScorecardPage.model_validate(values | fields)


NOT_FIXED = [issue(number, comment(asked=True)) for number in range(3)]


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


def test_the_comment_with_the_weeks_reads_as_in_its_golden_file(golden) -> None:
    body = render_trend_comment(count_weeks(judge(*ISSUES)))
    golden("tests/golden/scorecard_trend.md", body)
    assert parse_marker(body) == count_weeks(judge(*ISSUES))


def test_nothing_triaged_is_said() -> None:
    assert "Nothing triaged has been closed by a fix yet." in render_scorecard(make_page())


def test_what_was_wrong_is_listed_first() -> None:
    lines = [line for line in render_scorecard(make_page(*ISSUES)).splitlines() if line.startswith("| [`#")]
    assert [line.rpartition("| ")[2] for line in lines] == ["no |", "among three |", "yes |", "yes |"]


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
    assert "### Week by week" in page


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


def test_the_comment_with_two_years_is_below_the_limit_of_github() -> None:
    weeks = count_weeks(judge(*(issue(number, day=7 * number) for number in range(MAX_WEEKS))))
    body = render_trend_comment(weeks)
    assert utf16_length(body) < 30_000
    assert parse_marker(body) == weeks
    assert "78 earlier weeks are not shown." in body
