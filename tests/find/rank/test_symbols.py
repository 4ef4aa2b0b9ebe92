"""Definitions, asked for by name."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from testing.each_row import each_row
from tests.find.indexes import make_codebase, make_corpus
from triage.domain.code import Passage
from triage.find.rank.snippets import MAX_DEFINITIONS, look_up_definitions
from triage.find.words.corpus import Corpus

FILES = {
    "src/store.py": "class Store:\n    def save(self, items):\n        return items\n\n\nclass Cache(Store):\n    pass\n",
    "src/queue.rs": "impl Queue {\n    fn save(&self) -> bool {\n        true\n    }\n}\n",
    "tests/test_store.py": "class Store:\n    def save(self):\n        pass\n",
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return make_corpus(tmp_path_factory.mktemp("symbols"), FILES)


def places(found: list[Passage]) -> list[tuple[str, str | None]]:
    return [(passage.span.path, passage.symbol) for passage in found]


@pytest.mark.parametrize(
    "name", ["Store.save", "Store::save", "Store#save()", "Store->save", "`Store.save`", "def Store.save"]
)
def test_a_name_with_its_owner_in_whatever_notation(corpus: Corpus, name: str):
    assert places(look_up_definitions(corpus, name)) == [
        ("src/store.py", "Store.save"),
        ("tests/test_store.py", "Store.save"),
    ]


def test_likely_sources_come_first_with_their_code(corpus: Corpus):
    found = look_up_definitions(corpus, "save")
    assert [path for path, _ in places(found)] == ["src/queue.rs", "src/store.py", "tests/test_store.py"]
    assert (found[1].span.start, found[1].span.end) == (2, 3)
    assert found[1].text == "    def save(self, items):\n        return items"


def test_an_inherited_method_is_found_where_it_is_defined(corpus: Corpus):
    assert ("src/store.py", "Store.save") in places(look_up_definitions(corpus, "Cache.save"))


@each_row("name", ["", " ", ".", "()", "sav", "SAVE", "x" * 10_000, "a.b.", "\ud800", "save\0"])
def test_what_is_no_name_here_is_not_found(corpus: Corpus, name: str):
    assert look_up_definitions(corpus, name) == []


@settings(deadline=None)
@given(name=st.text(max_size=50) | st.sampled_from(["save", "Store"]).map(lambda name: f"{name}<{name}>[({name})]"))
def test_any_text_may_be_asked_for(corpus: Corpus, name: str):
    for passage in look_up_definitions(corpus, name):
        assert passage.span.path in FILES


def test_a_name_that_everything_has_is_cut(tmp_path: Path):
    codebase = make_codebase(tmp_path, {f"src/m{n}.py": "def run():\n    pass\n" for n in range(MAX_DEFINITIONS + 5)})
    assert codebase.find_definitions("run") == [], "nothing is indexed yet"
    codebase.index()
    assert len(codebase.find_definitions("run")) == MAX_DEFINITIONS
