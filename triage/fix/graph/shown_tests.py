"""Existing tests as the fix flow shows them to a model, and which of them belong to a changed file."""

import re
from collections.abc import Sequence

from triage.domain.code import SearchQuery
from triage.domain.proposal import EditablePath
from triage.fix.fix_ports import BaseFiles
from triage.fix.graph.ask_model import MAX_TEST_CHARS
from triage.fix.graph.fix_state import FixState
from triage.fix.graph.shown_code import ShownCode
from triage.ports import Codebase

RELATED_TESTS = 3
"""Per changed file."""
SEARCHED_FILES = 60
MAX_PLACES = 3
"""Of a long test file, where names stand."""
LAST_LINES = 60
"""Of a long test file."""
_MARGIN = 15
_CODE_WORD = re.compile(r"\b(?:\w+_\w+|[A-Z]+[a-z]+[A-Z]\w*)\b")
"""A word of prose that is a name in the code, such as `read_file` or `InvalidURL`."""


def collect_tests(
    state: FixState, codebase: Codebase, files: BaseFiles, changed: Sequence[str], wanted: Sequence[str]
) -> str:
    """Return the existing ones of the tests that the model wanted to change, then those of the changed files.

    They are whole where they are short.
    """
    editable = files.list_editable()
    names = _list_names(state)
    by_name = [test for path in changed for test in find_related_tests(path, editable, RELATED_TESTS, names)]
    by_words = _find_by_words(state, codebase, changed, editable)
    asked = [path for name in wanted if (path := codebase.resolve_path(name))]
    shown = ShownCode(files, MAX_TEST_CHARS)
    for path in dict.fromkeys([*asked, *by_name[:1], *by_words, *by_name[1:]]):
        if shown.add_file(path):
            continue
        shown.add_head(path)
        lines = codebase.read_lines(path) or []
        for first, last in find_named(lines, [*names, *_CODE_WORD.findall(state.technical_summary)]):
            shown.add_lines(path, first, last)
        shown.add_lines(path, len(lines) - LAST_LINES, len(lines))
    return shown.text or "(The repository has no test near the changed files.)"


def _find_by_words(
    state: FixState, codebase: Codebase, changed: Sequence[str], editable: Sequence[EditablePath]
) -> list[str]:
    """Return the test that shares most with the issue: its name may be that of a whole package."""
    tests = {file.path for file in editable if file.is_test and file.language}
    endings = {path.rpartition(".")[2] for path in changed}
    query = SearchQuery(parsed=state.parsed, keywords=[state.technical_summary])
    paths = [hit.path for hit in codebase.search(query, SEARCHED_FILES)]
    return [path for path in paths if path in tests and path.rpartition(".")[2] in endings][:1]


def _list_names(state: FixState) -> list[str]:
    suspects = state.report.suspects if state.report else []
    return [name for suspect in suspects if suspect.symbol and (name := suspect.symbol.rpartition(".")[2])]


def find_named(lines: Sequence[str], names: Sequence[str]) -> list[tuple[int, int]]:
    """Return the lines around the first places where one of the names stands as a word, the rarest name first."""
    found = [
        [number for number, line in enumerate(lines, 1) if re.search(rf"\b{re.escape(name)}\b", line)]
        for name in dict.fromkeys(names)
    ]
    numbers = [number for places in sorted(found, key=len) for number in places]
    return [(max(1, number - _MARGIN), number + _MARGIN) for number in dict.fromkeys(numbers[:MAX_PLACES])]


_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+")
_TEST_WORDS = frozenset({"test", "tests", "spec", "specs", "unittest", "it", "e2e", "cy"})
_GENERAL_FOLDERS = frozenset(
    {*_TEST_WORDS, "src", "lib", "main", "unit", "integration", "internal", "pkg", "app", "java"}
)
_UNUSUAL_FOLDERS = frozenset({"doc", "docs", "example", "examples", "fixtures", "fuzz", "fuzzing", "bench", "data"})
_NAMED_AS_TEST = 0.5
_SAME_NAME, _SAME_WORDS, _NAMED_BY_SYMBOL = 10.0, 4.0, 3.0
_RELATED = 2.0
"""Below, a test that has the name of the file makes others superfluous."""
_NAMED_BY_FOLDER = frozenset({"__init__", "index", "mod", "main", "lib"})
_NO_TESTS = frozenset({"__init__", "conftest", "utils", "util", "helpers", "helper", "common", "mod", "setup"})
"""Files of test folders that other tests import."""


def find_related_tests(path: str, files: Sequence[EditablePath], limit: int, symbols: Sequence[str] = ()) -> list[str]:
    """Return the paths of tests in the language of the file, the most likely first.

    The last ones may have no more in common with the file than the language: they show how this project writes tests.
    They are left out where a test has the name of the file.

    Args:
        path: A source file, which may be new.
        files: All of the commit that people edit.
        limit: Maximum number of tests.
        symbols: Names of functions or classes that matter. Some projects have a test file for each.
    """
    extension = path.rpartition(".")[2]
    candidates = [
        file.path
        for file in files
        if file.is_test
        and file.language
        and _is_same_kind(file.path, extension)
        and _get_stem(file.path) not in _NO_TESTS
    ]
    named = [words for symbol in symbols if (words := _split_words(symbol))]
    scores = {test: _score(path, test, named) for test in candidates if test != path}
    ranked = sorted(scores, key=lambda test: (-scores[test], len(test), test))
    if ranked and scores[ranked[0]] >= _SAME_NAME:
        ranked = [test for test in ranked if scores[test] >= _RELATED]
    return ranked[:limit]


def _is_same_kind(test: str, extension: str) -> bool:
    kinds = ({"js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts"}, {"c", "h", "cc", "cpp", "cxx", "hpp", "hh"})
    other = test.rpartition(".")[2]
    return other == extension or any({other, extension} <= kind for kind in kinds)


def _score(path: str, test: str, symbols: Sequence[Sequence[str]]) -> float:
    """The names count most; of the folders, each word in common."""
    name, test_name = _split_name(path), _split_name(test)
    folders, test_folders = _split_folders(path), _split_folders(test)
    score = 0.0
    if name == test_name:
        score += _SAME_NAME
    elif name and test_name:
        common = len(set(name) & set(test_name))
        score += _SAME_WORDS * common / len(set(name) | set(test_name))
    if any(set(words) <= set(test_name) for words in symbols):
        score += _NAMED_BY_SYMBOL
    if set(test_name) & folders or set(name) & test_folders:  # `tests/json/…` and `json/…`, `test_json.py`
        score += 1.0
    if not test_folders.isdisjoint(_UNUSUAL_FOLDERS):
        score -= 1.0
    is_named = not _TEST_WORDS.isdisjoint(map(str.lower, _WORD.findall(test.rpartition("/")[2])))
    return score + len(folders & test_folders) + _NAMED_AS_TEST * is_named


def _get_stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]


def _split_name(path: str) -> list[str]:
    stem = path.rpartition("/")[2].rpartition(".")[0]  # `res.redirect` of `res.redirect.js`
    if stem.partition(".")[0] in _NAMED_BY_FOLDER:
        stem = path.rpartition("/")[0].removesuffix("/src").rpartition("/")[2]
    return _split_words(stem)


def _split_words(name: str) -> list[str]:
    words = [word for word in map(str.lower, _WORD.findall(name)) if word not in _TEST_WORDS]
    return [word.removesuffix("s") for word in words]


def _split_folders(path: str) -> set[str]:
    return {part.lower() for part in path.split("/")[:-1]} - _GENERAL_FOLDERS
