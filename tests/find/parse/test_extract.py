"""What is extracted from a batch of files."""

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testing.each_row import each_row
from tests.find.project import DATES, PROJECT
from triage.find.parse.definitions import Definition
from triage.find.parse.extract import (
    MAX_CHUNK_LINES,
    MIN_SPLIT_LINES,
    Chunk,
    ExtractedFiles,
    Extractor,
    SourceFile,
    build_scopes,
    split_into_chunks,
)
from triage.find.words.bm25 import TermCounts

SMALL = MIN_SPLIT_LINES


@each_row(
    ("lines", "definitions", "expected"),
    [
        (0, [], []),
        (MAX_CHUNK_LINES, [], [Chunk(1, MAX_CHUNK_LINES)]),
        (170, [], [Chunk(1, 60), Chunk(51, 110), Chunk(101, 160), Chunk(151, 170)]),
        (120, [Definition(1, 120, "f")], [Chunk(1, 60, "f"), Chunk(51, 110, "f"), Chunk(101, 120, "f")]),
        (20, [Definition(5, 9, "f")], [Chunk(1, 4), Chunk(5, 9, "f"), Chunk(10, 20)]),
        (
            30,
            [Definition(1, 30, "app"), Definition(5, 9, "save", 1), Definition(10, 30, "app.load", 1)],
            [Chunk(1, 4, "app"), Chunk(5, 9, "app.save"), Chunk(10, 30, "app.load")],
        ),
        (SMALL, [Definition(1, SMALL, "Pair"), Definition(2, 3, "a", 1)], [Chunk(1, SMALL, "Pair")]),
    ],
)
def test_a_file_is_split_by_its_definitions(lines: int, definitions: list[Definition], expected: list[Chunk]):
    assert split_into_chunks(build_scopes(definitions, lines)) == expected


@st.composite
def nested(draw: st.DrawFn) -> tuple[int, list[Definition]]:
    """Definitions as a parser may find them: nested by depth, lines clipped, touching, sharing lines."""
    lines = draw(st.integers(1, 400))
    seed = random.Random(draw(st.integers(0, 2**32)))
    definitions: list[Definition] = []

    def add(first: int, last: int, depth: int) -> None:
        at = first
        while at <= last and len(definitions) < 60 and seed.random() < 0.8:
            start = seed.randint(at, last)
            end = seed.randint(start, last)
            definitions.append(Definition(start, end + seed.choice([0, 0, 0, 5]), f"n{len(definitions)}", depth))
            if depth < 4:
                add(start, end, depth + 1)
            at = end + seed.choice([0, 1])
            if at == start:
                at += 1

    add(1, lines, 0)
    return lines, definitions


@given(nested())
def test_chunks_cover_every_line(file: tuple[int, list[Definition]]):
    lines, definitions = file
    split = split_into_chunks(build_scopes(definitions, lines))
    assert {line for chunk in split for line in range(chunk.start, chunk.end + 1)} == set(range(1, lines + 1))
    assert all(chunk.end - chunk.start < MAX_CHUNK_LINES for chunk in split)


def extract(*sources: SourceFile) -> ExtractedFiles:
    return Extractor().extract(sources)


def source(path: str, text: str, *, use_grammar: bool = True) -> SourceFile:
    return SourceFile(path, text.encode(), use_grammar)


def documents(extracted: ExtractedFiles, table: TermCounts) -> list[dict[str, int]]:
    """Each document's terms with their counts."""
    ends = [0, *table.sizes.cumsum().tolist()]
    pairs = list(zip([extracted.terms[term] for term in table.terms], table.counts.tolist(), strict=True))
    return [dict(pairs[first:last]) for first, last in pairwise(ends)]


def test_a_file_by_its_definitions():
    extracted = extract(source("src/dates.py", DATES))
    assert extracted.skip_reasons == [""]
    assert extracted.definitions == [
        (0, 6, 18, "DateParser"),
        (0, 9, 14, "DateParser.parse_date"),
        (0, 16, 18, "DateParser.leap_year"),
    ]
    assert extracted.chunks == [(0, 1, 5, -1), (0, 6, 18, 0)]
    assert extracted.compressed_texts[0] is not None


def test_a_chunk_has_the_words_of_its_lines_path_and_symbol():
    extracted = extract(source("lib/a.py", "import os\n\n\nclass Store:\n    def save(self): pass\n"))
    first, second = documents(extracted, extracted.by_chunk)
    assert first == {"import": 1, "os": 1, "lib": 1, "py": 1}
    assert second == {"class": 1, "store": 2, "def": 1, "save": 1, "self": 1, "pass": 1, "lib": 1, "py": 1}


def test_a_file_has_its_words_and_its_path_twice():
    extracted = extract(source("lib/a.py", "save save\n"))
    assert documents(extracted, extracted.by_file) == [{"save": 2, "lib": 2, "py": 2}]
    assert documents(extracted, extracted.by_path) == [{"lib": 1, "py": 1}]


def test_a_path_alone():
    extracted = extract(SourceFile("lib/store.py", None))
    assert (extracted.skip_reasons, extracted.compressed_texts, extracted.chunks) == ([""], [None], [])
    assert documents(extracted, extracted.by_file) == [{"lib": 2, "store": 2, "py": 2}]


def test_files_that_are_left_out_are_in_no_table():
    extracted = extract(SourceFile("a.bin2", b"\0"), source("b.py", "x1 = 1\n"), SourceFile("c.xyz", b"\0"))
    assert extracted.skip_reasons == ["binary", "", "binary"]
    assert [len(table.sizes) for table in (extracted.by_chunk, extracted.by_file, extracted.by_path)] == [1, 1, 1]
    assert [chunk[0] for chunk in extracted.chunks] == [1]


def test_without_a_grammar_there_are_no_definitions():
    extracted = extract(source("a.py", "def f():\n    pass\n" * 100, use_grammar=False))
    assert extracted.definitions == []
    assert extracted.chunks[:2] == [(0, 1, 60, -1), (0, 51, 110, -1)]


@pytest.mark.parametrize("text", ["", "\n\n\n", "1 2 3\n", "\ufeff"])
def test_lines_without_words_are_not_a_chunk(text: str):
    extracted = extract(source("a.py", text))
    assert extracted.chunks == []
    assert len(extracted.by_file.sizes) == 1


def test_each_file_is_reported_before_it_is_read():
    reported: list[str] = []
    sources = [source("a.py", ""), SourceFile("b.bin2", b"\0"), SourceFile("c", None)]
    Extractor().extract(sources, lambda: reported.append("file"))
    assert len(reported) == 3


def test_batches_do_not_influence_each_other():
    extractor = Extractor()
    sources = [source(path, text) for path, text in PROJECT.items()]
    first = extractor.extract(sources[:3])
    alone = extractor.extract(sources[3:])
    fresh = extract(*sources[3:])
    assert set(alone.terms) == set(fresh.terms)
    assert documents(alone, alone.by_chunk) == documents(fresh, fresh.by_chunk)
    assert "flush" in first.terms
    assert "flush" not in alone.terms


def test_words_are_forgotten_above_the_limit(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("triage.find.parse.extract._MAX_WORDS", 3)
    extractor = Extractor()
    sources = [source("a.py", "one two three four five\n")]
    before = extractor.extract(sources)
    known = extractor._vocabulary
    after = extractor.extract(sources)
    assert extractor._vocabulary is not known
    assert documents(before, before.by_chunk) == documents(after, after.by_chunk)
