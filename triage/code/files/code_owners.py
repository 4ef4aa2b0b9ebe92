"""CODEOWNERS, issue forms and the place of SECURITY.md, from the same commit as the code."""

import re
from collections.abc import Sequence

from triage.code.git.decode import decode_text
from triage.code.git.tree import Entry, SourceTree
from triage.safety.code_owners import MAX_BYTES, PLACES, CodeOwners
from triage.safety.secrets.likely_secrets import redact_likely_secrets

_POLICIES = (".github/SECURITY.md", "SECURITY.md", "docs/SECURITY.md")
"""In the order in which GitHub looks. In small letters, a page of the documentation has the name too."""
_FORM = re.compile(r"^(?:\.github/ISSUE_TEMPLATE/[^/]+\.(?:md|ya?ml)|(?:\.github/|docs/)?ISSUE_TEMPLATE\.md)$", re.I)
_MAX_FORM_BYTES = 64 * 1024
_MAX_FORMS = 40


def read_code_owners(tree: SourceTree, entries: Sequence[Entry]) -> CodeOwners:
    """Return the rules of the commit's file, for hints. A question of rights is asked of GitHub."""
    by_path = {entry.path: entry for entry in entries if entry.path in PLACES}
    chosen = next((by_path[path] for path in PLACES if path in by_path), None)
    if chosen is None or chosen.size > MAX_BYTES:
        return CodeOwners()
    return CodeOwners("".join(_read_texts(tree, [chosen])))


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
