"""Finds active content of a page with other parsers than the program: comrak for Markdown, html5lib for its HTML.

GitHub uses the ancestor of comrak and then its own filters, which are regular expressions here and match rather more.
Bots read the source, so the judge reads it too.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit
from xml.etree.ElementTree import Element

import comrak
import html5lib  # type: ignore[import-untyped]

MARKER = re.compile("<!-- bug-triage:(?:[^<>-]|-(?!-))* -->")
OUR_TAGS = frozenset({"details", "summary", "br", "sub"})
"""Raw tags of our pages."""
_OUR_TAG = re.compile(r"</?(?:details|summary|sub)>|<details open>|<br ?/?>")
_GENERATED_TAGS = frozenset(
    "html head body p h1 h2 h3 h4 h5 h6 ul ol li blockquote pre code em strong del a hr table thead "
    "tbody tr th td input".split()
)
_ATTRIBUTES = frozenset({"href", "align", "lang", "start", "type", "checked", "disabled", "open"})
_DRAWN_LANGUAGES = frozenset("mermaid geojson topojson stl math suggestion".split())
_TEXT: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("a mention", re.compile(r"(?<![A-Za-z0-9_`])@[A-Za-z0-9]")),
    ("an issue reference", re.compile(r"(?<![&\w])[\w./-]*#\d|(?<![A-Za-z0-9])[Gg][Hh]-\d")),
    # Only ASCII letters and digits belong to a word there.
    ("a commit reference", re.compile(r"(?<![A-Za-z0-9])[0-9a-f]{7,64}(?![A-Za-z0-9])")),
    (
        "an address",
        re.compile(r"\b(?:https?|ftp|ssh)://[\w\[]|\b(?:mailto|xmpp|javascript|data|vbscript):\w|\bwww\.\w", re.I),
    ),
    ("an e-mail address", re.compile(r"[\w.+-]+@[\w-]+\.\w")),
    ("a formula", re.compile(r"\$[^\s$][^$]*\$")),
    ("a bare host", re.compile(r"\b(?:[a-z0-9-]+\.)+(?:example|com|net|org|io|dev)\b", re.I)),
)
_BOTS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("a bot's command", re.compile(r"^[ \t]*/[A-Za-z]|^[ \t>*+|-]+(?:\d+[.)][ \t]+)?(?:\[.\][ \t]+)?/[A-Za-z]", re.M)),
)
_EMPTY_BOLD = re.compile(r"^[ \t>]*(?:[-*+]|\d+[.)])[ \t]+(?:\[.\][ \t]+)?\*{3,}[ \t]*$", re.M)
"""A rule after a list's mark; behind a checkbox only for some parsers."""
_LONG_BACKTICK_RUN = re.compile("`{81}")
"""GitHub's parser (cmark-gfm) has no code span of more than 80 backticks, and stores the length of a fence in a byte:
text after such a run may be outside of it."""
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f]"
    "|[\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3]"
    "|[\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
    "|(?<![\u00a9\u00ae\u203c-\u3299])[\ufe0e\ufe0f]"  # visible where it turns a sign into an emoji or back
)


@dataclass
class Judgement:
    live_effects: list[str] = field(default_factory=list)
    folds: int = 0
    blocks: int = 0
    """Number of headings, tables, rules and quotes: a stranger's text must not add any."""


def judge_page(page: str, allowed: Sequence[str]) -> Judgement:
    """Judges posted Markdown. An `allowed` URL that ends with `/` is a prefix."""
    text, marker_problems = _split_marker(page)
    found = list(marker_problems)
    found += [name for name, pattern in _BOTS if pattern.search(text)]
    found += ["an empty bold"] if _EMPTY_BOLD.search(text) else []
    found += ["a run of backticks that is too long for GitHub"] if _LONG_BACKTICK_RUN.search(text) else []
    found += ["an invisible character"] if _INVISIBLE.search(text) else []
    omitted = _html(_OUR_TAG.sub("", text), raw=False).count("<!-- raw HTML omitted -->")
    found += ["raw HTML"] if omitted else []
    result = Judgement(found)
    tree: Element = html5lib.parse(_html(text, raw=True), namespaceHTMLElements=False)
    _visit(tree, allowed, result)
    result.live_effects = list(dict.fromkeys(result.live_effects))
    return result


