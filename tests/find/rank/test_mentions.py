"""What an issue names outright, and which files that means."""

from pathlib import Path

import pytest

from testing.cost_growth import assert_grows_linearly
from testing.each_row import each_row
from tests.find.indexes import make_codebase, make_corpus, make_query, make_trace
from triage.domain.code import SearchQuery
from triage.find.past_changes import PastChanges
from triage.find.rank.mentions import MentionScores, resolve_module, resolve_path, shorten_own_frames
from triage.find.rank.query import build_query
from triage.find.rank.search import Search
from triage.find.words.corpus import Corpus

FILES = {
    "src/app/orm/models.py": "class Model:\n    def save(self): pass\n\n\nclass Manager:\n    def save(self): pass\n",
    "src/app/web/models.py": "class Page:\n    def render_page(self): pass\n",
    "src/app/web/__init__.py": "from app.web.models import Page\n",
    "src/app/cli.py": "def main():\n    return find\n\n\ndef find(): pass\n",
    "tests/test_models.py": "class Model: pass\n\n\ndef render_page(): pass\n",
    "lib/core/Axios.js": "export function dispatch() {}\n",
    "setup.py": "from setuptools import setup\n",
    "src/main/java/com/acme/Store.java": "package com.acme;\nclass Store { void flushAll() {} }\n",
    "src/other/java/org/acme/Store.java": "package org.acme;\nclass Store { }\n",
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return make_corpus(tmp_path_factory.mktemp("names"), FILES)


def signal(corpus: Corpus, asked: SearchQuery, name: str) -> dict[str, float]:
    found: dict[int, float] = getattr(Search(corpus, build_query(asked), PastChanges(corpus)).mentions, name)
    return {corpus.files[file].path: round(worth, 3) for file, worth in found.items()}


@each_row(
    ("written", "paths"),
    [
        ("src/app/orm/models.py", ["src/app/orm/models.py"]),
        ("/usr/lib/python3/site-packages/app/orm/models.py", ["src/app/orm/models.py"]),
        ("C:\\work\\app\\web\\models.py", ["src/app/web/models.py"]),
        ("./orm/models.py", ["src/app/orm/models.py"]),
        ("models.py", ["src/app/orm/models.py", "src/app/web/models.py"]),
        ("cli.py", ["src/app/cli.py"]),
        # Somebody's own file of the same name is not ours.
        ("/home/me/shop/models.py", []),
        ("shop/setup.py", ["setup.py"]),
        ("node_modules/axios/lib/core/axios.js", ["lib/core/Axios.js"]),
        ("com/acme/Store.java", ["src/main/java/com/acme/Store.java"]),
        ("nothing.py", []),
        # Everybody has these.
        ("__init__.py", []),
        ("index.js", []),
        ("models", []),
        ("", []),
        ("///", []),
    ],
)
def test_paths(corpus: Corpus, written: str, paths: list[str]):
    assert sorted(corpus.files[file].path for file in resolve_path(corpus, written)) == paths


def test_later_frames_count_more_and_the_innermost_line_comes_first(corpus: Corpus):
    asked = make_query(traces=[make_trace(("app/cli.py", 1), ("app/orm/models.py", 5), ("app/cli.py", 4))])
    assert signal(corpus, asked, "frame_scores") == {"src/app/cli.py": 1.0, "src/app/orm/models.py": 0.667}
    found = Search(corpus, build_query(asked), PastChanges(corpus)).mentions
    cli = corpus.file_numbers["src/app/cli.py"]
    assert found.lines[cli] == [4, 1]
    assert found.frames[cli].calls_before_error == 0


@each_row(
    ("module", "path"),
    [
        ("app.orm.models", "src/app/orm/models.py"),
        ("app.web", "src/app/web/__init__.py"),
        ("com.acme.Store", "src/main/java/com/acme/Store.java"),
    ],
)
def test_the_file_of_a_dotted_module(corpus: Corpus, module: str, path: str):
    assert [corpus.files[file].path for file in resolve_module(corpus, module.split("."))] == [path]


def test_file_names_as_words_in_both_numbers(corpus: Corpus):
    asked = make_query(title="The cli is slow", prose="The model too")
    assert signal(corpus, asked, "stem_scores") == {
        "src/app/cli.py": 1.0,
        "src/app/orm/models.py": 0.5,
        "src/app/web/models.py": 0.5,
    }


def test_names_that_every_package_has_say_nothing(corpus: Corpus):
    assert signal(corpus, make_query(prose="__init__ main index"), "stem_scores") == {}


def test_definitions_in_sources_count_before_those_in_tests(corpus: Corpus):
    assert signal(corpus, make_query(prose="render_page breaks"), "definition_scores") == {"src/app/web/models.py": 1.0}


def test_a_plain_word_counts_little_unless_it_is_marked_as_code(corpus: Corpus):
    assert signal(corpus, make_query(prose="I cannot find it"), "definition_scores") == {"src/app/cli.py": 0.3}
    assert signal(corpus, make_query(prose="find", identifiers=["find"]), "definition_scores") == {
        "src/app/cli.py": 1.0
    }


def test_the_owner_tells_methods_of_one_name_apart(corpus: Corpus):
    found: MentionScores = Search(
        corpus, build_query(make_query(prose="Manager.save fails")), PastChanges(corpus)
    ).mentions
    places = [place.name for _, place in found.definitions[corpus.file_numbers["src/app/orm/models.py"]]]
    assert "Manager.save" in places
    assert "Model.save" not in places


def test_a_name_that_very_many_files_define_says_nothing(tmp_path: Path):
    files = {f"p{number}/handler.py": "def handle_event(): pass\n" for number in range(61)}
    assert signal(make_corpus(tmp_path, files), make_query(prose="handle_event"), "definition_scores") == {}


@pytest.mark.parametrize(
    ("line", "function", "meant"),
    [
        (2, "main", 2),
        (99, "main", 1),
        (1, "find", 5),
        (5, "app.cli.find", 5),
        (3, "gone", None),
        (3, "", 3),
    ],
)
def test_a_frames_function_outlives_its_line_number(corpus: Corpus, line: int, function: str, meant: int | None):
    """The reporter's version differs: `find` stood in line 1 there, and stands in line 5 here."""
    asked = make_query(traces=[make_trace(("src/app/cli.py", line, function))])
    found = Search(corpus, build_query(asked), PastChanges(corpus)).mentions
    assert list(found.lines.values()) == ([[meant]] if meant else [])


def test_a_path_from_elsewhere_names_a_file_or_nothing(tmp_path: Path):
    codebase = make_codebase(tmp_path, FILES)
    codebase.index()
    assert codebase.resolve_path("/home/me/venv/lib/python3.12/site-packages/app/cli.py") == "src/app/cli.py"
    assert codebase.resolve_path("webpack-internal:///./node_modules/axios/lib/core/Axios.js") == "lib/core/Axios.js"
    assert codebase.resolve_path("models.py") is None, "there are two"
    assert codebase.resolve_path("/usr/lib/python3.12/json/decoder.py") is None


@each_row(
    ("path", "expected"),
    [
        ("/builds/acme/till/src/app/cli.py", "src/app/cli.py"),
        ("/var/www/Till/src/app/cli.py", "src/app/cli.py"),
        ("/home/me/.julia/packages/Till/a1B2c/src/app/cli.py", "src/app/cli.py"),
        ("till/src/app/cli.py", "src/app/cli.py"),
        ("github.com/acme/till/src/app/cli.py", "src/app/cli.py"),
        ("/home/ada/.cargo/registry/src/index-6f17/till-0.4.0/src/app/cli.py", "src/app/cli.py"),
        ("/go/pkg/mod/github.com/acme/till@v1.2.0/src/app/cli.py", "src/app/cli.py"),
        ("/opt/till-master/src/app/cli.py", "src/app/cli.py"),
        ("/srv/till-tools-0.4.0/src/app/cli.py", "/srv/till-tools-0.4.0/src/app/cli.py"),
        ("/builds/till/src/till/src/app/cli.py", "src/app/cli.py"),
        ("/builds/till/app/cli.py", "/builds/till/app/cli.py"),
        ("/builds/shop/src/app/cli.py", "/builds/shop/src/app/cli.py"),
    ],
)
def test_a_frame_in_a_checkout_of_the_repository_is_ours(corpus: Corpus, path: str, expected: str):
    parsed = make_query(traces=[make_trace((path, 1, ""))]).parsed
    for repository in ("acme/till", "acme/till.jl"):
        (trace,) = shorten_own_frames(parsed, corpus, repository).traces
        assert trace.frames[0].path == expected


def test_a_frame_of_kotlin_may_have_the_ending_of_java(tmp_path: Path):
    corpus = make_corpus(
        tmp_path, {"src/shop/Cart.kt": "class Cart {\n    fun total(): Int {\n        return 1\n    }\n}\n"}
    )
    found = [
        signal(corpus, make_query(traces=[make_trace((path, 3, "shop.Cart$total$1.invoke"))]), "frame_scores")
        for path in ("shop/Cart.java", "shop/Till.java", "other/Cart.java")
    ]
    assert found == [{"src/shop/Cart.kt": 1.0}, {}, {}]


def test_many_files_of_one_name_and_many_dotted_names_take_linear_time(tmp_path: Path):
    def make(size: int) -> Search:
        files = {f"pkg/m{number}/__init__.py": "class A:\n    def __init__(self): pass\n" for number in range(size)}
        names = " ".join(f"a{number}" + ".__init__" * 11 for number in range(size // 2))
        frames = [("__init__.py", number, "__init__") for number in range(1, 21)]
        query = build_query(make_query(prose=names, traces=[make_trace(*frames)]))
        corpus = make_corpus(tmp_path / str(size), files)
        return Search(corpus, query, PastChanges(corpus))

    assert_grows_linearly(make, lambda scores: scores.mentions, 1_000)
    assert not make(250).mentions.frame_scores, "a bare name of a package names no file"
