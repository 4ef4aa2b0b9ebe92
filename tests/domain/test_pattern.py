"""Patterns of gitignore as expressions. That git agrees is shown in `tests/index/files/test_ignore.py`."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.domain.gitignore import expression


def fits(pattern: str, path: str) -> bool:
    return re.fullmatch(expression(pattern), path, re.S) is not None


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("build", "a/b/build/", True),
        ("build", "build", True),
        ("build/", "build", False),
        ("build/", "a/build/", True),
        ("/build", "a/build/", False),
        ("a/b", "x/a/b", False),
        ("*.py", "a/b.py", True),
        ("*.py", "a.py/b", False),
        ("a/*", "a/", False),
        ("a/*", "a/b/", True),
        ("a/*", "a/b/c", False),
        ("a/**", "a/", False),
        ("a/**", "a/b/c", True),
        ("**/a/b", "x/y/a/b", True),
        ("a/**/b", "a/b", True),
        ("a/**/b", "a/x/y/b", True),
        ("a/**/b", "xa/b", False),
        ("?.py", "a.py", True),
        ("?.py", "/.py", False),
        ("[a-c]x", "bx", True),
        ("[!a-c]x", "bx", False),
        ("[^a-c]x", "dx", True),
        ("[+-9]x", "/x", False),
        (r"\*x", "*x", True),
        (r"\*x", "ax", False),
        ("*a*b", "xaab", True),
        ("*a*b", "xa/b", False),
        ("a\nb", "a\nb", True),
    ],
)
def test_what_a_pattern_names(pattern: str, path: str, expected: bool):
    assert fits(pattern, path) is expected


@pytest.mark.parametrize(
    ("pattern", "complaint"),
    [
        ("", "nothing stands"),
        ("/", "nothing stands"),
        ("a//b", "nothing stands"),
        ("a//", "nothing stands"),
        ("[", "no ] after it"),
        ("a[b/c]", "no ] after it"),
        ("[z-a]", "no range"),
        ("[[:alpha:]]", "not known here"),
        ("[--0]", "not known here"),
        ("a\\", "single"),
    ],
)
def test_what_is_no_pattern_is_said(pattern: str, complaint: str):
    with pytest.raises(ValueError, match=complaint):
        expression(pattern)


@given(st.text("ab*?[]!^-\\/.", max_size=40), st.text("ab-/.", max_size=40))
def test_any_text_is_a_pattern_or_refused_in_words(pattern: str, path: str):
    words = "It is one."
    try:
        fits(pattern, path)
    except ValueError as error:
        words = str(error)
    assert words.isprintable()


@pytest.mark.parametrize(
    "pattern", ["*a" * 99 + "b", "**/*a*/**/*a*/**/b", "**/a/" * 39 + "b", "*?" * 99 + "b", "[a-z]*" * 33 + "1"]
)
@pytest.mark.parametrize("path", ["a" * 4_000, "a/" * 2_000 + "c", "aa/" * 1_000, ("a" * 200 + "/") * 20 + "c"])
def test_a_hostile_pattern_ends(pattern: str, path: str):
    """By backtracking each of these would outlast the universe."""
    fits(pattern, path)
