"""Code and tests as the fix flow shows them to a model: without line numbers, so that they can be copied exactly."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from triage.domain.code import SearchQuery
from triage.domain.proposal import BaseFile, EditablePath
from triage.fix.graph.fix_state import FixState
from triage.fix.patch.check_patch import show_path

if TYPE_CHECKING:
    from triage.find.codebase import Codebase
    from triage.fix.base_files import BaseFiles

MAX_WHOLE_CHARS = 24_000
"""A file of up to so many characters is shown whole: about 8,000 tokens."""
MAX_SHOWN_CHARS = 60_000
"""Of all code together: about 20,000 tokens."""
HEAD_LINES = 80
"""Of a file that is not shown whole: its imports."""
MARGIN = 40
"""Lines above and below a place without a definition around it."""
SHORT_LINES = 15
"""A definition of fewer lines is shown with what stands around it: its class, its siblings."""
SHORT_MARGIN = 15
MAX_PLACE_LINES = 400


@dataclass
class CopyableCode:
    """Collects places of files until the room is used up. A line is shown once."""

    files: BaseFiles
    max_chars: int = MAX_SHOWN_CHARS
    check_path: Callable[[str, bool], str] = lambda _path, _is_new: ""
    """Why a patch may not write a path, see `check_patch.check_path`."""
    blocks: list[str] = field(default_factory=list)
    whole: set[str] = field(default_factory=set)
    left_out: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """On what is missing, and what may only be read."""
    _lines: dict[str, set[int]] = field(default_factory=dict)
    _used: int = 0

    def add_file(self, path: str) -> bool:
        """Show a file whole if it is small enough. Returns whether all of it is shown."""
        file = self._read(path)
        if path in self.whole or file is None:
            return path in self.whole
        text = normalize_line_ends(file.text)
        if len(text) > MAX_WHOLE_CHARS or not self._add(f"## {path} (whole file)\n{text}"):
            return False
        self.whole.add(path)
        return True

    def add_lines(self, path: str, start: int, end: int, symbol: str = "") -> None:
        """Show lines of a file, 1-based and inclusive."""
        lines = self.read_lines(path)
        if path in self.whole or not lines:
            return
        shown = self._lines.setdefault(path, set())
        end = min(end, start + MAX_PLACE_LINES - 1, len(lines))
        numbers = [number for number in range(max(1, start), end + 1) if number not in shown]
        for first, last in _join_runs(numbers):
            heading = f"## {path}:{first}-{last}" + (f" ({symbol})" if symbol else "")
            if self._add(heading + "\n" + "\n".join(lines[first - 1 : last])):
                shown.update(range(first, last + 1))
            else:
                self.left_out.append(f"{path}:{first}-{last}")

    def add_head(self, path: str) -> None:
        """Show the first lines of a file, which usually import what it uses."""
        self.add_lines(path, 1, HEAD_LINES)

    def read_lines(self, path: str) -> list[str]:
        """Return the lines of a file as they are shown; none if it cannot be shown."""
        file = self._read(path)
        return normalize_line_ends(file.text).split("\n") if file else []

    def _read(self, path: str) -> BaseFile | None:
        file = self.files.read(path)
        if isinstance(file, str):
            self.notes.append(f"{show_path(path)} cannot be shown: it is {file}.")
        return file if isinstance(file, BaseFile) else None

    def _add(self, block: str) -> bool:
        if self._used + len(block) > self.max_chars:
            return False
        self._used += len(block)
        self.blocks.append(block)
        return True

    @property
    def text(self) -> str:
        left_out = [f"(No room for: {', '.join(self.left_out)})"] if self.left_out else []
        return "\n\n".join([*self.blocks, *left_out, *(f"({note})" for note in dict.fromkeys(self.notes))])


def normalize_line_ends(text: str) -> str:
    """Return the text as models read and write it: with LF."""
    return text.replace("\r\n", "\n")


def _join_runs(numbers: Iterable[int]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1] = runs[-1][0], number
        else:
            runs.append((number, number))
    return runs


def collect_code(shown: CopyableCode, state: FixState, codebase: Codebase, needed: Sequence[str]) -> CopyableCode:
    """Show the code for a change: what the model asked for, likely files and suspects whole, then passages.

    Of a long file, its head and the definitions that a suspect or a name leads to are shown, each whole.
    """
    for name in needed:
        _add_named(shown, codebase, name)
    suspects = state.report.suspects if state.report else []
    for path in dict.fromkeys([*state.affected_files, *(suspect.path for suspect in suspects)]):
        if shown.add_file(path):
            continue
        shown.add_head(path)
        for suspect in suspects:
            if suspect.path == path and suspect.span:
                _add_definition(shown, codebase, path, suspect.symbol, suspect.span.start, suspect.span.end)
    for passage in state.retrieved_chunks:
        shown.add_lines(passage.span.path, passage.span.start, passage.span.end, passage.symbol or "")
    return shown


def _add_named(shown: CopyableCode, codebase: Codebase, name: str) -> None:
    """Show what the model asked for, also what may not be changed; or say why not."""
    given, _, lines = name.strip().removeprefix("./").partition(":")
    path = codebase.resolve_path(given) or (given if shown.files.read(given) is not None else "")
    if not path:
        found = codebase.find_definitions(name)[:3]
        for passage in found:
            shown.add_lines(passage.span.path, passage.span.start, passage.span.end, passage.symbol or "")
        if not found:
            shown.notes.append(f"{show_path(name)} is no file and no definition of the repository.")
        return
    if not shown.read_lines(path):
        return
    if problem := shown.check_path(path, False):
        shown.notes.append(f"Only to read: {problem}")
    if shown.add_file(path):
        return
    shown.add_head(path)
    start, _, end = lines.partition("-")
    if start.isdigit():
        shown.add_lines(path, int(start), int(end) if end.isdigit() else int(start) + MARGIN)


def _add_definition(
    shown: CopyableCode, codebase: Codebase, path: str, symbol: str | None, start: int, end: int
) -> None:
    around = [
        passage.span
        for passage in (codebase.find_definitions(symbol) if symbol else [])
        if passage.span.path == path and passage.span.start <= start and end <= passage.span.end
    ]
    if around:
        first, last = around[0].start, around[0].end
        margin = SHORT_MARGIN if last - first < SHORT_LINES else 0
        shown.add_lines(path, first - margin, last + margin, symbol or "")
    else:
        shown.add_lines(path, start - MARGIN, end + MARGIN)


RELATED_TESTS = 3
"""Per changed file."""
SEARCHED_FILES = 60
MAX_PLACES = 3
"""Of a long test file, where names stand."""
LAST_LINES = 60
"""Of a long test file."""
_CODE_WORD = re.compile(r"\b(?:\w+_\w+|[A-Z]+[a-z]+[A-Z]\w*)\b")
"""A word of prose that is a name in the code, such as `read_file` or `InvalidURL`."""


def collect_tests(
    shown: CopyableCode, state: FixState, codebase: Codebase, changed: Sequence[str], needed: Sequence[str]
) -> str:
    """Return what the model asked for or wanted to change, then the tests of the changed files.

    They are whole where they are short.
    """
    editable = shown.files.list_editable()
    suspects = state.report.suspects if state.report else []
    names = [name for suspect in suspects if suspect.symbol and (name := suspect.symbol.rpartition(".")[2])]
    by_name = [test for path in changed for test in find_related_tests(path, editable, RELATED_TESTS, names)]
    # The test that shares most with the issue: its name may be that of a whole package.
    tests = {file.path for file in editable if file.is_test and file.language}
    endings = {path.rpartition(".")[2] for path in changed}
    query = SearchQuery(parsed=state.parsed, keywords=[state.technical_summary])
    found = [hit.path for hit in codebase.search(query, SEARCHED_FILES)]
    by_words = [path for path in found if path in tests and path.rpartition(".")[2] in endings][:1]
    for name in needed:
        _add_named(shown, codebase, name)
    for path in dict.fromkeys([*by_name[:1], *by_words, *by_name[1:]]):
        if shown.add_file(path):
            continue
        shown.add_head(path)
        lines = shown.read_lines(path)
        for first, last in find_named(lines, [*names, *_CODE_WORD.findall(state.technical_summary)]):
            shown.add_lines(path, first, last)
        shown.add_lines(path, len(lines) - LAST_LINES, len(lines))
    return shown.text or "(The repository has no test near the changed files.)"


def find_named(lines: Sequence[str], names: Sequence[str]) -> list[tuple[int, int]]:
    """Return the lines around the first places where one of the names stands as a word, the rarest name first."""
    found = [
        [number for number, line in enumerate(lines, 1) if re.search(rf"\b{re.escape(name)}\b", line)]
        for name in dict.fromkeys(names)
    ]
    numbers = [number for places in sorted(found, key=len) for number in places]
    return [(max(1, number - SHORT_MARGIN), number + SHORT_MARGIN) for number in dict.fromkeys(numbers[:MAX_PLACES])]


_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+")
_TEST_WORDS = frozenset({"test", "tests", "spec", "specs", "unittest", "it", "e2e", "cy"})
_GENERAL_FOLDERS = frozenset(
    {*_TEST_WORDS, "src", "lib", "main", "unit", "integration", "internal", "pkg", "app", "java"}
)
_UNUSUAL_FOLDERS = frozenset({"doc", "docs", "example", "examples", "fixtures", "fuzz", "fuzzing", "bench", "data"})
_SAME_NAME = 20
_RELATED = 4
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
    named = [words for symbol in symbols if (words := _split_words(symbol))]
    candidates = [
        file.path
        for file in files
        if file.is_test
        and file.language
        and _is_same_kind(file.path, extension)
        and file.path.rpartition("/")[2].partition(".")[0] not in _NO_TESTS
    ]
    scores = {test: _score(path, test, named) for test in candidates if test != path}
    ranked = sorted(scores, key=lambda test: (-scores[test], len(test), test))
    if ranked and scores[ranked[0]] >= _SAME_NAME:
        ranked = [test for test in ranked if scores[test] >= _RELATED]
    return ranked[:limit]


def _is_same_kind(test: str, extension: str) -> bool:
    kinds = ({"js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts"}, {"c", "h", "cc", "cpp", "cxx", "hpp", "hh"})
    other = test.rpartition(".")[2]
    return other == extension or any({other, extension} <= kind for kind in kinds)


def _score(path: str, test: str, symbols: Sequence[set[str]]) -> int:
    """Words in common: those of the names count twice, and most of all where they are the same ones."""
    name, test_name = _split_name(path), _split_name(test)
    folders, test_folders = _split_folders(path), _split_folders(test)
    score = 4 * len(name & test_name) + 2 * len(folders & test_folders)
    score += _SAME_NAME * (bool(name) and name == test_name)
    score += 6 * any(words <= test_name for words in symbols)
    score += 2 * bool(test_name & folders or name & test_folders)  # `tests/json/…` and `json/…`, `test_json.py`
    score -= 2 * (not test_folders.isdisjoint(_UNUSUAL_FOLDERS))
    is_named = not _TEST_WORDS.isdisjoint(map(str.lower, _WORD.findall(test.rpartition("/")[2])))
    return score + is_named


def _split_name(path: str) -> set[str]:
    stem = path.rpartition("/")[2].rpartition(".")[0]  # `res.redirect` of `res.redirect.js`
    if stem.partition(".")[0] in _NAMED_BY_FOLDER:
        stem = path.rpartition("/")[0].removesuffix("/src").rpartition("/")[2]
    return _split_words(stem)


def _split_words(name: str) -> set[str]:
    words = [word for word in map(str.lower, _WORD.findall(name)) if word not in _TEST_WORDS]
    return {word.removesuffix("s") for word in words}


def _split_folders(path: str) -> set[str]:
    return {part.lower() for part in path.split("/")[:-1]} - _GENERAL_FOLDERS
