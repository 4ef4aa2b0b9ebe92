"""Which places of a model's text can be linked."""

import pytest

from testing.cost_growth import assert_grows_linearly, repeat_to
from testing.each_row import each_row
from testing.fakes import FakeCodebase
from triage.citations.citation_lookup import CitationLookup, drop_wrong_lines, find_named_places
from triage.domain.code import Span
from triage.domain.report import NamedPlace

CODE = FakeCodebase({"src/parse.py": "one\ntwo\nthree\n", "src/a/util.py": "x\n", "src/b/util.py": "x\n"})


STORE = FakeCodebase({"src/store.py": "def save(matcher):\n    matcher.add_defaults()\n    return False\n"})


@each_row(
    ("text", "kept"),
    [
        ("It adds the defaults first (src/store.py:2).", True),
        ("`save` (src/store.py:1) is called.", True),
        ("It returns false (src/store.py:3).", False),
        ("It is lost at src/store.py:2.", False),
        ("It adds the defaults (src/store.py:9).", False),
    ],
)
def test_lines_of_prose_stay_if_their_code_has_a_word_of_it(text: str, kept: bool):
    checked = drop_wrong_lines(text, [], CitationLookup(STORE))
    assert (checked == text) is kept
    assert "src/store.py" in checked


def find(text: str) -> list[NamedPlace]:
    return find_named_places([text], CitationLookup(CODE))


@each_row(
    ("text", "places"),
    [
        ("`src/parse.py:2` is wrong", [("src/parse.py:2", "src/parse.py", (2, 2))]),
        ("see src/parse.py:1-3.", [("src/parse.py:1-3", "src/parse.py", (1, 3))]),
        ("in `src/parse.py` and `src/parse.py`", [("src/parse.py", "src/parse.py", None)]),
        ("`parse.py:2`", [("parse.py:2", "src/parse.py", (2, 2))]),
        ("`src/parse.py:9` has no such line", []),
        ("`src/parse.py:3-1`", []),
        ("`src/gone.py`", []),
        ("`util.py` is in two folders", []),
        ("https://evil.example/src/parse.py", []),
        ("parse.split calls it", []),
        ("", []),
    ],
)
def test_paths_and_lines_that_exist(text: str, places: list[tuple[str, str, tuple[int, int] | None]]):
    expected = [
        NamedPlace(text=written, path=path, span=Span(path=path, start=lines[0], end=lines[1]) if lines else None)
        for written, path, lines in places
    ]
    assert find(text) == expected


@pytest.mark.parametrize("piece", ["a.", "a/", "src/parse.py:1 ", "x" * 30 + ".py ", "a.b.c"])
def test_linear_in_the_text(piece: str):
    assert_grows_linearly(repeat_to(piece), find)
