"""Pieces of Markdown of which the page has no trace at all: known ways to write what no reader sees."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice

_DEFINITION = re.compile(r"^[ >]{0,12}\[([^\[\]\n]{1,300})\]:[ \t]*(\S[^\n]*)?", re.M)
_LABEL = re.compile(r"\[([^\[\]\n]{1,300})\]")
_MOST_LOOKED_UP = 200
"""Definitions, and rows of tables: each is searched for in the whole page."""
_BAR = re.compile(r"(?<!\\)\|")


def count_unrendered(markdown: str, page: str) -> int:
    """How many definitions no link or footnote uses, and how many table rows have a cell too many.

    Args:
        markdown: The source.
        page: The text that is shown: what stands there word for word was code.
    """
    return _definitions(markdown, page) + _cells_too_many(markdown, page)


def _definitions(markdown: str, page: str) -> int:
    definitions = islice(_DEFINITION.finditer(markdown), _MOST_LOOKED_UP)
    written = Counter(_key(found[1]) for found in definitions if not _is_shown(found[1], found[2] or "", page))
    if not written:
        return 0
    named = Counter(_key(label) for label in _LABEL.findall(markdown))
    return sum(count - (named[label] > count) for label, count in written.items())


def _is_shown(label: str, rest: str, page: str) -> bool:
    start = next(iter(rest.split()), "")
    return f"[{label}]: {start}".rstrip() in page


def _key(label: str) -> str:
    return " ".join(label.split()).casefold()


def _cells_too_many(markdown: str, page: str) -> int:
    rows = islice(_long_rows(markdown), _MOST_LOOKED_UP) if "|" in markdown else ()
    return sum(any(cell not in page for cell in further) for further in rows)


def _long_rows(markdown: str) -> Iterator[list[str]]:
    """What stands in rows behind the last column of their table."""
    width = 0
    for line in markdown.split("\n"):
        if "-" in line and not line.strip(" \t>|:-"):
            width = len(_cells(line))
        elif not line.strip():
            width = 0
        elif width and line.count("|") >= width:
            further = [cell for written in _cells(line)[width : width + 9] if (cell := written.strip())]
            if further:
                yield further


def _cells(line: str) -> list[str]:
    return _BAR.split(line.strip(" \t>").removeprefix("|").removesuffix("|"))
