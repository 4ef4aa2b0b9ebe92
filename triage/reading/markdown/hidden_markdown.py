"""Counts definitions of Markdown that leave nothing on the page: a usual way to hide text."""

import re
from collections import Counter
from itertools import islice

_DEFINITION = re.compile(r"^[ >]{0,12}\[([^\[\]\n]{1,300})\]:[ \t]*(\S[^\n]*)?", re.M)
_LABEL = re.compile(r"\[([^\[\]\n]{1,300})\]")
_MAX_DEFINITIONS = 200
"""Each is searched for in the whole page."""


def count_unused_definitions(markdown: str, page: str) -> int:
    """How many definitions no link or footnote uses.

    Args:
        markdown: The source.
        page: The visible text. What is in it word for word was code.
    """
    definitions = islice(_DEFINITION.finditer(markdown), _MAX_DEFINITIONS)
    written = Counter(_normalize(found[1]) for found in definitions if not _is_visible(found[1], found[2] or "", page))
    if not written:
        return 0
    used = Counter(_normalize(label) for label in _LABEL.findall(markdown))
    return sum(count - (used[label] > count) for label, count in written.items())


def _is_visible(label: str, rest: str, page: str) -> bool:
    start = next(iter(rest.split()), "")
    return f"[{label}]: {start}".rstrip() in page


def _normalize(label: str) -> str:
    return " ".join(label.split()).casefold()
