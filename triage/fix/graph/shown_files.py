"""Code and tests as the fix flow shows them to a model: without line numbers, so that they can be copied exactly."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from triage.domain.code import SearchQuery
from triage.domain.proposal import TextFile
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
        """Show a file whole if it is small enough, else its head. Returns whether all of it is shown."""
        file = self._read(path)
        if path in self.whole or file is None:
            return path in self.whole
        text = normalize_line_ends(file.text)
        if len(text) > MAX_WHOLE_CHARS or not self._add(f"## {path} (whole file)\n{text}"):
            self.add_lines(path, 1, HEAD_LINES)
            return False
        self.whole.add(path)
        return True

    def add_lines(self, path: str, start: int, end: int, symbol: str = "") -> None:
        """Show lines of a file, 1-based and inclusive."""
        lines = self.read_lines(path)
        if path in self.whole or not lines:
            return
        shown_lines = self._lines.setdefault(path, set())
        end = min(end, start + MAX_PLACE_LINES - 1, len(lines))
        numbers = [number for number in range(max(1, start), end + 1) if number not in shown_lines]
        for first, last in _join_runs(numbers):
            heading = f"## {path}:{first}-{last}" + (f" ({symbol})" if symbol else "")
            if self._add(heading + "\n" + "\n".join(lines[first - 1 : last])):
                shown_lines.update(range(first, last + 1))
            else:
                self.left_out.append(f"{path}:{first}-{last}")

    def read_lines(self, path: str) -> list[str]:
        """Return the lines of a file as they are shown; none if it cannot be shown."""
        file = self._read(path)
        return normalize_line_ends(file.text).split("\n") if file else []

    def _read(self, path: str) -> TextFile | None:
        file = self.files.read(path)
        if isinstance(file, str):
            self.notes.append(f"{show_path(path)} cannot be shown: it is {file}.")
        return file if isinstance(file, TextFile) else None

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


def collect_code(code: CopyableCode, state: FixState, codebase: Codebase, needed: Sequence[str]) -> CopyableCode:
    """Show the code for a change: what the model asked for, likely files and suspects whole, then passages.

    Of a long file, its head and the definitions that a suspect or a name leads to are shown, each whole.
    """
    for name in needed:
        _add_named(code, codebase, name)
    suspects = state.report.suspects if state.report else []
    for path in dict.fromkeys([*state.affected_files, *(suspect.path for suspect in suspects)]):
        is_whole = code.add_file(path)
        for suspect in suspects:
            if suspect.path == path and suspect.span and not is_whole:
                _add_definition(code, codebase, path, suspect.symbol, suspect.span.start, suspect.span.end)
    for passage in state.retrieved_chunks:
        code.add_lines(passage.span.path, passage.span.start, passage.span.end, passage.symbol or "")
    return code


def _add_named(code: CopyableCode, codebase: Codebase, name: str) -> None:
    """Show what the model asked for, also what may not be changed; or say why not."""
    given, _, lines = name.strip().removeprefix("./").partition(":")
    path = codebase.resolve_path(given) or (given if code.files.read(given) is not None else "")
    if not path:
        found = codebase.find_definitions(name)[:3]
        for passage in found:
            code.add_lines(passage.span.path, passage.span.start, passage.span.end, passage.symbol or "")
        if not found:
            code.notes.append(f"{show_path(name)} is no file and no definition of the repository.")
        return
    if not code.read_lines(path):
        return
    if problem := code.check_path(path, False):
        code.notes.append(f"Only to read: {problem}")
    is_whole = code.add_file(path)
    start, _, end = lines.partition("-")
    if start.isdigit() and not is_whole:
        code.add_lines(path, int(start), int(end) if end.isdigit() else int(start) + MARGIN)


def _add_definition(
    code: CopyableCode, codebase: Codebase, path: str, symbol: str | None, start: int, end: int
) -> None:
    around = [
        passage.span
        for passage in (codebase.find_definitions(symbol) if symbol else [])
        if passage.span.path == path and passage.span.start <= start and end <= passage.span.end
    ]
    if around:
        first, last = around[0].start, around[0].end
        margin = SHORT_MARGIN if last - first < SHORT_LINES else 0
        code.add_lines(path, first - margin, last + margin, symbol or "")
    else:
        code.add_lines(path, start - MARGIN, end + MARGIN)


SHOWN_TESTS = 4
"""Of 40 commits of flask and requests that change a test, 37 change one of the first four by words, 35 by names."""
SEARCHED_FILES = 60
LAST_LINES = 60
"""Of a long test file."""
_TESTED_TOGETHER = ("js jsx mjs cjs ts tsx mts cts", "c h cc cpp cxx hpp hh")
"""Endings: `cart.test.ts` tests `Cart.tsx`."""
_TEST_NAME = re.compile(r"(?:\b|_)(?:test|spec)|Test|Spec")
"""Neither `__init__.py`, nor `conftest.py`, nor what else tests import."""


def collect_tests(
    code: CopyableCode, state: FixState, codebase: Codebase, changed: Sequence[str], needed: Sequence[str]
) -> str:
    """Return what the model asked for or wanted to change, then the tests that share most with the issue.

    They are whole where they are short, and in the language of a changed file, or in one that tests it. If none shares
    anything, one shows how this project writes tests.
    """
    tests = {file.path for file in code.files.list_editable() if file.is_test and file.language}
    endings = {_find_endings_tested_together(path) for path in changed}
    suspects = state.report.suspects if state.report else []
    names = [suspect.symbol for suspect in suspects if suspect.symbol]
    query = SearchQuery(parsed=state.parsed, keywords=[state.technical_summary, *names])
    found = [hit.path for hit in codebase.search(query, SEARCHED_FILES) if hit.path in tests]
    related = [path for path in found if _find_endings_tested_together(path) in endings][:SHOWN_TESTS]
    others = [path for path in sorted(tests) if _find_endings_tested_together(path) in endings]
    others.sort(key=lambda path: _TEST_NAME.search(path.rpartition("/")[2]) is None)
    for name in needed:
        _add_named(code, codebase, name)
    for path in related or others[:1]:
        if not code.add_file(path):
            length = len(code.read_lines(path))
            code.add_lines(path, length - LAST_LINES, length)
    return code.text or "(The repository has no test in the language of the changed files.)"


def _find_endings_tested_together(path: str) -> str:
    ending = path.rpartition(".")[2]
    return next((group for group in _TESTED_TOGETHER if ending in group.split()), ending)
