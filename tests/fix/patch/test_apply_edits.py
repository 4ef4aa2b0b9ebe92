"""Edits apply exactly once, or the message says what to do."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testing.cost_growth import assert_grows_linearly, repeat_to
from triage.fix.patch.apply_edits import EditAnswer, RejectedEdits, apply_edits, finish_new_text

BASE = "def add(a, b):\n    return a - b\n\n\ndef twice(a):\n\treturn add(a, a)  \n"


def edit(text: str, *edits: tuple[str, str]) -> str:
    return apply_edits("a.py", text, [EditAnswer(search=search, replace=replace) for search, replace in edits])


def reject(text: str, *edits: tuple[str, str]) -> list[str]:
    with pytest.raises(RejectedEdits) as error:
        edit(text, *edits)
    return error.value.problems


def test_edits_are_applied_one_after_the_other():
    assert edit(BASE, ("a - b", "a * b"), ("a * b", "a + b")) == BASE.replace("a - b", "a + b")


def test_neighbouring_edits_do_not_overlap():
    assert edit("one two\n", ("one ", "1 "), ("two", "2")) == "1 2\n"


def test_a_text_that_occurs_twice_needs_lines_around_it():
    (problem,) = reject(BASE, ("b\n", "c\n"), ("return ", "x"))
    assert problem == (
        "Edit 2 of a.py: the text occurs 2 times in the file (lines 2, 6): add lines around it until it occurs once."
    )


def test_occurrences_that_overlap_count():
    assert "occurs 2 times" in reject("aaa\n", ("aa", "b"))[0]


def test_edits_that_overlap_are_refused():
    (problem,) = reject(BASE, ("a, b", "x"), ("def add(a, b)", "y"))
    assert problem.startswith("Edit 2 of a.py: the text does not occur")


@pytest.mark.parametrize(
    ("edits", "reason"),
    [
        ([("", "x")], "empty search text"),
        ([("a - b", "a - b")], "changes nothing"),
        ([("a - b", "a\rb")], "carriage return"),
    ],
)
def test_edits_without_sense_are_refused(edits: Sequence[tuple[str, str]], reason: str):
    assert reason in reject(BASE, *edits)[0]


def test_edits_that_change_nothing_together_are_refused():
    assert "change nothing together" in reject("ab\n", ("ab\n", "ab"))[0]


def test_white_space_is_not_forgiven_but_shown():
    (problem,) = reject(BASE, ("def twice(a):\n    return add(a, a)\n", "x"))
    assert "5: def twice(a):\n6: \treturn add(a, a)  \n" in problem


def test_the_nearest_lines_are_shown_with_their_numbers():
    (problem,) = reject(BASE, ("def add(a, b):\n    result = a - b\n", "x"))
    assert "1: def add(a, b):\n2:     return a - b\n" in problem


def test_lines_that_resemble_nothing_are_not_shown():
    assert reject(BASE, ("import os", "x"))[0].endswith(
        "nor does one of its lines: copy the text from the file as it is."
    )


def test_crlf_stays():
    assert edit("a\r\nb\r\n", ("a\nb", "a\nc\nb")) == "a\r\nc\r\nb\r\n"
    assert edit("a\r\nb\r\n", ("a\r\nb", "a\r\nc")) == "a\r\nc\r\n"


@pytest.mark.parametrize("text", ["a\r\nb\n", "a\rb\n", "a\r\n\rb\r\n"])
def test_mixed_line_ends_are_refused(text: str):
    assert "several kinds" in reject(text, ("a", "b"))[0]


@pytest.mark.parametrize(
    ("text", "edits", "edited"),
    [
        ("a\nb\n", [("b\n", "c")], "a\nc\n"),
        ("a\nb", [("b", "c\n")], "a\nc"),
        ("a\nb\n", [("a\nb\n", "")], ""),
        ("a\r\nb", [("b", "c\n\n")], "a\r\nc"),
    ],
)
def test_the_final_newline_stays_as_it_was(text: str, edits: Sequence[tuple[str, str]], edited: str):
    assert edit(text, *edits) == edited


@pytest.mark.parametrize(
    ("text", "finished"), [("a\r\nb", "a\nb\n"), ("a\n\n\n", "a\n"), ("", ""), (" \n", ""), ("a\rb", "a\nb\n")]
)
def test_new_files_have_lf_and_a_final_newline(text: str, finished: str):
    assert finish_new_text(text) == finished


words = st.text(st.sampled_from("ab \n"), max_size=12)


@given(text=words, edits=st.lists(st.tuples(words, words), max_size=3), crlf=st.booleans())
def test_what_is_outside_the_edits_stays(text: str, edits: list[tuple[str, str]], crlf: bool):
    written = text.replace("\n", "\r\n") if crlf else text
    try:
        edited = edit(written, *edits)
    except RejectedEdits:
        return
    assert "\r" not in edited.replace("\r\n", "")
    assert crlf or "\r" not in edited
    for search, replace in edits:
        assert text.count(search) == 1
        text = text.replace(search, replace)
    assert edited.replace("\r\n", "\n").rstrip("\n") == text.rstrip("\n")


@pytest.mark.parametrize("piece", ["a b c\n", "\n", "aaaa", "a "])
def test_the_nearest_lines_of_a_hostile_file_are_found_in_linear_time(piece: str):
    assert_grows_linearly(repeat_to(piece), lambda text: reject(text, ("y = 2\nz(1)\n" * 50, "x")))


@pytest.mark.parametrize("piece", ["a b c\n", "\r\n"])
def test_as_many_edits_as_a_file_has_lines_take_linear_time(piece: str):
    def reject_many(text: str) -> None:
        reject(text, *((f"q{number} y z", "x") for number in range(len(text) // 400)))

    assert_grows_linearly(repeat_to(piece), reject_many)
