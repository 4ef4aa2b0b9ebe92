"""Finds code that stands without a fence: Markdown takes it for words, or for one line."""

import ast
import re
from itertools import islice

from triage.reproduce.example import python_code
from triage.reproduce.example.sessions import read_session

_PART = re.compile(r"^(`+)(?P<span>[^`]+)\1$|^(?P<words>(?!!\[)[^\n`]+(?:\n(?!`|!\[)[^\n]+)*)", re.M)
"""A span of code that has its lines for itself, or a paragraph up to a picture."""
_STATEMENT = re.compile(r".*[;{}()\[,]|[ \t].*|[}\])].*|//.*")
"""A line of JavaScript."""
_REQUIRE = re.compile(r"\s*(?:[\w$.{},: \t]+= *)?require\(")
_VALUE = re.compile(r"[\[{].*[\]}]", re.S)
_CALL = re.compile(r"[\w.$]+(?:\(| = )|import \w|from [\w.]+ import |(?:const|let|var) .*=|[)}\]]+;?$")
"""A line of code that may stand between the words of a paragraph."""
_MAX_PARTS = 100


def fence_code(body: str, prose: str) -> str:
    """Return a body with fences around such code, as far as people see it in the prose as it was written."""
    text, shown = ("\n".join(map(str.rstrip, one.splitlines())) for one in (body, prose))
    seen = " ".join(shown.split())
    parts = islice(_PART.finditer(text), _MAX_PARTS)
    for part in reversed(list(parts)):
        lines = (part["span"] or part["words"]).strip("\n").split("\n")
        calls = [number for number, line in enumerate(lines) if _CALL.match(line)] or [0]
        starts = [0] if part["span"] else [int(lines[0].endswith(":")), 0]  # "I call this:"
        for start, end in [*((start, len(lines)) for start in starts), (calls[0], calls[-1] + 1)]:
            above, code, below = ("\n".join(one) for one in (lines[:start], lines[start:end], lines[end:]))
            is_block = "\n" in code and bool(part["span"] or (start and _VALUE.fullmatch(code)))
            if (is_block or _is_code(code)) and " ".join(code.split()) in seen:
                text = f"{text[: part.start()]}{above}\n```\n{code}\n```\n{below}{text[part.end() :]}"
                break
    return text


def _is_code(text: str) -> bool:
    lines = text.strip("\n").split("\n")
    if any(line.endswith(";") or _REQUIRE.match(line) for line in lines) and all(map(_STATEMENT.fullmatch, lines)):
        return True
    if read_session(text, "python"):
        return True
    tree = python_code.parse(text)
    return tree is not None and any(isinstance(node, ast.Call | ast.Import | ast.ImportFrom) for node in ast.walk(tree))
