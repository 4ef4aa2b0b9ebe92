"""Finds whatever in a page, or in a line of plain text, would act on GitHub: the check after `safe_markdown`."""

import re
from collections.abc import Iterator, Sequence
from urllib.parse import unquote

from selectolax.lexbor import LexborHTMLParser, LexborNode

from triage.base.text import word_set
from triage.domain.effect import COMMENT_MARKER
from triage.safety.clean_text import clean_and_count, clean_text
from triage.safety.safe_markdown import (
    COMMAND_LINE,
    MAX_TAGS,
    RENDERED_LANGUAGES,
    is_costly_to_parse,
    is_inside,
    markdown_to_html,
)

_RAW_HTML = "<!-- raw HTML omitted -->"
_OUR_TAGS = re.compile(r"</?(?:details|summary|sub)>|<details open>|<br ?/?>")
_ALLOWED_TAGS = word_set(
    "html head body p h2 h3 h4 ul ol li blockquote pre code em strong del a br table thead tbody tr "
    "th td input "
    "details summary sub"
)
_ALLOWED_ATTRIBUTES = frozenset({"href", "align", "lang", "start", "type", "checked", "disabled", "open"})
_ACTIVE_TEXT = (
    ("a mention", re.compile(r"(?<![A-Za-z0-9_])@(?=[A-Za-z0-9])")),
    ("an issue reference", re.compile(r"#\d|(?<![A-Za-z0-9])(?:[Gg][Hh]|[A-Z][A-Z0-9]{1,20})-\d")),
    ("a commit reference", re.compile(r"(?<![A-Za-z0-9])[0-9a-f]{7,64}(?![A-Za-z0-9])")),
    ("a formula", re.compile(r"\$\$|\$[^\s$\d][^$]*\$")),
)
_COMMAND = "a line that begins with a slash"
_UNUSUAL_CONTROL = re.compile("[\r\x0b\x0c\x1b\x85\u2028\u2029]")
"""Line ends and colours, which `clean_and_count` removes without counting; a finished page has none."""
_NEW_LINE_TAGS = word_set("p h1 h2 h3 h4 h5 h6 li td th br details summary blockquote hr pre table")


def find_active_content(markdown: str, allowed_urls: Sequence[str]) -> list[str]:
    """Return everything in a page that would act on GitHub, each described in a few words; empty for a safe page.

    A page may start with our own hidden marker, and may contain `<details>`, `<summary>`, `<sub>` and `<br>`. A link
    must be one of `allowed_urls`, or start with one of them that ends with `/`.
    """
    page = markdown
    if markdown.startswith(COMMENT_MARKER):
        _, end, page = markdown.partition("-->")
        if not end:
            return ["an open comment"]
    found = ["invisible characters"] if clean_and_count(page)[1] or _UNUSUAL_CONTROL.search(page) else []
    if COMMAND_LINE.search(page):
        found.append(_COMMAND)
    html = markdown_to_html(page, raw_html=True)
    if is_costly_to_parse(html) or html.count("<") > MAX_TAGS:
        return [*found, "nesting too deep to check"]
    if _RAW_HTML in markdown_to_html(_OUR_TAGS.sub(" ", page), raw_html=False):
        found.append("raw HTML")
    root = LexborHTMLParser(f"<body>{html}").root
    if root is not None:
        found.extend(_check_nodes(root, {unquote(url) for url in allowed_urls}))
    return list(dict.fromkeys(found))


def list_links(markdown: str) -> list[str]:
    """Return the targets of all links of a page."""
    root = LexborHTMLParser(f"<body>{markdown_to_html(markdown, raw_html=False)}").root
    return [node.attributes.get("href") or "" for node in root.css("a")] if root is not None else []


def _check_nodes(root: LexborNode, allowed: set[str]) -> Iterator[str]:
    at_line_start, text = True, ""
    for node in root.traverse(include_text=True):
        tag = node.tag or ""
        if tag == "code" and text.endswith("$"):
            yield "a formula"
        if node.is_text_node:
            text = node.text_content or ""
            if is_inside(node, "code") or is_inside(node, "pre") or _is_allowed_address(node, text, allowed):
                at_line_start = False
                continue
            yield from _check_text(text, at_line_start=at_line_start)
            at_line_start = text.rstrip(" ").endswith("\n") or (at_line_start and not text.strip())
        elif not node.is_element_node:
            yield "an HTML comment"
        else:
            at_line_start = at_line_start or tag in _NEW_LINE_TAGS
            yield from _check_element(tag, node, allowed)


def _is_allowed_address(node: LexborNode, text: str, allowed: set[str]) -> bool:
    """Whether the text is the address of its own link, such as that of lines of code, which has a commit in it."""
    link = node.parent
    is_own = link is not None and link.tag == "a" and unquote(link.attributes.get("href") or "") == unquote(text)
    return is_own and unquote(text) in allowed


def _check_text(text: str, *, at_line_start: bool) -> Iterator[str]:
    """Yield what would act in a text: a mention, a command at the start of a line."""
    for name, pattern in _ACTIVE_TEXT:
        if pattern.search(text):
            yield name
    lines = text.split("\n")
    if any(line.lstrip().startswith("/") for line in (lines if at_line_start else lines[1:])):
        yield _COMMAND


def _check_element(tag: str, node: LexborNode, allowed: set[str]) -> Iterator[str]:
    """Yield why an element may not stand in a page."""
    attributes = node.attributes
    if tag == "img":
        yield "an image"
    elif tag not in _ALLOWED_TAGS:
        yield "raw HTML"
    elif not set(attributes) <= _ALLOWED_ATTRIBUTES:
        yield "an attribute"
    elif tag == "input" and attributes.get("type") != "checkbox":
        yield "raw HTML"
    elif tag == "pre" and (attributes.get("lang") or "").lower() in RENDERED_LANGUAGES:
        yield "a rendered block"
    target = unquote(attributes.get("href") or "")
    is_allowed = target in allowed or any(url.endswith("/") and target.startswith(url) for url in allowed)
    if tag == "a" and not is_allowed:
        yield "a foreign link"


_ADDRESS = re.compile(r"://|\bwww\.|\b(?:mailto|xmpp|javascript|data|vbscript):\w", re.I)
_LOOKALIKES = str.maketrans(
    {"`": "'", "<": "‹", ">": "›", "[": "(", "]": ")", "*": None, "~": None, "|": "/", "\\": "/"}
)


def format_plain_line(text: str) -> str:
    """One line that does nothing, be it shown as plain text or as Markdown; empty if the text would do something.

    MentionScores, references to issues and commits, addresses and formulas do something.
    """
    line = " ".join(clean_text(text).translate(_LOOKALIKES).split())
    return "" if _ADDRESS.search(line) or find_active_content(line, []) else line
