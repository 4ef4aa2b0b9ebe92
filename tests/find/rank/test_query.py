import pytest

from tests.find.indexes import make_query, make_trace
from triage.domain.code import SearchQuery
from triage.domain.issue import ParsedIssue
from triage.find.rank.query import MAX_TERMS, PathMention, Query, build_query


def weight(query: Query, term: str) -> float:
    return round(query.term_weights.get(term, 0.0), 3)


def test_a_trace_in_the_body_counts_like_code():
    parsed = ParsedIssue(title="", body="red\nTraceback in frob", prose="red")
    assert weight(build_query(SearchQuery(parsed=parsed)), "frob") == 0.5


def test_urls_say_nothing():
    query = build_query(make_query(prose="see https://example.org/red/blue?x=green for more"))
    assert {"example", "org", "red", "blue", "green"}.isdisjoint(query.term_weights)
    assert "see" in query.term_weights


@pytest.mark.parametrize(
    ("text", "chains"),
    [
        ("django.db.models", [("django", "db", "models")]),
        ("std::io::Read", [("std", "io", "Read")]),
        ("App\\Data\\Store", [("App", "Data", "Store")]),
        ("lib/core/Axios", [("lib", "core", "Axios")]),
        ("Store#save", [("Store", "save")]),
        ("plain words, 3.14", []),
    ],
)
def test_chains(text: str, chains: list[tuple[str, ...]]):
    assert list(build_query(make_query(prose=text)).dotted_names) == chains


def test_frames_paths_and_links_are_references():
    query = build_query(
        make_query(
            traces=[make_trace(("app/main.py", 3), ("lib/store.py", 88))],
            paths=["lib/other.py"],
            links=["https://github.com/acme/shop/blob/main/lib/linked.py#L12-L14", "https://example.org/blob"],
        )
    )
    assert list(query.references) == [
        PathMention("lib/store.py", 88, 1.0, 0),
        PathMention("app/main.py", 3, 0.5, 1),
        PathMention("lib/other.py"),
        PathMention("lib/linked.py", 12),
    ]


def test_a_very_long_log_is_cut_to_its_heaviest_terms_and_innermost_frames():
    log = " ".join(f"word{number}" for number in range(5_000))
    frames = [(f"lib/f{number}.py", number) for number in range(1, 1_001)]
    query = build_query(make_query(title="store", code=log, traces=[make_trace(*frames)]))
    assert len(query.term_weights) == MAX_TERMS
    assert weight(query, "store") == 2.0
    assert [reference.line for reference in query.references[:2]] == [1_000, 999]
    assert len(query.references) == 200