def _split_marker(page: str) -> tuple[str, list[str]]:
    if not page.startswith("<!-- bug-triage:"):
        return page, ["a comment of HTML"] if "<!--" in _html(page, raw=True) else []
    first, _, rest = page.partition("\n")
    return rest, [] if MARKER.fullmatch(first) else ["a marker without an end"]


def _html(markdown: str, *, raw: bool) -> str:
    """Converts it with the options that GitHub uses for comments."""
    extensions, rendering = comrak.ExtensionOptions(), comrak.RenderOptions()
    for name in ("table", "strikethrough", "autolink", "tasklist", "footnotes", "alerts", "math_dollars", "math_code"):
        setattr(extensions, name, True)
    rendering.github_pre_lang, rendering.hardbreaks, rendering.unsafe_ = True, True, raw
    text = markdown.encode("utf-8", "replace").decode("utf-8") + "\n"
    return str(comrak.render_markdown(text, extension_options=extensions, render_options=rendering))


def _visit(element: Element, allowed: Sequence[str], result: Judgement) -> None:
    tag = element.tag if isinstance(element.tag, str) else "!"
    result.folds += tag == "details"
    result.blocks += tag in ("h1", "h2", "h3", "h4", "h5", "h6", "table", "hr", "blockquote")
    result.live_effects += _check_element(tag, element, allowed)
    if tag == "pre" and (element.get("lang") or "").lower() in _DRAWN_LANGUAGES:
        result.live_effects.append("a drawn block")
    if tag not in ("code", "pre", "!") and not _is_own_address(element, allowed):
        result.live_effects += _check_text(element.text or "")
        for child in element:
            _visit(child, allowed, result)
            result.live_effects += _check_text(child.tail or "")


def _check_element(tag: str, element: Element, allowed: Sequence[str]) -> Iterator[str]:
    names = set(element.keys())
    if tag == "!":
        yield "a comment of HTML"
    elif tag in ("img", "image", "picture", "source", "video", "audio", "svg"):
        yield "an image"
    elif tag == "section" and "data-footnotes" in names:
        yield "a footnote"
    elif "data-math-style" in names:
        yield "a formula"
    elif "markdown-alert" in (element.get("class") or ""):
        yield "an alert"
    elif tag not in _GENERATED_TAGS | OUR_TAGS:
        yield f"the tag {tag[:20]}"
    elif not names <= _ATTRIBUTES:
        yield f"the attribute {min(names - _ATTRIBUTES)[:20]}"
    elif tag == "input" and element.get("type") != "checkbox":
        yield "a field"
    if tag == "a" and not _may_link(element.get("href") or "", allowed):
        yield f"a link to {_describe_target(element.get('href') or '')}"


def _is_own_address(element: Element, allowed: Sequence[str]) -> bool:
    # GitHub shows the lines of code to which such a link leads.
    target = element.get("href") or ""
    return element.tag == "a" and not len(element) and element.text == target and _may_link(target, allowed)


def _may_link(target: str, allowed: Sequence[str]) -> bool:
    plain = unquote(target)
    if ".." in target.lower().replace("%2e", ".").split("/") or "\\" in target:
        return False
    return any(plain == unquote(one) or (one.endswith("/") and plain.startswith(one)) for one in allowed)


def _describe_target(target: str) -> str:
    try:
        return urlsplit(target).netloc[:40] or target[:40] or "nowhere"
    except ValueError:
        return target[:40]


def _check_text(text: str) -> Iterator[str]:
    return (name for name, pattern in _TEXT if pattern.search(text))
