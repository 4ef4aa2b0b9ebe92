"""What a model cites is what it was shown."""

from hypothesis import given
from hypothesis import strategies as st

from testing.each_row import each_row
from triage.agents.cited_places import find_place, link_marks, resolve_citations
from triage.domain.code import Excerpt, Span
from triage.domain.findings import CitedPlace

SHOWN = [
    Excerpt(span=Span(path="src/store.py", start=10, end=30), symbol="Store.save"),
    Excerpt(span=Span(path="src/store.py", start=31, end=40), symbol="Store.load"),
    Excerpt(span=Span(path="lib/store.py", start=1, end=9)),
]


@each_row(
    ("cite", "expected"),
    [
        ("1:12-14", ("src/store.py", 12, 14, "Store.save")),
        ("[1:12-14]", ("src/store.py", 12, 14, "Store.save")),
        ("1:L12-L14", ("src/store.py", 12, 14, "Store.save")),
        ("1: 14\u201312", ("src/store.py", 12, 14, "Store.save")),
        ("2:33", ("src/store.py", 33, 33, "Store.load")),
        ("[2]", ("src/store.py", 31, 40, "Store.load")),
        # shown, but in another excerpt of the file
        ("1:25-35", ("src/store.py", 25, 35, None)),
        ("2:12", ("src/store.py", 12, 12, None)),
        # partly shown
        ("1:5-12", ("src/store.py", 10, 12, "Store.save")),
        # not shown
        ("1:90-95", ("src/store.py", None, None, None)),
        ("3:12", ("lib/store.py", None, None, None)),
        ("4:1", None),
        ("0", None),
        ("src/store.py:12", None),
        ("12345:1", None),
        ("", None),
    ],
)
def test_a_citation_is_a_place_that_was_shown(cite: str, expected: tuple[str, int, int, str] | None):
    found = find_place(cite, SHOWN)
    assert (found and (found.path, found.start_line, found.end_line, found.symbol)) == expected


def test_each_place_stands_once_and_what_does_not_hold_is_counted():
    cited = [CitedPlace(cite=cite, reason=cite) for cite in ("2:33", "7", "2:33-34", "3:50", "1", "1:90")]
    places, citations = resolve_citations(cited, SHOWN)
    assert [(one.path, one.start_line, one.relevance_reason) for one in places] == [
        ("src/store.py", 33, "2:33"),
        ("lib/store.py", None, "3:50"),
        ("src/store.py", 10, "1"),
    ]
    assert (citations.verified, citations.total) == (3, 6)
    assert citations.refused == [
        "a citation has a number that nothing was shown under",
        "lib/store.py: the cited lines were not shown",
        "src/store.py: the cited lines were not shown",
    ]


@each_row(
    ("text", "expected", "paths"),
    [
        ("It is lost [1:12].", "It is lost (`src/store.py:12`).", ["src/store.py"]),
        ("`save` [1:12-14, 2:33] loses it", "`save` (`src/store.py:12-14`, `src/store.py:33`) loses it", ["src/store.py"] * 2),
        ("one [1] other [3]", "one (`src/store.py:10-30`) other (`lib/store.py:1-9`)", ["src/store.py", "lib/store.py"]),
        ("one [1:10] other [3:10]", "one (`src/store.py:10`) other (`lib/store.py`)", ["src/store.py", "lib/store.py"]),
        ("gone [9:12]", "gone", []),
        ("`items[1]` and items[1] and [1](x)", "`items[1]` and items[1] and [1](x)", []),
        # lines that nobody has checked
        ("in src/store.py:99 and `store.py:3-4`", "in src/store.py and `store.py`", []),
        ("see example.com:80", "see example.com:80", []),
    ],
)  # fmt: skip
def test_marks_in_prose_become_names_of_their_places(text: str, expected: str, paths: list[str]):
    written, places = link_marks(text, SHOWN)
    assert written == expected
    assert [place.path for place in places] == paths
    assert all(f"`{place.text}`" in written for place in places)


def test_files_have_as_many_folders_as_tell_them_apart():
    paths = ("x.py", "b/x.py", "a/c/y.py", "b/c/y.py", "b/z.py")
    excerpts = [Excerpt(span=Span(path=path, start=1, end=5)) for path in paths]
    written, places = link_marks("[1:3] [2:3] [3:3] [5:3]", excerpts)
    assert written == "(`x.py:3`, `b/x.py:3`, `a/c/y.py:3`, `z.py:3`)"
    assert [place.path for place in places] == ["x.py", "b/x.py", "a/c/y.py", "b/z.py"]


@given(st.text(alphabet="[]0123456789:-,L` ab.", max_size=60))
def test_any_text_names_nothing_that_was_not_shown(text: str):
    _, places = link_marks(text, SHOWN)
    for place in places:
        assert place.path in ("src/store.py", "lib/store.py")
        if place.span:
            lines = {(one.span.path, line) for one in SHOWN for line in range(one.span.start, one.span.end + 1)}
            assert {(place.path, place.span.start), (place.path, place.span.end)} <= lines
    found = find_place(text, SHOWN)
    assert found is None or found.path in ("src/store.py", "lib/store.py")
