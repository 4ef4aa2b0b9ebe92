"""Citations are verified: examples of what agents get wrong, and properties for what an attacker makes them cite."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testing.cost_growth import assert_grows_linearly
from triage.citations.citation_lookup import CitationLookup
from triage.citations.verify import merge_citations, verify_evidence, verify_files, verify_suspects
from triage.domain.code import Span
from triage.domain.findings import AffectedFile, Evidence, RelevantFile
from triage.domain.report import Citations, Suspect

STORE = """\
import json


class Store:
    def save(self, item):
        text = json.dumps(item)
        if not text:
            raise ValueError("empty")
        self.rows.append(text)

    def load(self, at):
        text = self.rows[at]
        return json.loads(text)


def clear(store):
    store.rows = []
    store.rows = []
""".splitlines()

FILES: dict[str, list[str]] = {
    "src/shop/store.py": STORE,
    "src/shop/__init__.py": [],
    "tests/__init__.py": [],
    "b/odd.py": ["odd = 1"],
    "docs/a b#c?.md": ["# Title"],
}
PATHS = list(FILES)
lines = FILES.get


def relevant(
    path: str,
    start: int | None = None,
    end: int | None = None,
    quote: str | None = None,
    symbol: str | None = None,
    why: str = "why",
) -> RelevantFile:
    return RelevantFile(path=path, relevance_reason=why, start_line=start, end_line=end, symbol=symbol, quote=quote)


def checked(*files: RelevantFile) -> tuple[list[Suspect], Citations]:
    return verify_suspects(files, lines, PATHS)


@pytest.mark.parametrize(
    ("cited", "resolved"),
    [
        ("src/shop/store.py", "src/shop/store.py"),
        ("./src/shop/store.py", "src/shop/store.py"),
        ("src//shop/./store.py", "src/shop/store.py"),
        ("`src/shop/store.py`", "src/shop/store.py"),
        ("  src/shop/store.py\n", "src/shop/store.py"),
        ("a/src/shop/store.py", "src/shop/store.py"),
        ("b/src/shop/store.py", "src/shop/store.py"),
        ("b/odd.py", "b/odd.py"),
        ("src\\shop\\store.py", "src/shop/store.py"),
        ("/github/workspace/src/shop/store.py", "src/shop/store.py"),
        ("C:\\work\\src\\shop\\store.py", "src/shop/store.py"),
        ("/venv/site-packages/shop/store.py", "src/shop/store.py"),
        ("shop/store.py", "src/shop/store.py"),
        ("store.py", "src/shop/store.py"),
        ("docs/a b#c?.md", "docs/a b#c?.md"),
        # two files end like this: none is meant in particular
        ("__init__.py", None),
        # a bare name at the end of a foreign absolute path is no evidence
        ("/usr/lib/python3.11/store.py", None),
        ("other/store.py", None),
        ("src/shop", None),
        ("src/shop/STORE.py", None),
        ("../../etc/passwd", None),
        ("src/../src/shop/store.py", None),
        ("/x/../src/shop/store.py", None),
        ("/etc/passwd", None),
        ("", None),
        ("   ", None),
        ("/", None),
        (".", None),
        ("C:\\", None),
        ("src/shop/store.py\x00", None),
        ("x" * 5000, None),
    ],
)
def test_a_cited_path_is_resolved_only_to_one_file(cited, resolved):
    assert CitationLookup(lines, PATHS).resolve(cited) == resolved


@pytest.mark.parametrize(
    ("file", "span", "verified", "total", "refused"),
    [
        (relevant("src/shop/store.py"), None, 1, 1, []),
        (relevant("src/shop/store.py", 5, 9), (5, 9), 2, 2, []),
        (relevant("src/shop/store.py", 5), (5, 5), 2, 2, []),
        (relevant("src/shop/store.py", None, 9), (9, 9), 2, 2, []),
        (relevant("src/shop/store.py", 5, 9, "text = json.dumps(item)"), (5, 9), 3, 3, []),
        (relevant("src/shop/store.py", 5, 9, "text  =\n\t json.dumps(item)"), (5, 9), 3, 3, []),
        (relevant("src/shop/store.py", 5, 9, 'if not text:\nraise ValueError("empty")'), (5, 9), 3, 3, []),
        (relevant("src/shop/store.py", quote="json.loads(text)"), (13, 13), 2, 2, []),
        (
            relevant("src/shop/store.py", 5, 9, "return json.loads(text)"),
            (13, 13),
            2,
            3,
            ["src/shop/store.py: the quote stands in lines 13-13, which replace those cited"],
        ),
        (
            relevant("src/shop/store.py", 900, 910, "def load(self, at): text = self.rows[at]"),
            (11, 12),
            2,
            3,
            ["src/shop/store.py: lines 900-910 are not in the file, which has 18"],
        ),
        (
            relevant("src/shop/store.py", 5, 9, "store.rows = []"),
            None,
            2,
            3,
            ["src/shop/store.py: the quote stands in several places of the file"],
        ),
        (relevant("src/shop/store.py", quote="store.rows = []"), None, 2, 2, []),
        (
            relevant("src/shop/store.py", 5, 9, "text = pickle.dumps(item)"),
            (5, 9),
            2,
            3,
            ["src/shop/store.py: the quote is not in the file"],
        ),
        (
            relevant("src/shop/store.py", 5, 9, "  }"),
            (5, 9),
            2,
            3,
            ["src/shop/store.py: the quote is too short to be looked up"],
        ),
        (relevant("src/shop/store.py", 5, 9, " \n "), (5, 9), 2, 2, []),
        (
            relevant("src/shop/store.py", 9, 5),
            None,
            1,
            2,
            ["src/shop/store.py: lines 9-5 are not in the file, which has 18"],
        ),
        (
            relevant("src/shop/store.py", 0, 3),
            None,
            1,
            2,
            ["src/shop/store.py: lines 0-3 are not in the file, which has 18"],
        ),
        (
            relevant("src/shop/store.py", -5, 10**5000),
            None,
            1,
            2,
            ["src/shop/store.py: lines -5-(huge) are not in the file, which has 18"],
        ),
        (
            relevant("src/shop/__init__.py", 1, 1, "some quote"),
            None,
            1,
            3,
            [
                "src/shop/__init__.py: lines 1-1 are not in the file, which has 0",
                "src/shop/__init__.py: the quote is not in the file",
            ],
        ),
    ],
)
def test_lines_and_quotes_are_verified_in_the_file(file, span, verified, total, refused):
    [suspect], citations = checked(file)
    expected = Span(path=suspect.path, start=span[0], end=span[1]) if span else None
    assert suspect.span == expected
    assert citations == Citations(verified=verified, total=total, refused=refused)


def test_a_missing_file_is_dropped_with_its_claims():
    suspects, citations = checked(relevant("src/gone.py", 1, 2, "import os"), relevant("../../etc/passwd"))
    assert suspects == []
    assert citations == Citations(
        verified=0,
        total=4,
        refused=[
            "src/gone.py: no such file in the indexed commit",
            "../../etc/passwd: no such file in the indexed commit",
        ],
    )


@pytest.mark.parametrize(
    ("symbol", "start", "end", "is_kept"),
    [
        ("Store.save", 5, 9, True),
        ("save", None, None, True),
        ("shop::Store#save()", 5, 9, True),
        # the frame points into the body; the definition stands above it
        ("Store.save", 8, 8, True),
        ("Store", 8, 8, True),
        ("Store.load", 8, 8, False),
        ("clear", 8, 8, False),
        ("sav", 5, 9, False),
        ("dump", 5, 9, False),
        ("invented", None, None, False),
        ("()", None, None, False),
        ("", None, None, False),
        (None, None, None, False),
    ],
)
def test_a_symbol_is_kept_only_if_it_is_at_the_cited_place(symbol, start, end, is_kept):
    [suspect], _ = checked(relevant("src/shop/store.py", start, end, symbol=symbol))
    assert suspect.symbol == (symbol if is_kept else None)


def test_the_same_place_is_one_suspect_and_the_order_stays():
    suspects, citations = checked(
        relevant("src/shop/store.py", why="first"),
        relevant("b/odd.py", why="second"),
        relevant("./src/shop/store.py", 5, 9, symbol="save", why="third"),
        relevant("src/shop/store.py", 11, 13, why="fourth"),
        relevant("src/shop/store.py", 8, 8, why="fifth"),
    )
    assert suspects == [
        Suspect(
            path="src/shop/store.py",
            span=Span(path="src/shop/store.py", start=5, end=9),
            symbol="save",
            reason="first",
        ),
        Suspect(path="b/odd.py", reason="second"),
        Suspect(path="src/shop/store.py", span=Span(path="src/shop/store.py", start=11, end=13), reason="fourth"),
    ]
    assert (citations.verified, citations.total) == (8, 8)


def test_affected_files_are_verified_too():
    file = AffectedFile(path="shop/store.py", start_line=5, end_line=9, symbol="Store.save", reason="saves")
    [suspect], citations = verify_suspects([file], lines, PATHS)
    assert (suspect.path, suspect.symbol, suspect.reason) == ("src/shop/store.py", "Store.save", "saves")
    assert (citations.verified, citations.total) == (2, 2)


def test_verified_files_keep_their_confirmed_parts():
    cited = [
        relevant("/github/workspace/src/shop/store.py", 1, 2, "json.dumps(item)", "Store.save"),
        relevant("gone.py", 1, 2),
        relevant("b/odd.py", 7, 9, "even = 2", "even"),
    ]
    verified, citations = verify_files(cited, lines, PATHS)
    assert verified == [
        relevant("src/shop/store.py", 6, 6, "json.dumps(item)", "Store.save"),
        relevant("b/odd.py"),
    ]
    assert citations == verify_suspects(cited, lines, PATHS)[1]


def evidence(
    path: str | None = None, start: int | None = None, end: int | None = None, quote: str | None = None
) -> Evidence:
    return Evidence(claim="claim", path=path, start_line=start, end_line=end, quote=quote)


@pytest.mark.parametrize(
    ("item", "verified", "span", "quote", "count"),
    [
        (evidence("src/shop/store.py", 5, 9, "json.dumps(item)"), True, (5, 9), "json.dumps(item)", (3, 3)),
        (evidence("src/shop/store.py", 1, 1, "json.dumps(item)"), True, (6, 6), "json.dumps(item)", (2, 3)),
        (evidence("src/shop/store.py", 5, 9), True, (5, 9), None, (2, 2)),
        # a wrong quote takes its place with it
        (evidence("src/shop/store.py", 5, 9, "pickle.dumps(item)"), False, None, None, (2, 3)),
        (evidence("src/shop/store.py", 99, 99), False, None, None, (1, 2)),
        (evidence("src/shop/store.py"), False, None, None, (1, 1)),
        (evidence("src/gone.py", 5, 9, "json.dumps(item)"), False, None, None, (0, 3)),
        (evidence(quote="it   crashes"), True, None, "it   crashes", (1, 1)),
        (evidence(quote="it never crashes"), False, None, None, (0, 1)),
        (evidence(), False, None, None, (0, 0)),
        (evidence(path="", quote="crashes on save"), True, None, "crashes on save", (1, 1)),
    ],
)
def test_unverified_evidence_loses_its_place_and_keeps_its_claim(item, verified, span, quote, count):
    [result], citations = verify_evidence([item], lines, PATHS, issue_text="It\nand it crashes on save.")
    assert result.claim == "claim"
    assert result.verified is verified
    assert result.span == (Span(path="src/shop/store.py", start=span[0], end=span[1]) if span else None)
    assert result.quote == quote
    assert (citations.verified, citations.total) == count


def test_counts_are_summed_and_reasons_are_deduplicated():
    one = Citations(verified=1, total=2, refused=["a", "b"])
    other = Citations(verified=3, total=5, refused=["b", "c"])
    assert merge_citations([one, other]) == Citations(verified=4, total=7, refused=["a", "b", "c"])
    assert merge_citations([]) == Citations()


numbers = st.none() | st.integers() | st.integers(-3, 25)
hostile = st.sampled_from(
    ["../../etc/passwd", "C:\\x", "/proc/self/environ", "a\nb", "%2e%2e/x", "src/shop/store.py", "store.py", "\ud800"]
)
paths = hostile | st.text(max_size=40) | st.sampled_from(PATHS)
quotes = st.none() | st.text(max_size=60) | st.sampled_from(STORE)


@given(st.lists(st.tuples(paths, numbers, numbers, quotes), max_size=6))
def test_only_existing_places_are_returned(cited):
    files = [relevant(path, start, end, quote, symbol=quote) for path, start, end, quote in cited]
    suspects, citations = verify_suspects(files, lines, PATHS)
    assert 0 <= citations.verified <= citations.total
    assert (citations.verified < citations.total) == bool(citations.refused)
    for suspect in suspects:
        assert suspect.path in FILES
        if suspect.span:
            assert suspect.span.path == suspect.path
            assert 1 <= suspect.span.start <= suspect.span.end <= len(FILES[suspect.path])
    assert all(why.isprintable() for why in citations.refused)


@given(st.lists(st.tuples(paths | st.none(), numbers, numbers, quotes), max_size=6), st.text(max_size=80))
def test_verified_evidence_points_to_its_quote(cited, issue_text):
    items = [evidence(path, start, end, quote) for path, start, end, quote in cited]
    results, citations = verify_evidence(items, lines, PATHS, issue_text)
    assert [result.claim for result in results] == ["claim"] * len(items)
    assert 0 <= citations.verified <= citations.total
    for result in results:
        assert result.verified or (result.span is None and result.quote is None)
        if result.span and result.quote:
            place = " ".join(" ".join(FILES[result.span.path][result.span.start - 1 : result.span.end]).split())
            assert " ".join(result.quote.split()) in place


@given(st.integers(1, 18), st.integers(0, 4))
def test_every_run_of_lines_is_found_at_its_place(start, length):
    end = min(start + length, len(STORE))
    quote = "\n".join(STORE[start - 1 : end])
    if sum(character.isalnum() for character in quote) < 4:
        return
    [suspect], citations = checked(relevant("src/shop/store.py", start, end, quote))
    assert suspect.span == Span(path="src/shop/store.py", start=start, end=end)
    assert citations.verified == citations.total == 3


@pytest.mark.parametrize(
    "quote", ["a" * 65_536, "ab" * 32_768, " ".join(["a"] * 32_768), "a" * 32_768 + "b"], ids=range(4)
)
def test_the_cost_of_hostile_quotes_is_linear(quote):
    def verify(size: int) -> None:
        lines = size // 1_000
        text = ["a" * 1000] * lines + ["a b " * 250] * lines
        cut = quote[: size - 1] + quote[-1]
        verify_suspects([relevant("x.py", 1, 2 * lines, cut, symbol=cut)], {"x.py": text}.get, ["x.py"])

    assert_grows_linearly(int, verify)


def test_one_path_of_very_many_is_found():
    many = [f"src/{number % 1000}/file{number}.py" for number in range(200_000)]
    suspects, _ = verify_suspects([relevant("/x/7/file7007.py"), relevant("file12.py")], lambda path: [], many)
    assert [suspect.path for suspect in suspects] == ["src/7/file7007.py", "src/12/file12.py"]


def test_a_quote_without_invisible_characters_is_found():
    """A model is not shown invisible characters of the code, and cannot quote them."""
    code = CitationLookup(lambda path: ["x = 1", "na\u200bme = '\u202ecafé\U000e0041'", "y = 2"], ["a.py"])
    assert code.text("a.py").find_ranges("name = 'café'") == [(2, 2)]
