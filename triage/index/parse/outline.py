"""Declarations by their lines: for the parts of a file that a grammar could not read."""

import re
from collections.abc import Iterator

_CLOSING = re.compile(r"\s*[)\]}]")
_MAX_LINE = 500
"""Characters; a declaration starts well before."""


def find_declarations(text: str, pattern: str) -> Iterator[tuple[int, int, str]]:
    """First line, last line (1-based) and name of what starts on a line that matches, by indentation.

    A declaration ends before the next line that is indented no more, closing brackets aside. Linear in the lines.

    Args:
        text: A file.
        pattern: Matches a line's beginning; its group `name` is the name.
    """
    starts = re.compile(pattern)
    waiting: list[tuple[int, int, str]] = []
    last = 0
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        indent = len(line) - len(line.lstrip())
        closing = _CLOSING.match(line) is not None
        while waiting and (waiting[-1][0] > indent or (waiting[-1][0] == indent and not closing)):
            yield waiting[-1][1], last, waiting.pop()[2]
        found = starts.match(line[:_MAX_LINE])
        if found:
            waiting.append((indent, number, found["name"]))
        last = number
    for _, start, name in waiting:
        yield start, last, name
