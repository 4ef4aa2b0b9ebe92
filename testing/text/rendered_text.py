"""Visible text of Markdown on GitHub, by parsers that the program does not use: comrak and html5lib."""

import re
import unicodedata
from collections.abc import Iterator
from xml.etree.ElementTree import Element

import comrak
import html5lib  # type: ignore[import-untyped]

_IGNORABLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Default_Ignorable_Code_Point of Unicode's DerivedCoreProperties.txt, and the annotation marks."""
_SMALLER = frozenset({"sub", "sup", "small"})


def visible_words(markdown: str) -> str:
    """Returns the visible text. A closed fold counts as visible: a click opens it.

    GitHub's sanitizer (`sanitization_filter.rb` of html-pipeline) keeps the words of unknown elements, and no style.
    """
    extensions, rendering = comrak.ExtensionOptions(), comrak.RenderOptions()
    for name in ("table", "strikethrough", "autolink", "tasklist", "footnotes", "alerts", "tagfilter"):
        setattr(extensions, name, True)
    rendering.unsafe_ = rendering.github_pre_lang = True
    text = markdown.encode("utf-8", "ignore").decode() + "\n"  # comrak takes a last line without end otherwise
    html = comrak.render_markdown(text, extension_options=extensions, render_options=rendering)
    root: Element = html5lib.parseFragment(html, namespaceHTMLElements=False)
    words = " ".join("".join(_iterate_visible(root)).split())
    return "".join(letter for letter in words if not is_invisible(letter))


def _iterate_visible(root: Element) -> Iterator[str]:
    stack: list[tuple[Element | str, int]] = [(root, 0)]
    while stack:
        piece, small = stack.pop()
        if isinstance(piece, str):
            yield piece
            continue
        small += piece.tag in _SMALLER
        if not isinstance(piece.tag, str) or piece.tag == "rp" or small > 3:
            continue
        below: list[tuple[Element | str, int]] = [(piece.text or "", small)]
        for child in piece:
            below += [(child, small), (child.tail or "", small)]
        stack.extend(reversed(below))


def is_invisible(letter: str) -> bool:
    """Whether it has no visible shape. Spaces count as visible."""
    return unicodedata.category(letter) in ("Cc", "Cf", "Cn", "Cs") or _IGNORABLE.match(letter) is not None
