"""Excerpts have numbers, stand once, and are cut between lines."""

from hypothesis import given
from hypothesis import strategies as st

from testing import factories
from testing.fakes import FakeCodebase
from triage.agents.shown_code import MAX_CITED_LINES, Block, ShownCode, cut_longest, make_excerpt, render_cited_code
from triage.domain.code import Excerpt, Passage, Span


def excerpt(path: str, start: int, end: int, symbol: str | None = None) -> Passage:
    return make_excerpt(path, ((number, f"line {number}") for number in range(start, end + 1)), symbol)


def test_each_excerpt_has_a_number_and_each_line_its_own():
    shown = ShownCode()
    text = shown.show(["Two lines.", excerpt("a.py", 9, 10, "save"), excerpt("b.py", 3, 3)])
    assert text == "Two lines.\n[1] a.py 9-10 save\n 9| line 9\n10| line 10\n[2] b.py 3\n3| line 3"
    assert shown.excerpts == [
        Excerpt(span=Span(path="a.py", start=9, end=10), symbol="save"),
        Excerpt(span=Span(path="b.py", start=3, end=3)),
    ]


def test_a_path_stands_above_the_first_excerpt_of_its_file():
    blocks = [excerpt("a.py", 1, 1), excerpt("a.py", 5, 5, "ledger.books.Store.save"), excerpt("b.py", 3, 3)]
    text = "[1] a.py 1\n1| line 1\n[2] same file 5 Store.save\n5| line 5\n[3] b.py 3\n3| line 3"
    assert ShownCode().show(blocks) == text


def test_lines_that_were_shown_are_not_shown_again():
    shown = ShownCode()
    shown.show([excerpt("a.py", 1, 20)])
    assert shown.show([excerpt("a.py", 5, 12)]) == "(a.py 5-12: see [1])"
    assert "| line 12" in shown.show([excerpt("a.py", 12, 22)]), "some of it is new"
    assert shown.show([excerpt("a.py", 16, 22)]) == "(a.py 16-22: see [1], [2])"
    assert "see" not in shown.show([excerpt("b.py", 5, 12)]), "another file"


def test_a_further_round_goes_on_behind_the_numbers_of_the_first():
    first, second = ShownCode(), ShownCode()
    first.show([excerpt("a.py", 1, 9), excerpt("b.py", 1, 9)])
    second.show([excerpt("a.py", 1, 9)])
    second.go_on(first.excerpts)
    assert second.show([excerpt("b.py", 1, 9)]) == "(b.py 1-9: see [2])"
    assert second.show([excerpt("c.py", 1, 1)]).startswith("[3] c.py 1\n")


def test_the_longest_answer_is_cut_between_lines():
    answers: list[list[Block]] = [["short"], [excerpt("a.py", 1, 100)], [excerpt("b.py", 1, 100)]]
    cut = cut_longest(answers, 400)
    assert cut[0] == ["short"]
    for passage, note in cut[1:]:
        assert isinstance(passage, Passage)
        assert passage.span.end < 100
        assert passage.text.endswith(f"| line {passage.span.end}")
        assert note == f"(further lines left out: {100 - passage.span.end}, for lack of room)"


@given(
    st.lists(st.lists(st.integers(1, 40), max_size=3), max_size=4),
    st.integers(0, 1_500),
)
def test_what_is_cut_fits_and_only_what_is_shown_has_a_number(sizes: list[list[int]], room: int):
    answers: list[list[Block]] = [
        [excerpt(f"{n}_{m}.py", 1, size) for m, size in enumerate(one)] for n, one in enumerate(sizes)
    ]
    shown = ShownCode()
    for blocks in cut_longest(answers, room):
        text = shown.show(blocks)
        assert text.count("| line") <= room // 9 + 1
    for one in shown.excerpts:
        assert f"| line {one.span.end}" in "\n".join(
            passage.text for answer in answers for passage in answer if isinstance(passage, Passage)
        )


def test_a_long_line_that_is_cited_is_whole_and_those_around_it_are_cut():
    codebase = FakeCodebase({"a.py": "\n".join(["a" * 400, "b" * 400 + "end", "c" * 400])})
    text = render_cited_code([factories.relevant("a.py", start_line=2, end_line=2)], codebase)
    assert "end" in text
    assert text.count("(... 100 characters left out)") == 2


def test_cited_lines_stand_with_their_surroundings():
    lines = "\n".join(f"line {number}" for number in range(1, 201))
    files = [
        factories.relevant("a.py", start_line=50, end_line=52, symbol="f"),
        factories.relevant("a.py", start_line=53, end_line=54, symbol=None),
        factories.relevant("gone.py"),
        factories.relevant("a.py", start_line=None, end_line=None),
        factories.relevant("a.py", start_line=100, end_line=199),
    ]
    text = render_cited_code(files, FakeCodebase({"a.py": lines}))
    assert "a.py 40-62 f (cited: 50-52)\n40| line 40\n" in text
    assert f"(cited: 100-{100 + MAX_CITED_LINES - 1})" in text
    assert "gone.py" not in text
    assert text.count("| line 55\n") == 1, "lines around two places are shown once"
    assert "a.py 43-64 (cited: 53-54)\n63| line 63\n" in text
