"""Recognises what a page on GitHub does not show: parts of a URL, a block's language, and formulas."""

import re
from collections.abc import Iterator, Sequence
from functools import cache

from pygments.lexers import get_all_lexers  # type: ignore[import-untyped]

from triage.base.text import word_set
from triage.safety.clean_text import clean_text

DRAWN_LANGUAGES = word_set("math mermaid geojson topojson stl")
"""GitHub draws blocks of these languages: their ids, comments and properties are not visible."""
_SOURCE = re.compile(
    r"https?://[\w.-]+(?::\d+)?/[\w.~-]+/[\w.~/-]*?(?<=/)(?:blob|blame|tree|raw|src|commits?|pull|issues|compare)/"
    r"[^\s?#]+(?:#L\d+(?:C\d+)?(?:-L?\d+(?:C\d+)?)?)?"
)
_HOST = re.compile(r"https?://(?:[^/?#\s@]*@)?([\w.-]+(?::\d+)?)", re.I)
_MAX_TARGET_CHARS = 300


def known_language(written: str) -> str:
    """Return the language of a code block if it is known; else empty, since the page does not show the word."""
    name = written.strip().lower()
    return written.strip() if name in _known_languages() or name in DRAWN_LANGUAGES else ""


def visible_link_target(address: str) -> str:
    """Return the part of a URL that is read: all of a link into a repository, else the host; empty without a host.

    A reader of the page does not see queries, user names and words in a path.
    """
    cleaned = clean_text(address).strip()[:_MAX_TARGET_CHARS]
    source = _SOURCE.match(cleaned)
    if source:
        return source[0]
    host = _HOST.match(cleaned)
    return host[1].lower() if host else ""


def image_origin(address: str) -> str:
    """Scheme and host of an image's URL; a reader does not see the rest."""
    host = _HOST.match(clean_text(address).strip()[:_MAX_TARGET_CHARS])
    return f"https://{host[1].lower()}" if host else ""


@cache
def _known_languages() -> frozenset[str]:
    others = (
        "svelte jsonc cmd dos plain plaintext txt log logs csv tsv ipython error output traceback stacktrace node env "
        "math conf config sh-session cfg svg astro mdx gradle shell-script"
    )
    return word_set(others) | {alias for _, aliases, _, _ in get_all_lexers(plugins=False) for alias in aliases}


MASK = "\0"
"""Stands for each character of a code span in a masked text."""
_CODE_FORMULA = re.compile(rf"\${MASK}+\$")
_DISPLAY = re.compile(r"\$\$.+?\$\$", re.S)
_OPENING = re.compile(r"(?<![\w$])\$(?=[^\s$])")
_CLOSING = re.compile(r"(?<=[^\s$])\$(?![\w$])")
_TEX = re.compile(r"[\\%]|(?:[~!][^~!]*){3}")
"""A command, a comment, or many spaces or steps back: without them a formula shows all that it says."""


def strip_formulas(text: str, masked: str) -> tuple[str, int]:
    """Return the text without formulas that may hide something, and how many there were.

    `masked` is the text with `MASK` for code. What GitHub takes for a formula is not documented exactly; see issue 1742
    of github/markup. Here one ends at the nearest dollar sign that may close it. If commands or lone braces are left
    over, it may go on: then all up to the last such sign is one.
    """
    found = 0
    for find in (_find_code_formulas, _find_displays, _find_formulas_in_lines):
        spans = [span for span in find(masked) if MASK in masked[slice(*span)] or _TEX.search(masked, *span)]
        text, masked = _cut(text, spans), _cut(masked, spans)
        found += len(spans)
    return text, found


def _find_code_formulas(masked: str) -> list[tuple[int, int]]:
    return [formula.span() for formula in _CODE_FORMULA.finditer(masked)]


def _find_displays(masked: str) -> list[tuple[int, int]]:
    return _join_unclear(masked, [formula.span() for formula in _DISPLAY.finditer(masked)], masked.rfind("$$") + 2)


def _find_formulas_in_lines(masked: str) -> Iterator[tuple[int, int]]:
    """Yield where the formulas begin and end that stand in one line."""
    line_start = 0
    for line in masked.split("\n"):
        spans, end = list[tuple[int, int]](), 0
        while (opening := _OPENING.search(line, end)) and (closing := _CLOSING.search(line, opening.end())):
            end = closing.end()
            spans.append((opening.start(), end))
        last = max((closing.end() for closing in _CLOSING.finditer(line)), default=0)
        for start, end in _join_unclear(line, spans, last):
            yield line_start + start, line_start + end
        line_start += len(line) + 1


def _join_unclear(masked: str, spans: list[tuple[int, int]], last: int) -> list[tuple[int, int]]:
    """Return the spans of a line; one from the first of them to `last` if it is unclear where they end."""
    if not spans:
        return []
    between = _cut(masked[:last], spans)[spans[0][0] :]
    is_closed = all(masked.count("{", *span) == masked.count("}", *span) for span in spans)
    is_clear = is_closed and not _TEX.search(between) and not re.search(r"[{}]", between)
    return spans if is_clear else [(spans[0][0], last)]


def _cut(text: str, spans: Sequence[tuple[int, int]]) -> str:
    starts = [0, *(end for _, end in spans)]
    ends = [*(start for start, _ in spans), len(text)]
    return "".join(text[start:end] for start, end in zip(starts, ends, strict=True))
