"""What is kept of a file, before any number of it meets those of other files."""

from itertools import pairwise

import pytest

from tests.index.project import DATES, PROJECT
from triage.index.corpus.bm25 import TermCounts
from triage.index.parse.extract import ExtractedFiles, Extractor, SourceFile


def extract(*sources: SourceFile) -> ExtractedFiles:
    return Extractor().extract(sources)


def source(path: str, text: str, *, by_syntax: bool = True) -> SourceFile:
    return SourceFile(path, text.encode(), by_syntax)


def documents(extract: ExtractedFiles, table: TermCounts) -> list[dict[str, int]]:
    """Each document's terms with their counts."""
    ends = [0, *table.sizes.cumsum().tolist()]
    pairs = list(zip([extract.terms[term] for term in table.terms], table.counts.tolist(), strict=True))
    return [dict(pairs[first:last]) for first, last in pairwise(ends)]


def test_a_file_by_its_definitions():
    found = extract(source("src/dates.py", DATES))
    assert found.skip_reasons == [""]
    assert found.definitions == [
        (0, 6, 18, "DateParser"),
        (0, 9, 14, "DateParser.parse_date"),
        (0, 16, 18, "DateParser.leap_year"),
    ]
    assert found.chunks == [(0, 1, 5, -1), (0, 6, 18, 0)]
    assert found.compressed_texts[0] is not None


def test_a_chunk_holds_the_words_of_its_lines_path_and_symbol():
    found = extract(source("lib/a.py", "import os\n\n\nclass Store:\n    def save(self): pass\n"))
    first, second = documents(found, found.by_chunk)
    assert first == {"import": 1, "os": 1, "lib": 1, "py": 1}
    assert second == {"class": 1, "store": 2, "def": 1, "save": 1, "self": 1, "pass": 1, "lib": 1, "py": 1}


def test_a_file_holds_its_words_and_its_path_twice():
    found = extract(source("lib/a.py", "save save\n"))
    assert documents(found, found.by_file) == [{"save": 2, "lib": 2, "py": 2}]
    assert documents(found, found.by_path) == [{"lib": 1, "py": 1}]


def test_a_path_alone():
    found = extract(SourceFile("lib/store.py", None))
    assert (found.skip_reasons, found.compressed_texts, found.chunks) == ([""], [None], [])
    assert documents(found, found.by_file) == [{"lib": 2, "store": 2, "py": 2}]


def test_what_is_left_out_is_in_no_table():
    found = extract(SourceFile("a.bin2", b"\0"), source("b.py", "x1 = 1\n"), SourceFile("c.xyz", b"\0"))
    assert found.skip_reasons == ["binary", "", "binary"]
    assert [len(table.sizes) for table in (found.by_chunk, found.by_file, found.by_path)] == [1, 1, 1]
    assert [chunk[0] for chunk in found.chunks] == [1]


def test_by_lines_there_are_no_definitions():
    found = extract(source("a.py", "def f():\n    pass\n" * 100, by_syntax=False))
    assert found.definitions == []
    assert found.chunks[:2] == [(0, 1, 60, -1), (0, 51, 110, -1)]


@pytest.mark.parametrize("text", ["", "\n\n\n", "1 2 3\n", "\ufeff"])
def test_lines_without_words_are_no_chunk(text: str):
    found = extract(source("a.py", text))
    assert found.chunks == []
    assert len(found.by_file.sizes) == 1


def test_the_number_of_each_file_is_told_before_it_is_looked_at():
    told: list[int] = []
    Extractor().extract([source("a.py", ""), SourceFile("b.bin2", b"\0"), SourceFile("c", None)], told.append)
    assert told == [0, 1, 2]


def test_one_extract_does_not_show_in_the_next():
    extractor = Extractor()
    sources = [source(path, text) for path, text in PROJECT.items()]
    first = extractor.extract(sources[:3])
    alone = extractor.extract(sources[3:])
    fresh = extract(*sources[3:])
    assert set(alone.terms) == set(fresh.terms)
    assert documents(alone, alone.by_chunk) == documents(fresh, fresh.by_chunk)
    assert "flush" in first.terms
    assert "flush" not in alone.terms


def test_words_are_forgotten_when_there_are_many(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("triage.index.parse.extract._MAX_WORDS", 3)
    extractor = Extractor()
    sources = [source("a.py", "one two three four five\n")]
    before = extractor.extract(sources)
    known = extractor._vocabulary
    after = extractor.extract(sources)
    assert extractor._vocabulary is not known
    assert documents(before, before.by_chunk) == documents(after, after.by_chunk)


def test_after_some_seconds_files_are_cut_by_lines(monkeypatch: pytest.MonkeyPatch):
    assert not extract(source("src/dates.py", DATES)).timed_out
    monkeypatch.setattr("triage.index.parse.extract._SYNTAX_SECONDS", -1.0)
    found = extract(source("src/dates.py", DATES))
    assert (found.definitions, found.timed_out) == ([], True)
