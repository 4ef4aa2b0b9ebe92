"""Existing tests as the fix flow shows them to a model."""

import re
from collections.abc import Sequence

from triage.domain.code import SearchQuery
from triage.domain.proposal import EditablePath
from triage.fix.fix import FixInput
from triage.fix.patch.related_tests import find_related_tests
from triage.fix.requests.added_tests import MAX_TEST_CHARS
from triage.fix.requests.shown_code import ShownCode
from triage.ports import Codebase
from triage.proposal_ports import BaseFiles

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
    fix_input: FixInput, codebase: Codebase, files: BaseFiles, changed: Sequence[str], wanted: Sequence[str]
) -> str:
    """Return the existing ones of the tests that the model wanted to change, then those of the changed files.

    They are whole where they are short.
    """
    editable = files.list_editable()
    names = _list_names(fix_input)
    by_name = [test for path in changed for test in find_related_tests(path, editable, RELATED_TESTS, names)]
    by_words = _find_by_words(fix_input, codebase, changed, editable)
    asked = [path for name in wanted if (path := codebase.resolve_path(name))]
    shown = ShownCode(files, MAX_TEST_CHARS)
    for path in dict.fromkeys([*asked, *by_name[:1], *by_words, *by_name[1:]]):
        if shown.add_file(path):
            continue
        shown.add_head(path)
        lines = codebase.read_lines(path) or []
        for first, last in find_named(lines, [*names, *_CODE_WORD.findall(fix_input.technical_summary)]):
            shown.add_lines(path, first, last)
        shown.add_lines(path, len(lines) - LAST_LINES, len(lines))
    return shown.text or "(The repository has no test near the changed files.)"


def _find_by_words(
    fix_input: FixInput, codebase: Codebase, changed: Sequence[str], editable: Sequence[EditablePath]
) -> list[str]:
    """Return the test that shares most with the issue: its name may be that of a whole package."""
    tests = {file.path for file in editable if file.is_test and file.language}
    endings = {path.rpartition(".")[2] for path in changed}
    query = SearchQuery(parsed=fix_input.parsed, keywords=[fix_input.technical_summary])
    paths = [hit.path for hit in codebase.search(query, SEARCHED_FILES)]
    return [path for path in paths if path in tests and path.rpartition(".")[2] in endings][:1]


def _list_names(fix_input: FixInput) -> list[str]:
    suspects = fix_input.report.suspects if fix_input.report else []
    return [name for suspect in suspects if suspect.symbol and (name := suspect.symbol.rpartition(".")[2])]


def find_named(lines: Sequence[str], names: Sequence[str]) -> list[tuple[int, int]]:
    """Return the lines around the first places where one of the names stands as a word, the rarest name first."""
    found = [
        [number for number, line in enumerate(lines, 1) if re.search(rf"\b{re.escape(name)}\b", line)]
        for name in dict.fromkeys(names)
    ]
    numbers = [number for places in sorted(found, key=len) for number in places]
    return [(max(1, number - _MARGIN), number + _MARGIN) for number in dict.fromkeys(numbers[:MAX_PLACES])]
