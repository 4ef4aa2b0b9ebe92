"""Recognises what a page on GitHub does not show: elements, attributes, parts of a URL, and formulas that hide text.

Of formulas, a list says which commands are ordinary (`formulas.json`). A formula with any other command counts as
hiding: a list of the commands that hide text would never be complete.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

from pygments.lexers import get_all_lexers  # type: ignore[import-untyped]

from triage.base.text import word_set
from triage.safety.clean_text import clean_text

HIDDEN_TAGS = word_set(
    "script style template noscript head title svg math object iframe video audio canvas textarea datalist dialog rp "
    "progress meter noframes noembed applet map"
)
SHRINKING_TAGS = word_set("sub sup small")
MAX_SHRINKING_TAGS = 3
"""Nested in each other. The fourth makes text a third of its size, about four pixels."""
_HIDING_ATTRIBUTES = word_set("hidden popover")
_HIDING_STYLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|(?:opacity|zoom)\s*:\s*\.?0(?![.\d]*[1-9])"
    r"|font(?:-size)?\s*:\s*(?:(?:0+(?:\.[0-2]\d*)?|\.[0-2]\d*)(?:px|pt|r?em|%|;|/|\s|$)|[012](?:\.\d+)?(?:px|pt|%))"
    r"|(?<![\w-])color\s*:\s*(?:white|transparent|snow|ivory|#f[\da-f]?f[\da-f]?f[\da-f]?\b"
    r"|rgba?\(\s*25\d\s*,\s*25\d\s*,\s*25\d)"
    r"|(?:left|top|right|bottom|text-indent|margin[\w-]*)\s*:\s*-\d{3}|translate\w*\(\s*-\d{3}|scale\w*\(\s*\.?0"
    r"|(?<![\w-])(?:max-)?(?:width|height)\s*:\s*[01](?:px|;|\s|$)|clip(?:-path)?\s*:|z-index\s*:\s*-",
    re.I,
)
_HIDING_COLOURS = re.compile(r"white|transparent|snow|ivory|#?f[\da-f]?f[\da-f]?f[\da-f]?", re.I)
_MAX_ALT_WORDS = 4
"""A longer description of an image says something of its own."""

DRAWN_LANGUAGES = word_set("mermaid geojson topojson stl")
"""GitHub draws blocks of these languages: their ids, comments and properties are not visible."""
_SOURCE = re.compile(
    r"https?://[\w.-]+(?::\d+)?/[\w.~-]+/[\w.~/-]*?(?<=/)(?:blob|blame|tree|raw|src|commits?|pull|issues|compare)/"
    r"[^\s?#]+(?:#L\d+(?:C\d+)?(?:-L?\d+(?:C\d+)?)?)?"
)
_HOST = re.compile(r"https?://(?:[^/?#\s@]*@)?([\w.-]+(?::\d+)?)", re.I)
_MAX_TARGET_CHARS = 300


def is_hidden(tag: str, attributes: Mapping[str, str | None]) -> bool:
    return tag in HIDDEN_TAGS or (
        bool(attributes)
        and (
            not _HIDING_ATTRIBUTES.isdisjoint(attributes)
            or attributes.get("aria-hidden") == "true"
            or _HIDING_STYLE.search(attributes.get("style") or "") is not None
            or (tag == "font" and _HIDING_COLOURS.fullmatch((attributes.get("color") or "").strip()) is not None)
        )
    )


def count_hidden_attributes(attributes: Mapping[str, str | None]) -> int:
    """Return how many attributes of a visible element have text that the page does not show."""
    return (
        bool((attributes.get("title") or "").strip())
        + bool((attributes.get("data-meta") or "").strip())
        + (len((attributes.get("alt") or "").split()) > _MAX_ALT_WORDS)
    )


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
_ORDINARY = json.loads(Path(__file__).with_name("formulas.json").read_text(encoding="utf-8"))
_COMMANDS = word_set(" ".join(_ORDINARY["commands"].values()))

# What GitHub takes for a formula is not documented exactly; see issue 1742 of github/markup. A `$` between letters
# neither opens nor closes one, and one in a line of text ends at the next `$` in that line outside of braces.
_CODE_FORMULA = re.compile(rf"\${MASK}+\$")
_DISPLAY = re.compile(r"\$\$.+?\$\$", re.S)
_LONGEST_DISPLAY = re.compile(r"\$\$.+\$\$", re.S)
_DOLLAR = re.compile(r"(?<!\$)\$(?!\$)")
_OPENING = re.compile(r"(?<![\w$])\$(?=[^\s$])")
_CLOSING = re.compile(r"(?<=[^\s$])\$(?![\w$])")
_MAX_DOLLARS = 20
"""In the braces of one formula. With more of them, or if they never close, it ends at the last dollar sign."""
_LITERAL_DOLLAR = re.compile(r"\\\$|&(?:dollar|#0*36|#x0*24);", re.I)

# One letter may stand after a line break, of whose two backslashes Markdown leaves one. No command of MathJax that
# hides text has such a short name.
_COMMAND = re.compile(r"\\([A-Za-z]{2,})")
_ENVIRONMENT = re.compile(
    r"\\(?:begin\s*\{array\}\s*(?:\[[tbc]\]\s*)?\{[lcr|: ]*\}|end\s*\{array\}"
    rf"|(?:begin|end)\s*\{{(?:{'|'.join(map(re.escape, sorted(word_set(_ORDINARY['environments']))))})\}}"
    r"(?:\s*\[[tbc]\])?(?!\s*\[))"
)
_LENGTH = re.compile(r"\\(?:[hm]space\*?\s*\{|\\?\*?\s*\[)\s*([-+.,\d]+)\s*([a-z]{2})\s*[\]}]")
_ONE_SPACE = r"\\(?:qquad|quad|enspace|space|thinspace|[ ,;:>])|~|\{\s*\}"
_SPACE = re.compile(_ONE_SPACE)
_SPACES = re.compile(rf"(?:{_ONE_SPACE}|\s)+")
_EM = {"em": 1, "ex": 0.5, "mu": 1 / 18, "pt": 0.1, "px": 1 / 16, "mm": 0.3, "cm": 3, "in": 7.2, "pc": 1.2}
_SPACE_EM = {r"\quad": 1, r"\qquad": 2}
_NARROW_SPACE_EM = 0.3
_MAX_EM = 5
_COMMENT = re.compile(r"%[^\S\n]*\S")
r"""In a line of text also what was `\%`, of which Markdown leaves only the sign."""
_MAX_BACKSPACES = 8
r"""`\!` moves back by a sixth of an em, so that letters stand on each other. Markdown leaves only the `!`."""
_ESCAPED = re.compile(r"\\(?:(\\)|%)")


def strip_hiding_formulas(text: str, masked: str, *, has_literal_dollar: bool) -> tuple[str, int]:
    """Return the text without formulas that hide text, and how many such formulas there were.

    `masked` is the text with `MASK` for code. `has_literal_dollar`: a formula may end at any later dollar sign.
    """
    if "$" not in masked:
        return text, 0
    hiding = [span for span in _find_code_formulas(masked) if code_hides_text(text[slice(*span)])]
    found = len(hiding)
    text, masked = _cut(text, hiding), _cut(masked, hiding)
    for find in (_find_display_formulas, _find_line_formulas):
        spans = find(masked, has_literal_dollar)
        hiding = [span for span in spans if formula_hides_text(masked[slice(*span)].strip("$"))]
        found += len(hiding)
        text, masked = _cut(text, hiding), _cut(masked, hiding)
    return text, found


def count_literal_dollars(markdown: str) -> int:
    """Return how many dollar signs are written so that they neither open nor close a formula."""
    return len(_LITERAL_DOLLAR.findall(markdown))


def code_hides_text(tex: str) -> bool:
    """As `formula_hides_text`, for TeX from a code span or a code block, where Markdown leaves all backslashes."""
    return formula_hides_text(_ESCAPED.sub(lambda escaped: escaped[1] or "", tex))


def formula_hides_text(tex: str) -> bool:
    """Return whether TeX may have text that is not visible, not readable, or far away from the rest."""
    rest = _ENVIRONMENT.sub(" ", tex)
    lengths = [_to_em(*found) for found in _LENGTH.findall(rest)]
    rest = _LENGTH.sub(" ", rest)
    return (
        not _COMMANDS.issuperset(_COMMAND.findall(rest))
        or not all(0 <= em <= _MAX_EM for em in lengths)
        or _COMMENT.search(tex) is not None
        or tex.count("!") > _MAX_BACKSPACES
        or any(_count_em(run) > _MAX_EM for run in _SPACES.findall(rest))
    )


def _to_em(number: str, unit: str) -> float:
    try:
        return float(number.replace(",", ".")) * _EM[unit]
    except (ValueError, KeyError):
        return -1


def _count_em(spaces: str) -> float:
    return sum(_SPACE_EM.get(space, _NARROW_SPACE_EM) for space in _SPACE.findall(spaces))


def _cut(text: str, spans: Sequence[tuple[int, int]]) -> str:
    starts = [0, *(end for _, end in spans)]
    ends = [*(start for start, _ in spans), len(text)]
    return "".join(text[start:end] for start, end in zip(starts, ends, strict=True))


def _find_code_formulas(masked: str) -> Iterator[tuple[int, int]]:
    return (formula.span() for formula in _CODE_FORMULA.finditer(masked))


def _find_display_formulas(masked: str, has_literal_dollar: bool) -> Iterator[tuple[int, int]]:
    pattern = _LONGEST_DISPLAY if has_literal_dollar else _DISPLAY
    return (formula.span() for formula in pattern.finditer(masked))


def _find_line_formulas(masked: str, has_literal_dollar: bool) -> Iterator[tuple[int, int]]:
    line_start = 0
    for line in masked.split("\n"):
        dollars = [dollar.start() for dollar in _DOLLAR.finditer(line)]
        closings = [place for place in dollars if _CLOSING.match(line, place)]
        end = 0
        for number, start in enumerate(dollars):
            if not closings or start < end or start >= closings[-1] or not _OPENING.match(line, start):
                continue
            close = None if has_literal_dollar else _find_balanced(line, dollars[number : number + _MAX_DOLLARS])
            if close is None or _CLOSING.match(line, close):
                end = (closings[-1] if close is None else close) + 1
                yield line_start + start, line_start + end
        line_start += len(line) + 1


def _find_balanced(line: str, dollars: Sequence[int]) -> int | None:
    """Return the first dollar sign after the opening one at which no brace is open."""
    depth = 0
    for place, following in pairwise(dollars):
        part = line[place:following]
        depth += part.count("{") - part.count("}")
        if depth <= 0:
            return following
    return None
