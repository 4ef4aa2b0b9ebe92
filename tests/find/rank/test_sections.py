"""Sections of the documentation for an issue."""

from pathlib import Path

from tests.find.indexes import make_codebase, make_query
from triage.domain.code import Section, Span

GUIDE = """# Guide

Welcome to the ledger.

## Hidden files

Hidden files are left out; `--hidden` searches them.

## Colours

`--color never` prints no colours.
"""
FILES = {
    "docs/guide.md": GUIDE,
    "src/search.py": "def search_hidden_files():\n    return hidden_files\n",
    "CHANGELOG.md": "# 1.0\n\nHidden files hidden files hidden files are searched.\n",
    "tests/hidden/README.md": "# Hidden files\n\nHidden files for tests.\n",
}
HIDDEN = make_query(title="How do I search hidden files?").parsed


def test_the_section_that_shares_most_words_comes_first(tmp_path: Path):
    codebase = make_codebase(tmp_path, FILES)
    assert codebase.find_documentation(HIDDEN, 9) == []
    facts = codebase.index()
    assert (facts.sections, facts.vectors) == (3, 4)
    found = codebase.find_documentation(HIDDEN, 9)
    assert found[0] == Section(span=Span(path="docs/guide.md", start=5, end=8), heading="Hidden files")
    assert {one.span.path for one in found} == {"docs/guide.md"}
    assert codebase.find_documentation(HIDDEN, 1) == found[:1]
    assert codebase.find_documentation(make_query(title="zebra").parsed, 9) == []


def test_a_part_of_a_long_section_has_its_heading(tmp_path: Path):
    long = GUIDE.replace("Hidden files are", "word\n" * 110 + "Hidden files are")
    codebase = make_codebase(tmp_path, {"docs/guide.md": long, "a.py": "x = 1\n"})
    codebase.index()
    found = codebase.find_documentation(HIDDEN, 9)
    assert found[0].span.start > 100
    assert {one.heading for one in found} == {"Hidden files"}


def test_a_folder_without_pages_has_no_sections(tmp_path: Path):
    codebase = make_codebase(tmp_path, {"a.py": "hidden = files\n"})
    assert codebase.index().sections == 0
    assert codebase.find_documentation(HIDDEN, 9) == []
