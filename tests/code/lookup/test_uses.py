"""Callers: which lines use a name, and which only define it or talk about it."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from testing.cost_growth import assert_grows_linearly, repeat_to
from tests.code.indexes import make_corpus
from tests.code.lookup.made_up import FILES
from triage.code.lookup.line_scan import match_word
from triage.code.lookup.uses import KINDS, classify_use, find_code_lines, find_uses
from triage.code.words.corpus import Corpus
from triage.domain.code import LineMatches


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return make_corpus(tmp_path_factory.mktemp("uses"), FILES)


def places(found: LineMatches) -> list[tuple[str, int, str | None]]:
    return [(one.path, one.line, one.symbol) for one in found.lines]


@pytest.mark.parametrize("name", ["save", "Store.save", "Store::save()", "`Store.save`"])
def test_calls_come_before_other_uses_and_tests_last(corpus: Corpus, name: str):
    found = find_uses(corpus, name, 9)
    assert places(found) == [
        ("src/shop/cart.py", 7, "Cart.pay"),
        ("src/shop/cart.py", 6, "Cart.pay"),
        ("tests/test_store.py", 5, "test_save"),
    ]
    assert found.kinds == {"call": 2, "other use": 1}


def test_subclasses_and_imports_are_uses_of_a_class(corpus: Corpus):
    found = find_uses(corpus, "Store", 9)
    assert places(found)[:2] == [("src/shop/cart.py", 4, "Cart"), ("src/shop/cart.py", 1, None)]
    assert found.kinds == {"call": 1, "subclass": 1, "import": 2}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("render", [("web/options.ts", 15, "Printer.print")]),
        ("measure", [("crates/core/src/lib.rs", 15, "area")]),
        ("check", [("crates/core/src/lib.rs", 14, "area")]),
        ("listen", [("server/main.go", 18, "Server.Run")]),
        ("fail", [("native/codec.cpp", 18, "decode")]),
    ],
)
def test_calls_in_other_languages(corpus: Corpus, name: str, expected: list[tuple[str, int, str]]):
    found = find_uses(corpus, name, 9)
    assert places(found) == expected
    assert found.kinds == {"call": 1}


def test_prototypes_and_definitions_below_comments_are_no_calls(tmp_path: Path):
    source = "/* send() sends.\n * It may block. */\nstatic CURLcode send(struct easy *data)\n{\n  return 0;\n}\n"
    header = "/* send() sends. */\nCURLcode send(struct easy *data,\n              int flags);\n"
    caller = "void run(void)\n{\n  CURLcode result = send(data);\n  return send(data);\n}\n"
    corpus = make_corpus(tmp_path, {"lib/a.c": source, "lib/a.h": header, "lib/b.c": caller})
    assert places(find_uses(corpus, "send", 9)) == [("lib/b.c", 3, "run"), ("lib/b.c", 4, "run")]


def test_a_constant_is_mentioned_where_it_is_not_defined(corpus: Corpus):
    assert places(find_uses(corpus, "MAX_RETRIES", 9)) == [
        ("src/shop/settings.py", 11, None),
        ("src/shop/store.py", 7, "Store"),
        ("src/shop/store.py", 1, None),
        ("tests/test_store.py", 6, "test_save"),
    ]
    assert places(find_uses(corpus, "MAX_FRAME", 9)) == [("native/codec.cpp", 18, "decode")]


def test_files_that_mention_the_owner_come_first(tmp_path: Path):
    corpus = make_corpus(tmp_path, {"a.py": "other.save()\n", "b.py": "store = Store()\nstore.save()\n"})
    assert [path for path, _, _ in places(find_uses(corpus, "Store.save", 9))] == ["b.py", "a.py"]
    assert [path for path, _, _ in places(find_uses(corpus, "save", 9))] == ["a.py", "b.py"]


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("save(x)", "call"),
        ("a.save (x)", "call"),
        ("new save(x)", "call"),
        ("<save prop={1} />", "call"),
        ("@save", "call"),
        ("save!(x)", "call"),
        ("save::<T>(x)", "call"),
        ("save?.(x)", "call"),
        ("save`x`", "call"),
        ("class A(save):", "subclass"),
        ("class A extends save {", "subclass"),
        ("impl save for A {", "subclass"),
        ("from a import save", "import"),
        ("use a::save;", "import"),
        ("const save = require('save')", "import"),
        ("#include <save>", "import"),
        ("x = save", "other use"),
        ("run(save)", "other use"),
        ("def save(self):", None),
        ("fn save(&self) {", None),
        ("def save(self): return x.save()", "call"),
    ],
)
def test_the_kind_of_a_use(line: str, kind: str | None):
    found = classify_use(line, match_word("save"))
    assert (None if found is None else KINDS[found]) == kind


@pytest.mark.parametrize("line", ["requires_save = save", "export_all(save)", "use(save)", "included = save"])
def test_what_only_begins_like_an_import(line: str):
    found = classify_use(line, match_word("save"))
    assert found is not None
    assert KINDS[found] == "other use"


def test_lines_with_the_owner_come_first(tmp_path: Path):
    corpus = make_corpus(tmp_path, {"a.py": "save(norm)\n" * 3 + "x = norm.save\n"})
    assert places(find_uses(corpus, "norm.save", 2))[0][1] == 4


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('"""save()\nsave()\n"""\nsave()', {4}),
        ('x = """\nsave()\n"""\nsave()\ny = 1', {1, 4, 5}),
        ('x = """save()""" + save()\nsave()', {1, 2}),
        ('x = \'"""\'\nsave()', {1, 2}),
        ('x = 1  # """ no string\nsave()', {1, 2}),
        ("# save()\nsave()", {2}),
        ("x = '''\nsave()\n''' + save('''\n''')\nsave()", {1, 5}),
    ],
)
def test_code_of_python_is_outside_of_comments_and_strings(text: str, code: set[int]):
    assert find_code_lines(text.split("\n"), is_python=True) == code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("/* save()\nsave()\n*/\nsave();", {4}),
        ("// save()\n * save()\nsave();", {3}),
        ("/* a */ save();\nsave();", {2}),
        ("glob('src/**/*.ts');\nsave();", {1, 2}),
    ],
)
def test_code_of_other_languages_is_outside_of_comments(text: str, code: set[int]):
    assert find_code_lines(text.split("\n"), is_python=False) == code


