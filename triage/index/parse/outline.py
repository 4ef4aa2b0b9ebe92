"""Finds declarations by their lines, for the parts of a file that a grammar could not parse."""

import re
from collections.abc import Iterator

_CLOSING = re.compile(r"\s*[)\]}]")
_MAX_LINE_CHARS = 500
"""Of a line that are searched."""


def find_declarations(text: str, pattern: str) -> Iterator[tuple[int, int, str]]:
    """Yield first line, last line (1-based) and name of each declaration.

    A declaration ends before the next line with the same or less indentation, except for closing brackets.

    Args:
        text: The file.
        pattern: Regular expression for the start of a line, with a group `name`.
    """
    starts = re.compile(pattern)
    open_declarations: list[tuple[int, int, str]] = []  # indentation, first line, name
    last = 0
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        indent = len(line) - len(line.lstrip())
        is_closing = _CLOSING.match(line) is not None
        while open_declarations and indent + is_closing <= open_declarations[-1][0]:
            _, start, name = open_declarations.pop()
            yield start, last, name
        match = starts.match(line[:_MAX_LINE_CHARS])
        if match:
            open_declarations.append((indent, number, match["name"]))
        last = number
    for _, start, name in open_declarations:
        yield start, last, name
