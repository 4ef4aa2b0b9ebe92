"""The words by which past issues are searched: a constant part of the error, and no operator of the search."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.domain.issue import Issue
from triage.issue.past_issue_words import choose_search_words
from triage.issue.read_issue import read_issue

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