@pytest.mark.parametrize("piece", ['"""', "'", '"', "\\", "/*", "*/", '"\\', "#", "x\n", '"""\n'])
def test_the_cost_of_finding_code_is_linear(piece: str):
    def find(text: str) -> None:
        for is_python in (True, False):
            find_code_lines(text.split("\n"), is_python=is_python)

    assert_grows_linearly(repeat_to(piece), find)


@pytest.mark.parametrize("line", ["saved(x)", "unsave(x)", "save_all(x)", "$save(x)"])
def test_part_of_a_longer_name_is_no_use(line: str):
    assert classify_use(line, match_word("save")) is None


@settings(deadline=None, max_examples=60)
@given(name=st.text(max_size=30) | st.sampled_from(["", ".", "()", "[", "(" * 300, "\ud800", "a" * 10_000]))
def test_any_name_may_be_asked_for(corpus: Corpus, name: str):
    found = find_uses(corpus, name, 5)
    assert len(found.lines) <= 5
    assert found.total == sum(found.kinds.values())


@pytest.mark.parametrize(
    "piece", ["class ", "@a ", "pub ", "require ", "a<", "x", "impl ", "save ", "save<", "save!", "save("]
)
def test_the_cost_of_a_line_is_linear(piece: str):
    word = match_word("save")
    assert_grows_linearly(repeat_to(piece), lambda text: classify_use(f"{text}save", word))
    assert_grows_linearly(repeat_to(piece), lambda text: classify_use(f"save{text}", word))
