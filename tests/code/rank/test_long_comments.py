"""Which comments are left out of a prompt."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testing.cost_growth import assert_grows_linearly, repeat_to
from triage.code.rank.long_comments import find_long_comments

DOCSTRING = ["def f():", '    """First.', "", "    Second.", "    Third.", '    """', "    return 1"]
LICENCE = ["# a licence"] * 9 + ["import os"]
JAVADOC = ["/**", *[" * words"] * 10, " */", "void f() {"]


@pytest.mark.parametrize(
    ("lines", "hidden"),
    [
        (DOCSTRING, {4, 5, 6}),
        (["'''", *DOCSTRING[2:5], "'''"], {3, 4, 5}),
        (LICENCE, set(range(4, 10))),
        (JAVADOC, set(range(4, 13))),
        (['"""One line."""'] * 9, set()),
        (["x = 1", '"""', "never closed", *["words"] * 9], set()),
        (["# short"] * 7 + ["x = 1"], set()),
        (["#[derive(Debug)]"] * 9, set()),
        ([], set()),
    ],
)
def test_long_ones_but_for_their_first_lines(lines: list[str], hidden: set[int]):
    assert find_long_comments(lines) == hidden


@given(st.lists(st.sampled_from(['"""', "'''", "# x", "", "code", '"""one"""', "/*", " * x", "\"\"\" '''"])))
def test_only_lines_of_the_file(lines: list[str]):
    assert find_long_comments(lines) <= set(range(1, len(lines) + 1))


@pytest.mark.parametrize("piece", ['"""\n', "'''\n\"\"\"\n", "# x\n", '"""x"""\n', "'''x\"\"\"\n"])
def test_linear_in_the_lines(piece: str):
    assert_grows_linearly(repeat_to(piece), lambda text: find_long_comments(text.split("\n")))
