"""Finds code that stands without a fence: Markdown takes it for words, or for one line."""

import ast
import re
from itertools import islice

from triage.reproduce.example import python_code
from triage.reproduce.example.sessions import read_session

_PART = re.compile(r"^(`+)(?P<span>[^`]+)\1$|^(?P<words>(?!!\[)[^\n`]+(?:\n(?!`|!\[)[^\n]+)*)", re.M)
"""A span of code that has its lines for itself, or a paragraph up to a picture."""
_LINES = re.compile(r"^`[^`\n]+`(?:\n`[^`\n]+`)+$", re.M)
"""Each line of a block as a span of its own."""
_STATEMENT = re.compile(r".*[;{}()\[,]|[ \t].*|[}\])].*|//.*")
"""A line of JavaScript."""
_REQUIRE = re.compile(r"\s*(?:[\w$.{},: \t]+= *)?require\(")
_VALUE = re.compile(r"[\[{].*[\]}]", re.S)
_MAX_PARTS = 100


def fence_code(body: str, prose: str) -> str:
    """Return a body with fences around such code, as far as people see it in the prose as it was written."""
    text, shown = ("\n".join(map(str.rstrip, one.splitlines())) for one in (body, prose))
    text, shown = (_LINES.sub(lambda match: match[0].replace("`\n`", "\n"), one) for one in (text, shown))
    seen = " ".join(shown.split())
    parts = islice(_PART.finditer(text), _MAX_PARTS)
    for part in reversed(list(parts)):
        words = part["span"] or part["words"]
        above, _, below = words.partition("\n")
        start = len(above) + 1 if above.endswith(":") and below and not part["span"] else 0  # "I call this:"
        code = words[start:].strip("\n")
        is_block = "\n" in code and bool(part["span"] or (start and _VALUE.fullmatch(code)))
        if (is_block or _is_code(code)) and " ".join(code.split()) in seen:
            text = f"{text[: part.start() + start]}\n```\n{code}\n```\n{text[part.end() :]}"
    return text


def _is_code(text: str) -> bool:
    lines = text.strip("\n").split("\n")
    if any(line.endswith(";") or _REQUIRE.match(line) for line in lines) and all(map(_STATEMENT.fullmatch, lines)):
        return True
    if read_session(text, "python"):
        return True
    tree = python_code.parse(text)
    return tree is not None and any(isinstance(node, ast.Call | ast.Import | ast.ImportFrom) for node in ast.walk(tree))
