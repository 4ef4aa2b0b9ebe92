"""Lines found by literal text: which come first, what is counted, and what is said where the text stands nowhere."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from testing.each_row import each_row
from tests.find.indexes import make_corpus
from triage.domain.code import LineMatches
from triage.find.text_search import MAX_LINE_CHARS, MAX_TEXT_CHARS, find_text
from triage.find.words.corpus import Corpus

FILES = {
    "src/shop/settings.py": (
        "import os\n\n"
        "MAX_RETRIES = 3\n"
        "TIMEOUT: float = 2.5\n"
        "HOOKS = {\n    'before': [],\n    'after': [],\n}\n"
        "LOGGING = dict(\n    level='info',\n    retries=MAX_RETRIES,\n)\n"
    ),
    "src/shop/store.py": (
        "from shop.settings import MAX_RETRIES\n\n\n"
        "class Store:\n"
        '    """Holds items. Call save(items) for each."""\n\n'
        "    retries = MAX_RETRIES\n"
        "    owner: str\n\n"
        "    def __init__(self, path, limit=None):\n"
        "        self.limit = limit\n"
        "        self.path, self._dirty = path, False\n"
        "        count = 0\n\n"
        "    def save(self, items):\n"
        "        # save(items) is slow\n"
        "        return self.flush(items)\n\n"
        "    def flush(self, items):\n"
        "        if not items:\n"
        "            raise ValueError('No items for store %s' % self.path)\n"
        "        return items\n"
    ),
    "server/main.go": 'package main\n\nvar ErrClosed = errors.New("server closed")\n',
    "native/codec.cpp": "int decode(Frame* frame) {\n    return kTable[0];\n}\n",
    "config/app.toml": "max_retries = 5\n[cache]\nfolder = 'x'\n",
    "tests/test_store.py": (
        "from shop.store import Store\n\n\n"
        "def test_save():\n    assert Store('x').save([1]) == [1]\n    MAX_RETRIES = 1\n"
    ),
    "docs/guide.md": "Set `MAX_RETRIES = 9`. Then call store.save(items).\n",
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return make_corpus(tmp_path_factory.mktemp("text"), FILES)


def places(found: LineMatches) -> list[str]:
    return [f"{one.path}:{one.line}" for one in found.lines]


def test_product_code_then_data_tests_and_documents(corpus: Corpus):
    found = find_text(corpus, "MAX_RETRIES", 20)
    assert places(found) == [
        "src/shop/settings.py:3",
        "src/shop/settings.py:11",
        "src/shop/store.py:1",
        "src/shop/store.py:7",
        "tests/test_store.py:6",
        "docs/guide.md:1",
    ]
    assert (found.total, found.files, found.same_case, found.not_listed) == (6, 4, True, {})


def test_documents_do_not_take_the_room_of_code(tmp_path: Path):
    pages = {"docs/api.html": "save(items)\n" * 9}
    assert find_text(make_corpus(tmp_path / "pages", pages), "save(items)", 9).total == 9
    found = find_text(make_corpus(tmp_path / "both", FILES | pages), "save(items)", 20)
    assert places(found)[0].startswith("src/shop/store.py")
    assert len([one for one in found.lines if one.path.startswith("docs/")]) == 3
    assert sum(found.not_listed.values()) == 7


def test_each_line_comes_with_the_definition_around_it(corpus: Corpus):
    (line,) = find_text(corpus, "No items for store", 9).lines
    assert (line.symbol, line.text) == (
        "Store.flush",
        "            raise ValueError('No items for store %s' % self.path)",
    )
    assert find_text(corpus, "ErrClosed", 9).lines[0].symbol is None, "at the level of the module"


def test_small_and_capital_letters_matter_only_if_a_line_has_them(corpus: Corpus):
    exact = find_text(corpus, "max_retries", 9)
    assert (places(exact), exact.same_case) == (["config/app.toml:1"], True)
    other = find_text(corpus, "mAx_ReTrIeS", 9)
    assert (other.total, other.same_case) == (7, False)


def test_capitals_beyond_ascii_are_folded_too(tmp_path: Path):
    corpus = make_corpus(tmp_path, {"a.py": "# Überlauf\n", "b.py": "x = 1\n"})
    found = find_text(corpus, "ÜBERLAUF", 9)
    assert (places(found), found.same_case) == (["a.py:1"], False)


def test_lines_that_are_not_listed_are_counted_by_file(tmp_path: Path):
    files = {f"pkg/m{n}/a.py": "use(1)\n" for n in range(30)} | {"lib/b.py": "use(1)\nuse(2)\n"}
    corpus = make_corpus(tmp_path, files)
    found = find_text(corpus, "use(", 1)
    assert len(found.not_listed) == 9
    assert found.not_listed["elsewhere"] == 31 - sum(list(found.not_listed.values())[:8])
    assert find_text(corpus, "use(2", 0).not_listed == {"lib/b.py": 1}


def test_of_several_lines_the_longest_is_looked_for(corpus: Corpus):
    assert places(find_text(corpus, "\n\n  return self.flush(items)\n x", 9)) == ["src/shop/store.py:17"]


def test_a_long_line_is_shown_around_the_text(tmp_path: Path):
    corpus = make_corpus(tmp_path, {"a.py": "x = 1\n" * 900 + f"x = '{'a' * 900}NEEDLE{'b' * 900}'\n"})
    (line,) = find_text(corpus, "NEEDLE", 9).lines
    assert "NEEDLE" in line.text
    assert len(line.text) < MAX_LINE_CHARS + 20
    assert line.text.startswith("(...)a")
    assert line.text.endswith("b(...)")


@each_row("text", ["", " ", "x", "\n", "\ud800\ud800", "\0\0", "nowhere at all in here", "z" * 10_000])
def test_what_stands_nowhere_is_not_found(corpus: Corpus, text: str):
    found = find_text(corpus, text, 9)
    assert (found.total, found.lines) == (0, [])


@settings(deadline=None, max_examples=60)
@given(text=st.text(max_size=60) | st.sampled_from(["(a+)+$", "\\", "[", "items" * 40, "e"]))
def test_whatever_is_asked_every_line_has_it(corpus: Corpus, text: str):
    found = find_text(corpus, text, 5)
    assert len(found.lines) <= 5
    wanted = max((line.strip() for line in text[:MAX_TEXT_CHARS].split("\n")), key=len).lower()
    assert all(wanted in one.text.lower() for one in found.lines)
    assert found.total == len(found.lines) + sum(found.not_listed.values())


def test_when_the_time_is_up_that_is_said(corpus: Corpus):
    found = find_text(corpus, "MAX_RETRIES", 9, seconds=-1.0)
    assert (found.complete, found.total) == (False, 0)
