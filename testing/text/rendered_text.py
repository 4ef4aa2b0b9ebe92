"""Visible text of Markdown on GitHub, by parsers that the program does not use: comrak and html5lib."""

import re
import unicodedata
from collections.abc import Iterator
from xml.etree.ElementTree import Element

import comrak
import html5lib  # type: ignore[import-untyped]

_INVISIBLE_TAGS = frozenset(
    {
        *(
            "script",
            "style",
            "template",
            "noscript",
            "head",
            "title",
            "svg",
            "math",
            "object",
            "iframe",
            "video",
            "audio",
        ),
        *("canvas", "textarea", "datalist", "dialog", "rp"),
    }
)
_IGNORABLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Default_Ignorable_Code_Point of Unicode's DerivedCoreProperties.txt, and the annotation marks."""
_STYLE = re.compile(
    r"none|hidden|(?:opacity|font|height|size)\s*:\s*[01](?![\d.]*[2-9])|white|#fff|255, 255, 255|transparent|-9999|rect\(0|scale\(0",
    re.I,
)


def visible_words(markdown: str) -> str:
    """Returns the visible text. A closed fold counts as visible: a click opens it."""
    extensions, rendering = comrak.ExtensionOptions(), comrak.RenderOptions()
    for name in ("table", "strikethrough", "autolink", "tasklist", "footnotes", "alerts"):
        setattr(extensions, name, True)
    rendering.unsafe_ = rendering.github_pre_lang = True
    text = markdown.encode("utf-8", "ignore").decode() + "\n"  # comrak takes a last line without end otherwise
    html = comrak.render_markdown(text, extension_options=extensions, render_options=rendering)
    root: Element = html5lib.parseFragment(html, namespaceHTMLElements=False)
    words = " ".join("".join(_iterate_visible(root)).split())
    return "".join(letter for letter in words if not is_invisible(letter))


def _iterate_visible(root: Element) -> Iterator[str]:
    stack: list[Element | str] = [root]
    while stack:
        piece = stack.pop()
        if isinstance(piece, str):
            yield piece
            continue
        if not isinstance(piece.tag, str) or piece.tag.rpartition("}")[2] in _INVISIBLE_TAGS or _is_hidden(piece):
            continue
        below: list[Element | str] = [piece.text or ""]
        for child in piece:
            below += [child, child.tail or ""]
        stack.extend(reversed(below))


def _is_hidden(element: Element) -> bool:
    styled = element.get("style", "") or (element.get("color", "") if element.tag == "font" else "")
    has_attribute = {"hidden", "popover"} & set(element.keys()) or element.get("aria-hidden") == "true"
    return bool(has_attribute) or _STYLE.search(styled) is not None


def is_invisible(letter: str) -> bool:
    """Whether it has no visible shape. Spaces count as visible."""
    return unicodedata.category(letter) in ("Cc", "Cf", "Cn", "Cs") or _IGNORABLE.match(letter) is not None
