"""The code around a citation, for the critic and for a further round."""

from testing.factories import relevant
from triage.agents.shown_code import MAX_CITED_LINES, ShownLines, render_cited_code

LINES = [f"line {number}" for number in range(1, 201)]


def read_lines(path: str) -> list[str] | None:
    return LINES if path == "a.py" else None


def test_ten_lines_around_the_cited_ones():
    shown = render_cited_code([relevant("a.py", start_line=50, end_line=52, symbol="run")], read_lines).split("\n")
    assert shown[0] == "## a.py:40-62 (cited: 50-52, run)"
    assert (shown[1], shown[-1], len(shown)) == ("40| line 40", "62| line 62", 24)


def test_at_the_ends_of_a_file():
    assert render_cited_code([relevant("a.py", start_line=1, end_line=2)], read_lines).startswith("## a.py:1-12 (")
    assert render_cited_code([relevant("a.py", start_line=199, end_line=200)], read_lines).endswith("200| line 200")


def test_a_long_place_is_shown_to_a_limit():
    shown = render_cited_code([relevant("a.py", start_line=1, end_line=200)], read_lines)
    assert len(shown.split("\n")) == 1 + MAX_CITED_LINES + 10


def test_a_place_without_lines_and_one_that_does_not_fit_are_left_out():
    files = [
        relevant("a.py", start_line=None, end_line=None),
        relevant("gone.py", start_line=1, end_line=2),
        relevant("a.py", start_line=1, end_line=50),
        relevant("a.py", start_line=90, end_line=90),
    ]
    assert render_cited_code(files, read_lines, max_chars=400).startswith("## a.py:80-100 (cited: 90-90")


def test_no_line_is_shown_twice():
    files = [relevant("a.py", start_line=50, end_line=52), relevant("a.py", start_line=60, end_line=62)]
    first, second = render_cited_code(files, read_lines).split("\n\n")
    assert first.split("\n")[-1] == "62| line 62"
    assert second.split("\n")[:2] == ["## a.py:63-72 (cited: 60-62, parse)", "63| line 63"]
    assert render_cited_code([files[0], files[0]], read_lines).endswith("(cited: 50-52, parse; shown above)")


def test_code_that_was_shown_is_not_sent_again():
    first = "\n".join(["## a.py:1-6 (f)", *(f"{number}| line {number}" for number in range(1, 7))])
    shown = ShownLines(first)
    more = "\n".join(["## a.py:1-9 of 20 lines", *(f" {number}| line {number}" for number in range(1, 10))])
    assert shown.leave_out(more) == (
        "## a.py:1-9 of 20 lines\n(lines 1-6: they stand elsewhere here)\n 7| line 7\n 8| line 8\n 9| line 9"
    )
    other = more.replace("a.py", "b.py")
    assert shown.leave_out(other) == other
    few = "## a.py:3-4\n3| line 3\n4| line 4"
    assert shown.leave_out(few) == few, "a note would be as long"
    shown.add(other)
    assert shown.leave_out(other) == "## b.py:1-9 of 20 lines\n(lines 1-9: they stand elsewhere here)"


def test_only_lines_that_follow_each_other_are_left_out():
    shown = ShownLines("\n".join(["## a.py:1-9", *(f"{number}| x" for number in range(1, 10))]))
    matches = "\n".join(["## a.py:1-9 (f)", *(f"{number}| x" for number in (1, 3, 5, 7, 9))])
    assert shown.leave_out(matches) == matches, "between them stands more"
    assert ShownLines("## a.py:1-3\n" + "9" * 5_000 + "| x").leave_out("## a.py:1-3\n1| x") == "## a.py:1-3\n1| x"
