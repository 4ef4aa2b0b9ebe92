import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testing.cost_growth import assert_grows_linearly, repeat_to
from testing.each_row import each_row
from triage.domain.issue import Issue
from triage.domain.past_issues import PastIssue
from triage.read.other_issues import choose_search_words, find_referenced_issues, make_visible
from triage.read.read_issue import read_issue


@each_row(
    ("text", "numbers"),
    [
        ("Same as #12, see also (#7).", {12, 7}),
        ("gh-3 and GH-4", {3, 4}),
        ("Acme/Ledger#5", {5}),
        ("other/ledger#5 and acme/ledger.js#6", set()),
        ("https://github.com/acme/ledger/issues/8?x=1", {8}),
        ("https://github.com/acme/ledger/pull/9/files", {9}),
        ("https://github.com/acme/other/issues/8 https://example.com/acme/ledger/issues/8", set()),
        ("color #123abc, &#39; and a#1", set()),
        ("", set()),
    ],
)
def test_which_issues_a_text_names(text: str, numbers: set[int]) -> None:
    assert find_referenced_issues(text, "acme/ledger") == numbers


def test_addresses_of_another_server() -> None:
    text = "https://git.example.com/acme/ledger/issues/8 https://github.com/acme/ledger/issues/9"
    assert find_referenced_issues(text, "acme/ledger", "https://git.example.com") == {8}


@pytest.mark.parametrize("piece", ["a/b#", "#", "a.", "https://a/", "GH-", "a/a/"])
def test_the_cost_is_linear(piece: str) -> None:
    assert_grows_linearly(repeat_to(piece), lambda text: find_referenced_issues(text, "a/b"))


PLAIN = re.compile(r'"[\w. ]+"|\w+( \w+)*|')

TRACE = """Traceback (most recent call last):
  File "/home/me/a.py", line 3, in f
ValueError: could not convert string to float: 'abc'
"""


def words(title: str, body: str = "") -> str:
    return choose_search_words(read_issue(Issue(title=title, body=body)))


@pytest.mark.parametrize(
    ("title", "body", "expected"),
    [
        (
            "Crash",
            TRACE,
            '"ValueError could not convert string to float"',
        ),
        (
            "Crash",
            "```\nError: cannot open /home/me/till.db after 30 attempts of the worker pool\n```",
            '"attempts of the worker pool"',
        ),
        ("Export to CSV drops the currency of foreign entries", "", "currency foreign entries export"),
        ("repo:evil/x OR is:pr author:me", "", "author repo evil"),
        ("¡No!", "", ""),
        ("", "", ""),
    ],
)
def test_what_is_searched_for(title: str, body: str, expected: str):
    assert words(title, body) == expected


@given(st.text(max_size=300), st.text(max_size=300))
def test_nothing_in_it_is_an_operator(title: str, body: str):
    found = words(title, f'Traceback (most recent call last):\n  File "a.py", line 1, in f\nValueError: {body}\n')
    assert PLAIN.fullmatch(found)
    assert len(found) <= 180


def test_a_past_issue_is_what_its_page_shows() -> None:
    past = PastIssue(
        number=1,
        title="A\u200bb",
        body="Seen <!-- hidden -->here\n<!-- open",
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
    )
    shown = make_visible(past)
    assert (shown.title, shown.body) == ("Ab", "Seen here")
