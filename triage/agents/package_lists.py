"""Shortens lists of installed packages, which fill thousands of tokens of an issue and say little."""

import re
from collections.abc import Sequence

MIN_PACKAGES, SHOWN_PACKAGES = 12, 3
_PACKAGE = re.compile(
    r"[-*+ \t]*[A-Za-z][\w.\[\]-]{0,60}(?:[ \t]+|==|@|: ?)v?\d{1,8}\.[\w.+!-]{0,40}(?:[ \t].{0,200})?"
)
_WORD = re.compile(r"[A-Za-z][\w.-]+")


def shorten_package_lists(text: str) -> str:
    """Return the text with only the first lines of each long list of packages, and those that the rest names."""
    lines = text.split("\n")
    is_package = [bool(_PACKAGE.fullmatch(line)) for line in lines]
    if sum(is_package) < MIN_PACKAGES:
        return text
    named = {
        word.casefold()
        for line, is_listed in zip(lines, is_package, strict=True)
        if not is_listed
        for word in _WORD.findall(line)
    }
    shortened: list[str] = []
    start = 0
    while start < len(lines):
        end = start
        while end < len(lines) and is_package[end]:
            end += 1
        shortened += _shorten(lines[start:end], named) if end > start else [lines[start]]
        start = max(end, start + 1)
    return "\n".join(shortened)


def _shorten(packages: Sequence[str], named: set[str]) -> list[str]:
    if len(packages) < MIN_PACKAGES:
        return list(packages)
    shown = [*packages[:SHOWN_PACKAGES], *(line for line in packages[SHOWN_PACKAGES:] if _find_name(line) in named)]
    return [*shown, f"[... {len(packages) - len(shown):,} further packages left out ...]"]


def _find_name(line: str) -> str:
    found = _WORD.search(line)
    return re.split(r"==|@", found[0])[0].casefold() if found else ""
