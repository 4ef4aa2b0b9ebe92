"""Which definitions of a file are shown, and in which order."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from testing.cost_growth import assert_grows_linearly
from tests.find.indexes import make_corpus, make_query, make_trace
from triage.domain.code import SearchQuery
from triage.find.past_changes import PastChanges
from triage.find.rank.query import build_query
from triage.find.rank.search import Search
from triage.find.rank.snippets import (
    MAX_SNIPPETS,
    choose_chunks,
    find_snippets,
    read_passages,
)
from triage.find.words.corpus import Corpus

METHOD = "    def {name}(self, key):\n        value = self.{words}\n        self.count += 1\n        return value\n\n"
STORE = (
    "import os\nfrom queue import Queue\n\nRETRY_SECONDS = 5\n\n\nclass Store:\n"
    '    """Keeps things. It can save, load and flush a queue."""\n\n    LIMIT = 10\n    KIND = "plain"\n\n'
    + METHOD.format(name="save", words="pending.write(key)")  # lines 13 to 16
    + METHOD.format(name="load", words="pending.read(key)")  # lines 18 to 21
    + METHOD.format(name="flush_queue", words="queue.drain(key)")  # lines 23 to 26
    + METHOD.format(name="reset", words="queue.restart(key)")
    + 'class Cache:\n    LIMIT = 11\n    KIND = "cached"\n\n'
    + METHOD.format(name="save", words="memory.write(key)")  # lines 37 to 40
    + METHOD.format(name="drop", words="memory.drain(key)")
    + METHOD.format(name="clear", words="memory.empty(key)")
    + METHOD.format(name="size", words="memory.size(key)")
)
PATH = "src/store.py"
OTHER = {"src/other.py": "def unrelated():\n    return 1\n"}


def choose_symbols(folder: Path, text: str, asked: SearchQuery, path: str = PATH) -> list[str | None]:
    corpus = make_corpus(folder, {path: text, **OTHER})
    return symbols(corpus, choose(corpus, asked, path))


def choose(corpus: Corpus, asked: SearchQuery, path: str = PATH) -> list[int]:
    query = build_query(asked)
    return choose_chunks(Search(corpus, query, PastChanges(corpus)), corpus.file_numbers[path])


def symbols(corpus: Corpus, chunks: Sequence[int]) -> list[str | None]:
    return [corpus.chunk_symbols[chunk] for chunk in chunks]


@pytest.mark.parametrize(
    ("asked", "first"),
    [
        (make_query(title="flush_queue loses the last key"), "Store.flush_queue"),
        (make_query(title="Wrong key", prose="`Cache.save` writes the wrong key"), "Cache.save"),
        (make_query(title="Wrong key", prose="`Store.save` writes the wrong key"), "Store.save"),
        (make_query(title="load reads the wrong key"), "Store.load"),
        (make_query(title="Wrong key", prose="It is lost.", traces=[make_trace((PATH, 38))]), "Cache.save"),
        (make_query(title="Wrong key", prose="It is lost.", traces=[make_trace((PATH, 24), (PATH, 14))]), "Store.save"),
    ],
)
def test_the_definition_that_the_issue_means_leads(tmp_path: Path, asked: SearchQuery, first: str):
    assert choose_symbols(tmp_path, STORE, asked)[0] == first


def test_lines_outside_of_definitions_come_after_a_definition_with_somewhat_fewer_of_the_words(tmp_path: Path):
    text = "drain_pool = drain_pool or drain_pool\n\n\ndef empty(pool):\n    return drain_pool(pool)\n"
    assert choose_symbols(tmp_path, text, make_query(title="drain_pool hangs")) == ["empty", None]


def test_lines_outside_of_definitions_are_shown_where_nothing_else_fits(tmp_path: Path):
    assert choose_symbols(tmp_path, STORE, make_query(title="RETRY_SECONDS is too low"))[0] is None


def test_a_longer_body_wins_over_a_stub_with_the_same_words(tmp_path: Path):
    body = "".join(f"    total = {name} + 1\n" for name in "abcdefghijklmnopqrst")
    text = f"def spend_early(budget):\n    pass\n\n\ndef spend_later(budget):\n{body}    return budget\n"
    assert choose_symbols(tmp_path, text, make_query(title="the budget is negative"))[0] == "spend_later"


def test_docstrings_make_no_body(tmp_path: Path):
    prose = "".join(f"    Word {name}.\n" for name in "abcdefghijklmnopqrst")
    body = "".join(f"    total = {name} + 1\n" for name in "abcdefghijklmnopqrst")
    text = (
        f'def spend_early(budget):\n    """Spends.\n\n{prose}    """\n\n\n'
        f"def spend_later(budget):\n{body}    return budget\n"
    )
    assert choose_symbols(tmp_path, text, make_query(title="the budget is negative"))[0] == "spend_later"


def test_tests_beside_the_code_come_after_it(tmp_path: Path):
    text = (
        "fn parse_header(line: &str) -> u8 {\n    let found = line.len();\n    found as u8\n}\n\n"
        "mod tests {\n    const A: u8 = 1;\n    const B: u8 = 1;\n    const C: u8 = 1;\n    const D: u8 = 1;\n"
        + "    const E: u8 = 1;\n" * 12
        + "    fn parse_header_short() {\n        parse_header(parse_header);\n        parse_header(parse_header);\n    }\n}\n"
    )
    found = choose_symbols(tmp_path, text, make_query(title="parse_header is wrong for a short line"), "src/lib.rs")
    assert found.index("parse_header") < found.index("tests.parse_header_short")


LONG = "def walk(tree):\n" + "".join(f"    step_{n} = tree.branch_{n}\n" for n in range(200)) + "    return tree\n"


def test_a_long_definition_is_shown_once_by_its_best_window(tmp_path: Path):
    corpus = make_corpus(tmp_path, {PATH: LONG, **OTHER})
    chunks = choose(corpus, make_query(title="branch_130 is skipped"))
    assert symbols(corpus, chunks) == ["walk"]
    assert corpus.chunk_starts[chunks[0]] <= 132 <= corpus.chunk_ends[chunks[0]]


def test_a_long_definition_is_shown_by_the_window_with_the_frame(tmp_path: Path):
    corpus = make_corpus(tmp_path, {PATH: LONG, **OTHER})
    chunks = choose(corpus, make_query(title="branch_130 is skipped", traces=[make_trace((PATH, 12))]))
    assert symbols(corpus, chunks) == ["walk"]
    assert corpus.chunk_starts[chunks[0]] <= 12 <= corpus.chunk_ends[chunks[0]]


def test_at_most_three_pieces_that_do_not_overlap(tmp_path: Path):
    corpus = make_corpus(tmp_path, {PATH: STORE, **OTHER})
    chunks = choose(corpus, make_query(title="save, load, drop, drain, read and write of a key"))
    assert len(chunks) == MAX_SNIPPETS
    lines = [
        line
        for one in read_passages(corpus, corpus.file_numbers[PATH], chunks)
        for line in range(one.span.start, one.span.end + 1)
    ]
    assert len(lines) == len(set(lines))


def test_a_file_that_only_its_path_speaks_for_shows_its_beginning(tmp_path: Path):
    corpus = make_corpus(tmp_path, {"src/gadget.py": "x = 1\n", **OTHER})
    query = build_query(make_query(title="nothing of it stands there"))
    evidence, file = Search(corpus, query, PastChanges(corpus)), corpus.file_numbers["src/gadget.py"]
    assert find_snippets(evidence, file) == []
    assert choose_chunks(evidence, file) == [corpus.find_chunks(file)[0]]


def test_many_definitions_and_names_take_linear_time(tmp_path: Path):
    def make(size: int) -> tuple[Search, int]:
        text = "".join(f"def step_{n}(x):\n    return x.value_{n}\n\n" for n in range(size))
        corpus = make_corpus(tmp_path / str(size), {PATH: text, **OTHER})
        names = " ".join(f"engine.step_{n}" for n in range(0, size, 10))
        frames = [(PATH, 3 * n + 1) for n in range(200)]
        query = build_query(make_query(title="It hangs", prose=names, traces=[make_trace(*frames)]))
        return Search(corpus, query, PastChanges(corpus)), corpus.file_numbers[PATH]

    assert_grows_linearly(make, lambda one: choose_chunks(*one), 10_000)
    assert len(choose_chunks(*make(1_000))) == MAX_SNIPPETS
