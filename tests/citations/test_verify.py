"""Citations are verified: examples of what agents get wrong, and properties for what an attacker makes them cite."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testing.checkouts.git_repositories import commit
from testing.cost_growth import assert_grows_linearly, repeat_to
from testing.each_row import each_row
from triage.citations.citation_lookup import CitationLookup
from triage.citations.verify import verify_evidence, verify_files, verify_suspects
from triage.code.codebase import GitCodebase
from triage.domain.code import Passage, Span, Suspect
from triage.domain.findings import AffectedFile, Evidence, RelevantFile
from triage.domain.report import Citations

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
DEFINITIONS = {
    "Store": ("src/shop/store.py", 4, 13),
    "Store.save": ("src/shop/store.py", 5, 9),
    "Store.load": ("src/shop/store.py", 11, 13),
    "clear": ("src/shop/store.py", 16, 18),
    "odd": ("b/odd.py", 1, 1),
}


@dataclass
class Code:
    """The part of a codebase that citations need."""

    files: Mapping[str, list[str] | None] = field(default_factory=lambda: FILES)
    definitions: Mapping[str, tuple[str, int, int]] = field(default_factory=lambda: DEFINITIONS)
    repository: str = "acme/shop"

    def read_lines(self, path: str) -> list[str] | None:
        return self.files.get(path)

    def list_paths(self) -> Sequence[str]:
        return list(self.files)

    def find_definitions(self, name: str) -> list[Passage]:
        wanted = re.findall(r"\w+", name)[-1:]
        found = [known for known in self.definitions if known.split(".")[-1:] == wanted]
        return [
            Passage(span=Span(path=path, start=start, end=end), text="", symbol=known)
            for known, (path, start, end) in ((known, self.definitions[known]) for known in found)
        ]


CODE = Code()


def lookup(code: Any = CODE) -> CitationLookup:
    return CitationLookup(code)


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
    return verify_suspects(files, lookup())


@each_row(
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
    assert lookup().resolve(cited) == resolved


@each_row(
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
                "src/shop/__init__.py: the quote is not in the file",
                "src/shop/__init__.py: lines 1-1 are not in the file, which has 0",
            ],
        ),
    ],
)
def test_lines_and_quotes_are_verified_in_the_file(file, span, verified, total, refused):
    [suspect], citations = checked(file)
    expected = Span(path=suspect.path, start=span[0], end=span[1]) if span else None
    assert suspect.span == expected
    assert citations == Citations(verified=verified, total=total, refused=refused)


@each_row(
    ("file", "span", "correction"),
    [
        (
            relevant("src/shop/store.py", 5, 9, "return json.loads(text)"),
            (13, 13),
            "the quote stands in lines 13-13, which replace those cited",
        ),
        (
            relevant("src/shop/store.py", 900, 910, "def load(self, at): text = self.rows[at]"),
            (11, 12),
            "the quote stands in lines 11-12, which replace those cited",
        ),
        (relevant("src/shop/store.py", 9, 5), (5, 9), "the last of the cited lines stands before the first"),
        (
            relevant("src/shop/store.py", 900, 910, symbol="Store.load"),
            (11, 13),
            "the symbol is defined in lines 11-13, which replace those cited",
        ),
        (
            relevant("src/shop/store.py", 8, 8, symbol="Store.load"),
            (11, 13),
            "the symbol is defined in lines 11-13, which replace those cited",
        ),
        (relevant("Store.load"), (11, 13), "this file defines the symbol that was cited as a path"),
        (relevant("store.clear()", 17, 18), (17, 18), "this file defines the symbol that was cited as a path"),
        (
            relevant("src/shop/store.py", 2, 3, "store.rows = []", symbol="clear"),
            (17, 17),
            "the quote stands in lines 17-17, which replace those cited",
        ),
    ],
)
def test_a_correction_is_no_refusal(file, span, correction):
    [suspect], citations = checked(file)
    assert suspect.span == Span(path="src/shop/store.py", start=span[0], end=span[1])
    assert citations.corrected == [f"src/shop/store.py: {correction}"]
    assert (citations.verified, citations.refused) == (citations.total, [])


def test_a_quote_that_is_not_there_is_refused_though_the_symbol_corrects_the_lines():
    [suspect], citations = checked(relevant("src/shop/store.py", 90, 99, "return pickle.loads(text)", "Store.load"))
    assert suspect.span == Span(path="src/shop/store.py", start=11, end=13)
    assert citations.refused == ["src/shop/store.py: the quote is not in the file"]
    assert (citations.verified, citations.total) == (2, 3)


def test_lines_that_call_the_symbol_stay():
    [suspect], citations = checked(relevant("src/shop/store.py", 6, 6, symbol="dumps"))
    assert (suspect.span, suspect.symbol) == (Span(path="src/shop/store.py", start=6, end=6), "dumps")
    assert citations.corrected == []


SHA = "0123456789abcdef0123456789abcdef01234567"


@each_row(
    ("cited", "lines", "symbol"),
    [
        ("src/shop/store.py:5-9", (5, 9), None),
        ("src/shop/store.py:5", (5, 5), None),
        ("src/shop/store.py:5:13", (5, 5), None),
        ("src/shop/store.py:L5-L9", (5, 9), None),
        ("src/shop/store.py#L5-L9", (5, 9), None),
        ("src/shop/store.py#L5", (5, 5), None),
        ("src/shop/store.py, lines 5-9", (5, 9), None),
        ("src/shop/store.py line 5", (5, 5), None),
        ("src/shop/store.py (lines 5 to 9)", (5, 9), None),
        ("src/shop/store.py (Store.save)", (5, 9), "Store.save"),
        ("src/shop/store.py::Store.save", (5, 9), "Store.save"),
        ("src/shop/store.py::Store::save()", (5, 9), "Store::save"),
        ("## src/shop/store.py:6-8 (Store.save)", (6, 8), "Store.save"),
        ("- `src/shop/store.py:6-8`", (6, 8), None),
        ("`src/shop/store.py`:6", (6, 6), None),
        ("src/shop/store.py:6-8 (Store.save)", (6, 8), "Store.save"),
        ("shop/src/shop/store.py:6", (6, 6), None),
        ("acme/shop/src/shop/store.py:6", (6, 6), None),
        ("Acme/Shop/src/shop/store.py:6", (6, 6), None),
        (f"https://github.com/acme/shop/blob/{SHA}/src/shop/store.py#L6-L8", (6, 8), None),
        ("https://github.com/acme/shop/blob/main/src/shop/store.py?plain=1#L6", (6, 6), None),
        ("https://git.acme.example/Acme/Shop/blob/fix/some/branch/src/shop/store.py#L6C3-L8C9", (6, 8), None),
        ("<https://github.com/acme/shop/blob/main/docs/a%20b%23c%3F.md>", None, None),
        (f"[store](https://github.com/acme/shop/blob/{SHA}/src/shop/store.py#L6-L8)", (6, 8), None),
        ("https://github.com/acme/shop/raw/main/docs/a%20b%23c%3F.md", None, None),
        ("store.py:6", (6, 6), None),
        ("docs/a b#c?.md", None, None),
        ("docs/a b#c?.md:1", (1, 1), None),
    ],
)
def test_a_place_is_read_as_models_write_it(cited, lines, symbol):
    [suspect], citations = checked(relevant(cited))
    assert suspect.path == ("docs/a b#c?.md" if "docs" in cited else "src/shop/store.py")
    assert suspect.span == (Span(path=suspect.path, start=lines[0], end=lines[1]) if lines else None)
    assert suspect.symbol == symbol
    assert (citations.verified, citations.refused) == (citations.total, [])


@each_row(
    "cited",
    [
        f"https://github.com/other/shop/blob/{SHA}/src/shop/store.py#L6",
        "https://github.com/acme/shop/issues/12",
        "https://evil.example/src/shop/store.py",
        "https://github.com/acme/shop/blob/main/../../etc/passwd",
        "other/shop/src/shop/store.py",
        "Other.save",
        "other.clear",
        "save it",
        "src/gone.py (Store.save)",
        "src/gone.py:5",
        "unknown",
        "in",
    ],
)
def test_a_place_elsewhere_is_refused(cited):
    suspects, citations = checked(relevant(cited))
    assert suspects == []
    assert len(citations.refused) == 1


def test_a_symbol_of_two_files_stands_for_none_of_them():
    code = Code(FILES, DEFINITIONS | {"Other.save": ("b/odd.py", 1, 1)})
    assert lookup(code).locate("save") is None
    assert lookup(code).resolve("Store.save") == "src/shop/store.py"


@each_row(
    "quote",
    [
        "6|         text = json.dumps(item)",
        "  6| text = json.dumps(item)\n  7| if not text:",
        "`text = json.dumps(item)`",
        '"text = json.dumps(item)"',
        "\u201ctext = json.dumps(item)\u201d",
        "`6| text = json.dumps(item)`",
        "```python\n6|         text = json.dumps(item)\n7|         if not text:\n```",
        "text=json.dumps( item )",
        "text = json.dumps(item) ...",
        "\u2026 text = json.dumps(item) \u2026",
        "...text = json.dumps(item)",
        "text\u00a0= json.dumps(item)",
    ],
)
def test_a_quote_is_found_as_models_write_it_and_shown_as_it_is(quote):
    [suspect], citations = verify_files([relevant("src/shop/store.py", 5, 9, quote)], lookup())
    assert (citations.verified, citations.total, citations.corrected) == (3, 3, [])
    shown = " ".join((suspect.quote or "").split())
    assert shown.startswith("text = json.dumps(item)")
    assert "|" not in shown


@pytest.mark.parametrize(
    "quote", ["raise ValueError('empty')", "raise ValueError(\u201cempty\u201d)", "raise ValueError( 'empty' )"]
)
def test_a_quote_with_other_quotation_marks_is_shown_as_the_file_has_it(quote):
    [file], citations = verify_files([relevant("src/shop/store.py", 5, 9, quote)], lookup())
    assert (file.quote, citations.refused) == ('raise ValueError("empty")', [])


@pytest.mark.parametrize("symbol", ["Store.save", "def save(self)"])
def test_a_name_of_two_files_means_the_one_that_defines_the_symbol(symbol):
    code = lookup(Code(FILES | {"old/store.py": ["x = 1"]}))
    [suspect], citations = verify_suspects([relevant("store.py", symbol=symbol)], code)
    assert (suspect.path, suspect.span) == ("src/shop/store.py", Span(path="src/shop/store.py", start=5, end=9))
    assert citations.refused == []
    assert verify_suspects([relevant("store.py", symbol="json")], code)[0] == []


def test_a_quote_of_the_issue_is_shown_without_marks_around_it():
    [found], _ = verify_evidence([evidence(None, quote="\u201cIt is broken.\u201d")], lookup(), "Help! It is broken.")
    assert found.quote == "It is broken."


def test_the_index_knows_where_a_definition_with_a_long_signature_ends(tmp_path):
    sources = {
        "src/cache.rs": "impl Cache {\n    pub fn get<T>(\n        &self,\n        key: &str,\n    ) -> Option<T>\n"
        "    {\n        self.read(key)\n    }\n}\n\nfn other() {}\n",
        "src/cache.ts": "export class Cache {\n  load<T>(\n    key: string,\n  ): Promise<T> {\n    return get(key);\n"
        "  }\n}\n",
        "src/cache.cc": "int\nCache::drop(\n    const Key& key\n) const {\n  return size(key);\n}\n\nint other() { return 0; }\n",
    }
    for path, text in sources.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    commit(tmp_path)
    codebase = GitCodebase(tmp_path, "acme/cache", in_chroma=False)
    codebase.index()
    cited = [
        relevant("src/cache.rs", 7, 7, symbol="Cache::get"),
        relevant("src/cache.ts", 5, 5, symbol="Cache.load"),
        relevant("src/cache.cc", 5, 5, symbol="Cache::drop"),
        relevant("src/cache.rs", 11, 11, symbol="Cache::get"),
    ]
    files, citations = verify_files(cited, CitationLookup(codebase))
    assert [file.symbol for file in files] == ["Cache::get", "Cache.load", "Cache::drop", "Cache::get"]
    assert [file.start_line for file in files] == [7, 5, 5, 2]
    assert (files[3].end_line, citations.refused) == (8, [])


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
    "symbol",
    [
        "`Store.save`",
        "Store.save()",
        "def save(self, path)",
        "async def save",
        "method Store.save",
        "Store.save method",
        "**save**",
    ],
)
def test_a_symbol_is_read_as_models_write_it(symbol):
    [suspect], citations = checked(relevant("src/shop/store.py", 900, 910, symbol=symbol))
    assert (suspect.span, suspect.symbol) in [
        (Span(path="src/shop/store.py", start=5, end=9), "Store.save"),
        (Span(path="src/shop/store.py", start=5, end=9), "save"),
    ]
    assert citations.refused == []


@each_row(
    ("symbol", "start", "end", "is_kept"),
    [
        ("Store.save", 5, 9, True),
        ("save", None, None, True),
        ("shop::Store#save()", 5, 9, True),
        # the frame points into the body; the definition stands above it
        ("Store.save", 8, 8, True),
        ("Store", 8, 8, True),
        ("json", 8, 8, False),
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
    assert suspect.symbol == (symbol.removesuffix("()") if symbol and is_kept else None)


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
    [suspect], citations = verify_suspects([file], lookup())
    assert (suspect.path, suspect.symbol, suspect.reason) == ("src/shop/store.py", "Store.save", "saves")
    assert (citations.verified, citations.total) == (2, 2)


def test_verified_files_keep_their_confirmed_parts():
    cited = [
        relevant("/github/workspace/src/shop/store.py", 1, 2, "json.dumps(item)", "Store.save"),
        relevant("gone.py", 1, 2),
        relevant("b/odd.py", 7, 9, "even = 2", "even"),
    ]
    verified, citations = verify_files(cited, lookup())
    assert verified == [
        relevant("src/shop/store.py", 6, 6, "json.dumps(item)", "Store.save"),
        relevant("b/odd.py"),
    ]
    assert citations == verify_suspects(cited, lookup())[1]


def evidence(
    path: str | None = None, start: int | None = None, end: int | None = None, quote: str | None = None
) -> Evidence:
    return Evidence(claim="claim", path=path, start_line=start, end_line=end, quote=quote)


@each_row(
    ("item", "verified", "span", "quote", "count"),
    [
        (evidence("src/shop/store.py", 5, 9, "json.dumps(item)"), True, (5, 9), "json.dumps(item)", (3, 3)),
        (evidence("src/shop/store.py", 1, 1, "json.dumps(item)"), True, (6, 6), "json.dumps(item)", (3, 3)),
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
    [result], citations = verify_evidence([item], lookup(), issue_text="It\nand it crashes on save.")
    assert result.claim == "claim"
    assert result.verified is verified
    assert result.span == (Span(path="src/shop/store.py", start=span[0], end=span[1]) if span else None)
    assert result.quote == quote
    assert (citations.verified, citations.total) == count


numbers = st.none() | st.integers() | st.integers(-3, 25)
hostile = st.sampled_from(
    ["../../etc/passwd", "C:\\x", "/proc/self/environ", "a\nb", "%2e%2e/x", "src/shop/store.py", "store.py", "\ud800"]
)
paths = hostile | st.text(max_size=40) | st.sampled_from(PATHS)
quotes = st.none() | st.text(max_size=60) | st.sampled_from(STORE)


@given(st.lists(st.tuples(paths, numbers, numbers, quotes), max_size=6))
def test_only_existing_places_are_returned(cited):
    files = [relevant(path, start, end, quote, symbol=quote) for path, start, end, quote in cited]
    suspects, citations = verify_suspects(files, lookup())
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
    results, citations = verify_evidence(items, lookup(), issue_text)
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
        verify_suspects([relevant("x.py", 1, 2 * lines, cut, symbol=cut)], lookup(Code({"x.py": text}, {})))

    assert_grows_linearly(int, verify)


@each_row("piece", ["a:1", "(", " (a", "https://a/b/c/blob/d/", "::a", "#L1", ", lines 1", "a/", "`", "- "])
def test_the_cost_of_hostile_places_is_linear(piece):
    def locate(text: str) -> None:
        lookup().locate(text)

    assert_grows_linearly(repeat_to(piece), locate)
    for _ in range(50):
        locate(repeat_to(piece)(4_000))


@pytest.mark.parametrize("piece", ["1| ", "`", "...", " ", "1|", "```\n", '"'])
def test_the_cost_of_hostile_forms_of_quotes_is_linear(piece):
    text = ["a" * 1_000] * 60

    def verify(quote: str) -> None:
        verify_suspects([relevant("x.py", 1, 2, quote + "abcd")], lookup(Code({"x.py": text}, {})))

    assert_grows_linearly(repeat_to(piece), verify)


def test_one_path_of_very_many_is_found():
    many = [f"src/{number % 1000}/file{number}.py" for number in range(200_000)]
    suspects, _ = verify_suspects(
        [relevant("/x/7/file7007.py"), relevant("file12.py")], lookup(Code(dict.fromkeys(many), {}))
    )
    assert [suspect.path for suspect in suspects] == ["src/7/file7007.py", "src/12/file12.py"]


def test_a_quote_without_invisible_characters_is_found():
    """A model is not shown invisible characters of the code, and cannot quote them."""
    code = lookup(Code({"a.py": ["x = 1", "na\u200bme = '\u202ecafé\U000e0041'", "y = 2"]}))
    assert code.text("a.py").find_ranges("name = 'café'") == [(2, 2)]
