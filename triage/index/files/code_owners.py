"""CODEOWNERS, issue forms and the place of SECURITY.md, from the same commit as the code."""

import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from pathlib import Path

import re2  # type: ignore[import-untyped]
from pathspec import GitIgnoreSpec

from triage.errors import BadInput
from triage.index.source.commit import open_commit
from triage.index.source.decode import decode_text
from triage.index.source.git import GitError
from triage.index.source.tree import Entry, SourceTree
from triage.secrets.likely_secrets import redact_likely_secrets

_OWNER_FILES = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
"""In the order in which GitHub looks; the first one counts."""
_POLICIES = (".github/SECURITY.md", "SECURITY.md", "docs/SECURITY.md")
"""In the order in which GitHub looks. In small letters, a page of the documentation has the name too."""
_FORM = re.compile(r"^(?:\.github/ISSUE_TEMPLATE/[^/]+\.(?:md|ya?ml)|(?:\.github/|docs/)?ISSUE_TEMPLATE\.md)$", re.I)
_MAX_OWNERS_BYTES = 3 * 1024 * 1024
"""GitHub's own limit."""
_MAX_FORM_BYTES = 64 * 1024
_MAX_FORMS = 40
_RULE = re.compile(r"(?P<pattern>(?:\\.|[^\s\\]){1,1000})(?:\s+(?P<owners>.*))?")
_UNSUPPORTED = re.compile(r"[!\[]|\\#|.*[^\\]\[")
"""Negation, ranges of characters and an escaped `#`, which gitignore knows and CODEOWNERS does not."""
_COMMENT = re.compile(r"(?:^|\s)#.*")


class CodeOwners:
    """The rules of a CODEOWNERS file.

    They are gitignore patterns, with the exceptions of GitHub's documentation:
    https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners
    """

    def __init__(self, text: str = "") -> None:
        rules = (_RULE.fullmatch(_COMMENT.sub("", line).strip()) for line in text.splitlines())
        self._rules = [
            (rule["pattern"], rule["owners"] or "")
            for rule in rules
            if rule and not _UNSUPPORTED.match(rule["pattern"])
        ]

    def find_owners(self, path: str) -> list[str]:
        """Return the users and teams of the last rule that matches, without `@` and without email addresses."""
        owners = next((owners for pattern, owners in reversed(self._rules) if _compile(pattern).match_file(path)), "")
        return [name.removeprefix("@") for name in owners.split() if name.startswith("@")]


@lru_cache(maxsize=10_000)
def _compile(pattern: str) -> GitIgnoreSpec:
    # `docs/*` owns the files in the folder. For gitignore it would match its subfolders too.
    lines = [pattern, f"!{pattern}/"] if pattern.endswith("/*") else [pattern]
    try:
        return GitIgnoreSpec.from_lines(lines, backend="re2")
    except (ValueError, re2.error):
        return GitIgnoreSpec([], backend="re2")  # matches no file


def read_code_owners(tree: SourceTree, entries: Sequence[Entry]) -> CodeOwners:
    by_path = {entry.path: entry for entry in entries if entry.path in _OWNER_FILES}
    chosen = next((by_path[path] for path in _OWNER_FILES if path in by_path), None)
    if chosen is None or chosen.size > _MAX_OWNERS_BYTES:
        return CodeOwners()
    return CodeOwners("".join(_read_texts(tree, [chosen])))


def open_code_owners(root: Path) -> Callable[[str], Sequence[str]]:
    """Return the owners of a path by the CODEOWNERS of HEAD's commit, which is read at the first call.

    Raises:
        BadInput: There is no commit, so nobody can say who owns a file.
    """

    @cache
    def read() -> CodeOwners:
        try:
            tree = open_commit(root.resolve())
            return read_code_owners(tree, tree.list_files().entries)
        except GitError as error:
            raise BadInput(f"CODEOWNERS cannot be read: check out the repository with git ({error}).") from None

    return lambda path: read().find_owners(path)


def find_security_policy(entries: Sequence[Entry]) -> str | None:
    """Return the path of the security policy that GitHub shows; None without one."""
    paths = {entry.path for entry in entries if entry.path in _POLICIES}
    return next((path for path in _POLICIES if path in paths), None)


def read_issue_forms(tree: SourceTree, entries: Sequence[Entry]) -> list[str]:
    """Return the texts of the issue templates and forms, sorted by path."""
    forms = [entry for entry in entries if _FORM.match(entry.path) and entry.size <= _MAX_FORM_BYTES]
    return _read_texts(tree, sorted(forms, key=lambda entry: entry.path)[:_MAX_FORMS])


def _read_texts(tree: SourceTree, entries: Sequence[Entry]) -> list[str]:
    texts = [decode_text(data) for _, data in tree.read(entries) if data is not None] if entries else []
    return [redact_likely_secrets(text) for text in texts if text is not None]
