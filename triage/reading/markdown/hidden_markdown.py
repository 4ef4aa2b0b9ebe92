"""Counts pieces of Markdown that leave nothing on the page: definitions without a use, and surplus table cells."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice

_DEFINITION = re.compile(r"^[ >]{0,12}\[([^\[\]\n]{1,300})\]:[ \t]*(\S[^\n]*)?", re.M)
_LABEL = re.compile(r"\[([^\[\]\n]{1,300})\]")
_MAX_LOOKUPS = 200
"""Each definition and each table row is searched for in the whole page."""
_BAR = re.compile(r"(?<!\\)\|")


def count_unrendered(markdown: str, page: str) -> int:
    """How many definitions no link or footnote uses, and how many table rows have too many cells.

    Args:
        markdown: The source.
        page: The visible text. What is in it word for word was code.
    """
    return _count_unused_definitions(markdown, page) + _count_long_rows(markdown, page)


def _count_unused_definitions(markdown: str, page: str) -> int:
    definitions = islice(_DEFINITION.finditer(markdown), _MAX_LOOKUPS)
    written = Counter(_key(found[1]) for found in definitions if not _is_shown(found[1], found[2] or "", page))
    if not written:
        return 0
    used = Counter(_key(label) for label in _LABEL.findall(markdown))
    return sum(count - (used[label] > count) for label, count in written.items())


def _is_shown(label: str, rest: str, page: str) -> bool:
    start = next(iter(rest.split()), "")
    return f"[{label}]: {start}".rstrip() in page


def _key(label: str) -> str:
    return " ".join(label.split()).casefold()


def _count_long_rows(markdown: str, page: str) -> int:
    rows = islice(_long_rows(markdown), _MAX_LOOKUPS) if "|" in markdown else ()
    return sum(any(cell not in page for cell in surplus) for surplus in rows)


def _long_rows(markdown: str) -> Iterator[list[str]]:
    """The cells of each long row after the last column of its table."""
    width = 0
    for line in markdown.split("\n"):
        if "-" in line and not line.strip(" \t>|:-"):
            width = len(_cells(line))
        elif not line.strip():
            width = 0
        elif width and line.count("|") >= width:
            surplus = [cell for written in _cells(line)[width : width + 9] if (cell := written.strip())]
            if surplus:
                yield surplus


def _cells(line: str) -> list[str]:
    return _BAR.split(line.strip(" \t>").removeprefix("|").removesuffix("|"))
