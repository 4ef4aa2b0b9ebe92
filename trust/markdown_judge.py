"""What would act on a page of GitHub, seen with other eyes: comrak parses the Markdown, html5lib what comes of it.

GitHub itself runs comrak's ancestor and then its own filters over the text, which are rules here, on the wide side.
Bots read the source, so that is read as well.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit
from xml.etree.ElementTree import Element

import comrak
import html5lib  # type: ignore[import-untyped]

from trust.word_set import word_set

MARKER = "<!-- bug-triage:"
"""Opens our comments, and may stand nowhere else."""
OURS = frozenset({"details", "summary", "br", "sub"})
"""Raw tags that our pages hold."""
_OUR_TAG = re.compile(r"</?(?:details|summary|sub)>|<details open>|<br ?/?>")
_MADE = word_set(
    "html head body p h1 h2 h3 h4 h5 h6 ul ol li blockquote pre code em strong del a hr table thead "
    "tbody tr th td input"
)
_ATTRIBUTES = frozenset({"href", "align", "lang", "start", "type", "checked", "disabled", "open"})
_DRAWN = word_set("mermaid geojson topojson stl math suggestion")
_TEXT: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("a mention", re.compile(r"(?<![A-Za-z0-9_`])@[A-Za-z0-9]")),
    ("an issue reference", re.compile(r"(?<![&\w])[\w./-]*#\d|\bGH-\d", re.I)),
    ("a commit reference", re.compile(r"(?<![\w-])[0-9a-f]{7,64}(?![\w-])")),
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
_UNCOUNTED = re.compile("`{81}")
"""GitHub's parser knows no code span of more than 80 backticks, and a fence's length is one byte (cmark-gfm): what
stands behind such a run may be outside of it."""
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f]"
    "|[\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3]"
    "|[\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
    "|(?<![\u00a9\u00ae\u203c-\u3299])[\ufe0e\ufe0f]"  # seen where it makes a sign an emoji, or the other way round
)
_NOT_DRAWN = re.compile(r"^\s*(click|link|href)\b|https?:|javascript|@|<(?!br/?>|/?b>)", re.I | re.M)
"""What no line of our own diagram holds."""


@dataclass
class Judgement:
    """What a page shows and does."""

    live_effects: list[str] = field(default_factory=list)
    """What would act, each in a few words."""
    folds: int = 0
    blocks: int = 0
    """Headings, tables, rules, alerts: what a stranger's words may not add to our page."""


def judge_page(page: str, allowed: Sequence[str], *, picture: bool = False) -> Judgement:
    """Look at a finished page.

    Args:
        page: The Markdown as it is posted.
        allowed: Addresses that links may have, whole, or as far as a last `/`.
        picture: One diagram of the run may stand in it.
    """
    shown, marked = _without_marker(page)
    found = list(marked)
    found += [name for name, pattern in _BOTS if pattern.search(shown)]
    found += ["a run of backticks that GitHub does not count"] if _UNCOUNTED.search(shown) else []
    found += ["an invisible character"] if _INVISIBLE.search(shown) else []
    omitted = _html(_OUR_TAG.sub("", shown), raw=False).count("<!-- raw HTML omitted -->")
    found += ["raw HTML"] if omitted else []
    result = Judgement(found)
    tree: Element = html5lib.parse(_html(shown, raw=True), namespaceHTMLElements=False)
    _look(tree, _Inside(allowed, int(picture)), result)
    result.live_effects = list(dict.fromkeys(result.live_effects))
    return result


def _without_marker(page: str) -> tuple[str, list[str]]:
    if not page.startswith(MARKER):
        return page, ["a comment of HTML"] if "<!--" in _html(page, raw=True) else []
    first, _, rest = page.partition("\n")
    closed = first.endswith("-->") and first.count("-->") == 1
    return rest, [] if closed else ["a marker that does not end"]


def _html(markdown: str, *, raw: bool) -> str:
    """As GitHub's own parser does it, with the options of comments."""
    extensions, rendering = comrak.ExtensionOptions(), comrak.RenderOptions()
    for name in ("table", "strikethrough", "autolink", "tasklist", "footnotes", "alerts", "math_dollars", "math_code"):
        setattr(extensions, name, True)
    rendering.github_pre_lang, rendering.hardbreaks, rendering.unsafe_ = True, True, raw
    text = markdown.encode("utf-8", "replace").decode("utf-8") + "\n"
    return str(comrak.render_markdown(text, extension_options=extensions, render_options=rendering))


@dataclass
class _Inside:
    """Where the look is."""

    allowed: Sequence[str]
    pictures: int
    """Diagrams that may still come."""


def _look(element: Element, inside: _Inside, result: Judgement) -> None:
    tag = element.tag if isinstance(element.tag, str) else "!"
    result.folds += tag == "details"
    result.blocks += tag in ("h1", "h2", "h3", "h4", "h5", "h6", "table", "hr", "blockquote")
    result.live_effects += _of_element(tag, element, inside)
    if tag == "pre" and (element.get("lang") or "").lower() in _DRAWN:
        result.live_effects += _of_picture(element, inside)
    if tag not in ("code", "pre", "!"):
        result.live_effects += _of_text(element.text or "")
        for child in element:
            _look(child, inside, result)
            result.live_effects += _of_text(child.tail or "")


def _of_element(tag: str, element: Element, inside: _Inside) -> Iterator[str]:
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
    elif tag not in _MADE | OURS:
        yield f"the tag {tag[:20]}"
    elif not names <= _ATTRIBUTES:
        yield f"the attribute {min(names - _ATTRIBUTES)[:20]}"
    elif tag == "input" and element.get("type") != "checkbox":
        yield "a field"
    if tag == "a" and not _may_link(element.get("href") or "", inside.allowed):
        yield f"a link to {_destination(element.get('href') or '')}"


def _may_link(target: str, allowed: Sequence[str]) -> bool:
    plain = unquote(target)
    if ".." in target.lower().replace("%2e", ".").split("/") or "\\" in target:
        return False
    return any(plain == unquote(one) or (one.endswith("/") and plain.startswith(one)) for one in allowed)


def _destination(target: str) -> str:
    """What a link leads to, in a few words."""
    try:
        return urlsplit(target).netloc[:40] or target[:40] or "nowhere"
    except ValueError:
        return target[:40]


def _of_picture(element: Element, inside: _Inside) -> Iterator[str]:
    inside.pictures -= 1
    text = "".join(element.itertext())
    if inside.pictures < 0 or not text.startswith("%%{init: ") or _NOT_DRAWN.search(text):
        yield "a drawn block"


def _of_text(text: str) -> Iterator[str]:
    return (name for name, pattern in _TEXT if pattern.search(text))
