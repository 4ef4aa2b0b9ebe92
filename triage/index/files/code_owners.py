"""CODEOWNERS and issue forms, read from the same commit as the code."""

import re
from collections.abc import Sequence
from typing import Any

import re2  # type: ignore[import-untyped]

from triage.index.source.decode import decode_text
from triage.index.source.tree import Entry, SourceTree
from triage.secrets.likely_secrets import redact_likely_secrets

_OWNER_FILES = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
"""In the order in which GitHub looks; the first one counts."""
_FORM = re.compile(r"^\.github/ISSUE_TEMPLATE(?:/[^/]+\.(?:md|ya?ml)|\.md)$", re.I)
_MAX_OWNERS_BYTES = 3 * 1024 * 1024
"""GitHub's own limit."""
_MAX_FORM_BYTES = 64 * 1024
_MAX_FORMS = 40
_OPTIONS = re2.Options()
_OPTIONS.log_errors = False


class CodeOwners:
    """Who owns a path."""

    def __init__(self, text: str = "") -> None:
        from codeowners import CodeOwners

        self._rules = CodeOwners("\n".join(line for line in text.splitlines() if _is_readable(line)))
        # The library's expressions, matched without backtracking: a handful of stars would keep `re` busy for hours.
        self._rules.paths = [(_linear(one.pattern), *rest) for one, *rest in self._rules.paths]

    def find_owners(self, path: str) -> list[str]:
        """Users and teams without `@`, as CODEOWNERS orders them; addresses are left out."""
        known = path.encode("utf-8", "replace").decode("utf-8")
        return [name.removeprefix("@") for kind, name in self._rules.of(known) if kind != "EMAIL"]


def read_code_owners(tree: SourceTree, entries: Sequence[Entry]) -> CodeOwners:
    """The rules of the file that GitHub would use."""
    by_path = {entry.path: entry for entry in entries}
    chosen = next((by_path[path] for path in _OWNER_FILES if path in by_path), None)
    if chosen is None or chosen.size > _MAX_OWNERS_BYTES:
        return CodeOwners()
    return CodeOwners("".join(_texts(tree, [chosen])))


def read_issue_forms(tree: SourceTree, entries: Sequence[Entry]) -> list[str]:
    """Texts of the issue templates and forms, by path."""
    forms = [entry for entry in entries if _FORM.match(entry.path) and entry.size <= _MAX_FORM_BYTES]
    return _texts(tree, sorted(forms, key=lambda entry: entry.path)[:_MAX_FORMS])


def _texts(tree: SourceTree, entries: Sequence[Entry]) -> list[str]:
    if not entries:
        return []
    found = [decode_text(data) for _, data in tree.read(entries) if data is not None]
    return [redact_likely_secrets(text) for text in found if text is not None]


def _is_readable(line: str) -> bool:
    """Whether the parser takes the line; one that it refuses must not take the others with it."""
    from codeowners import CodeOwners

    if not line.split("#", maxsplit=1)[0].split():
        return False
    try:
        for one, *_ in CodeOwners(line).paths:
            _linear(one.pattern)
    except (ValueError, re.error, re2.error):
        return False
    return True


def _linear(expression: str) -> Any:
    return re2.compile(expression.replace(r"\Z", r"\z"), _OPTIONS)
