"""Constants, attributes, fields, members of enums and keys, asked for by name."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from testing.cost_growth import assert_grows_linearly, repeat_to
from tests.code.indexes import make_corpus
from tests.code.lookup.made_up import FILES
from triage.code.lookup.assignments import MAX_ASSIGNMENTS, classify_line, find_assignments, find_value_end
from triage.code.lookup.line_scan import match_word
from triage.code.words.corpus import Corpus
from triage.domain.code import Passage


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return make_corpus(tmp_path_factory.mktemp("values"), FILES)


def places(found: list[Passage]) -> list[tuple[str, int, int]]:
    return [(one.span.path, one.span.start, one.span.end) for one in found]


@pytest.mark.parametrize(
    ("name", "path", "start", "end"),
    [
        ("MAX_RETRIES", "src/shop/settings.py", 3, 3),
        ("TIMEOUT", "src/shop/settings.py", 4, 4),
        ("HOOKS", "src/shop/settings.py", 5, 8),
        ("LOGGING", "src/shop/settings.py", 9, 12),
        ("Store.retries", "src/shop/store.py", 7, 7),
        ("owner", "src/shop/store.py", 8, 8),
        ("limit", "src/shop/store.py", 11, 11),
        ("_dirty", "src/shop/store.py", 12, 12),
        ("DEFAULT_DEPTH", "web/options.ts", 1, 1),
        ("limits", "web/options.ts", 2, 5),
        ("Mode.Fast", "web/options.ts", 7, 7),
        ("indent", "web/options.ts", 11, 11),
        ("Printer.EOL", "web/options.ts", 14, 14),
        ("MAX_DEPTH", "crates/core/src/lib.rs", 1, 1),
        ("GREETING", "crates/core/src/lib.rs", 2, 2),
        ("COUNT", "crates/core/src/lib.rs", 3, 3),
        ("Shape::Circle", "crates/core/src/lib.rs", 5, 5),
        ("Shape::Empty", "crates/core/src/lib.rs", 7, 7),
        ("DefaultPort", "server/main.go", 3, 3),
        ("ErrClosed", "server/main.go", 5, 5),
        ("StateIdle", "server/main.go", 8, 8),
        ("Server.Timeout", "server/main.go", 13, 13),
        ("MAX_FRAME", "native/codec.cpp", 1, 2),
        ("kTable", "native/codec.cpp", 3, 6),
        ("Color::Red", "native/codec.cpp", 8, 8),
        ("length", "native/codec.cpp", 12, 12),
        ("max_retries", "config/app.toml", 1, 1),
    ],
)
def test_where_a_name_gets_its_value_and_all_of_it(corpus: Corpus, name: str, path: str, start: int, end: int):
    assert places(find_assignments(corpus, name))[0] == (path, start, end)


def test_the_definition_around_is_part_of_the_name(corpus: Corpus):
    assert find_assignments(corpus, "retries")[0].symbol == "Store.retries"
    assert find_assignments(corpus, "HOOKS")[0].symbol == "HOOKS"


def test_product_code_comes_first_and_documents_define_nothing(corpus: Corpus):
    assert [path for path, _, _ in places(find_assignments(corpus, "MAX_RETRIES"))] == ["src/shop/settings.py"]


def test_tests_count_only_if_nothing_else_has_the_name(tmp_path: Path):
    corpus = make_corpus(tmp_path, {"src/a.py": "LIMIT = 1\n", "tests/test_a.py": "LIMIT = 2\nONLY = 3\n"})
    assert places(find_assignments(corpus, "LIMIT")) == [("src/a.py", 1, 1)]
    assert places(find_assignments(corpus, "ONLY")) == [("tests/test_a.py", 2, 2)]


def test_of_the_same_name_in_two_classes_the_one_of_the_owner(tmp_path: Path):
    corpus = make_corpus(tmp_path, {"a.py": "class A:\n    size = 1\n", "b.py": "class B:\n    size = 2\n"})
    assert places(find_assignments(corpus, "B.size")) == [("b.py", 2, 2)]
    assert places(find_assignments(corpus, "b.B.size")) == [("b.py", 2, 2)]
    assert len(find_assignments(corpus, "size")) == 2


def test_a_variable_of_a_function_counts_only_if_nothing_else_has_the_name(corpus: Corpus):
    assert places(find_assignments(corpus, "count")) == [("src/shop/store.py", 13, 13)]
    assert ("crates/core/src/lib.rs", 13, 13) not in places(find_assignments(corpus, "depth"))


def test_a_parameter_with_a_struct_makes_no_type(tmp_path: Path):
    function = "struct easy *run(struct easy *data)\n{\n  limit = 1;\n  return data;\n}\n"
    corpus = make_corpus(tmp_path, {"a.c": function, "b.h": "struct easy {\n  int limit;\n};\n"})
    assert places(find_assignments(corpus, "limit")) == [("b.h", 2, 2)]


def test_an_owner_that_has_no_such_name_does_not_hide_it(corpus: Corpus):
    assert places(find_assignments(corpus, "django.conf.settings.MAX_RETRIES"))[0][0] == "src/shop/settings.py"
    assert places(find_assignments(corpus, "settings.MAX_RETRIES"))[0][0] == "src/shop/settings.py"


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("    if limit == 3:", "a.py"),
        ("    if limit <= 3:", "a.py"),
        ("        limit=3,", "a.py"),
        ("def read(path, limit=None):", "a.py"),
        ("return limit", "a.py"),
        ("from a import limit", "a.py"),
        ("while (limit = next()) {", "a.c"),
        ("  return limit;", "a.ts"),
        ("  fn(limit => 1)", "a.ts"),
        ("goto limit;", "a.c"),
        ("case limit: /* x */", "a.c"),
        (" * - limit: the largest", "a.h"),
        ("// limit = 3", "a.ts"),
        ("limit: int,", "a.py"),
        ("x = {**limit}", "a.py"),
    ],
)
def test_what_only_uses_a_name_gives_it_no_value(line: str, path: str):
    assert classify_line(line, match_word("limit"), path) is None


def test_a_name_that_every_file_has_is_cut(tmp_path: Path):
    corpus = make_corpus(tmp_path, {f"m{n}.py": "X = 1\n" for n in range(MAX_ASSIGNMENTS + 5)})
    assert len(find_assignments(corpus, "X")) == MAX_ASSIGNMENTS


def test_a_value_without_an_end_is_cut():
    assert find_value_end(["x = ["] + ["1,"] * 1_000, 1) == 40
    assert find_value_end(["x = '('", "y = 2"], 1) == 1


@settings(deadline=None, max_examples=60)
@given(
    name=st.text(max_size=30) | st.sampled_from(["a.b", "::", "$", "limit'", "Store.save()", "[", "(" * 300, "\ud800"])
)
def test_any_name_may_be_asked_for(corpus: Corpus, name: str):
    for passage in find_assignments(corpus, name):
        assert passage.span.path in FILES


@pytest.mark.parametrize("piece", ["a ", "a.b", "a::", "[x]", "pub(", "a, ", '"', "\\", " ", ": x", "(", "{", ", a"])
def test_the_cost_of_a_line_is_linear(piece: str):
    word = match_word("limit")

    def classify(text: str) -> None:
        for path in ("a.py", "a.rs", "a.go", "a.toml"):
            classify_line(f"{text} limit", word, path)
            classify_line(f"x limit{text}", word, path)

    assert_grows_linearly(repeat_to(piece), classify)


@pytest.mark.parametrize("piece", ["(", "[{", "'", "\\'", '"\\', "x = [\n", "`"])
def test_the_cost_of_a_value_is_linear(piece: str):
    assert_grows_linearly(repeat_to(piece), lambda text: find_value_end(text.split("\n"), 1))
