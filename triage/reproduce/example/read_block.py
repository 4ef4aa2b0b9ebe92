"""Finds the example of a report in Node, or in a language of the project's settings: one block, as it stands."""

import re
import textwrap
from collections.abc import Sequence

from pygments.lexers import find_lexer_class_by_name  # type: ignore[import-untyped]
from pygments.util import ClassNotFound  # type: ignore[import-untyped]

from triage.domain.issue import CodeBlock
from triage.reproduce.example.example import (
    MAX_EXAMPLE_CHARS,
    MAX_SHOWN,
    MAX_SHOWN_CHARS,
    REFUSALS,
    Example,
    NoExample,
    Project,
    Refusal,
)
from triage.reproduce.example.sessions import read_session

_NODE_LANGUAGES = frozenset({"", "js", "javascript", "jsx", "mjs", "cjs", "node"})
_SHELLS = frozenset({"Bash", "Bash Session"})


def read_block(blocks: Sequence[CodeBlock], project: Project) -> Example | NoExample:
    """Return the first block in such a language that uses the project."""
    refusal: Refusal = "no-block"
    for block in blocks:
        language = _find_language(block.language.lower(), project)
        if not language:
            continue
        prompt = "node" if language == "node" else "shell" if _name_lexer(language) in _SHELLS else ""
        session = read_session(block.text, prompt) if prompt else None
        code = session.code if session else textwrap.dedent(block.text).strip("\n")
        found = _find_refusal(code, project)
        if found is None:
            shown = [output[:MAX_SHOWN_CHARS] for output in session.outputs if output] if session else []
            changed = ["Took prompts and shown output away."] if session else []
            return Example(language=language, code=code + "\n", shown=shown[:MAX_SHOWN], changed=changed)
        refusal = max(refusal, found, key=REFUSALS.index)
    return NoExample(reason=refusal)


def _find_language(fence: str, project: Project) -> str:
    """Return the project's name of the language that a block is in; empty for another one."""
    if project.language == "node":
        return "node" if fence in _NODE_LANGUAGES else ""
    lexer = _name_lexer(fence)
    same = (one for one in project.languages if _name_lexer(one) == lexer or {_name_lexer(one), lexer} <= _SHELLS)
    return fence if fence in project.languages else next(same, "")


def _name_lexer(language: str) -> str:
    """Return the one name of a language that a fence calls `rs`, `rust` or `Rust`."""
    try:
        return str(find_lexer_class_by_name(language).name)
    except ClassNotFound:
        return language


def _find_refusal(code: str, project: Project) -> Refusal | None:
    name = re.escape(project.package)
    if project.language == "node":
        uses = rf"""(?:\brequire\(|\bfrom\s|\bimport\s?\(?)\s*['"]{name}(?:/[\w./-]+)?['"]"""
    else:
        uses = rf"(?i)(?<!\w){name}(?!\w)".replace(r"\-", "[-_]") if name else ""
    if not re.search(uses, code) or len(code) > MAX_EXAMPLE_CHARS:
        return "does-not-import-the-project"
    is_idle = project.language == "node" and "(" not in re.sub(r"\brequire\(|\bimport\(", "", code)
    return "calls-nothing" if is_idle else None
