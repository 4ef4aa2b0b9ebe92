"""Recognises what a page on GitHub does not show: elements, attributes and parts of a URL.

What GitHub shows after removing `style` or `hidden` counts as hidden all the same: its author meant to hide it.
"""

import re
from collections.abc import Mapping
from functools import cache

from pygments.lexers import get_all_lexers  # type: ignore[import-untyped]

from triage.base.word_set import word_set
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
    """How many attributes of a visible element have text that the page does not show."""
    return (
        bool((attributes.get("title") or "").strip())
        + bool((attributes.get("data-meta") or "").strip())
        + (len((attributes.get("alt") or "").split()) > _MAX_ALT_WORDS)
    )


def known_language(written: str) -> str:
    """The language of a code block if it is known; else empty, since the page does not show the word."""
    name = written.strip().lower()
    return written.strip() if name in _known_languages() or name in DRAWN_LANGUAGES else ""


def visible_link_target(address: str) -> str:
    """The part of a URL that is read: all of a link into a repository, else the host; empty without a host.

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
