"""Extracts what a person sees of untrusted Markdown, from the HTML that GitHub's parser makes of it."""

import re
from collections import Counter
from html import unescape
from itertools import islice
from typing import Literal

from pydantic import Field
from selectolax.lexbor import LexborHTMLParser

from triage.base.text import word_set
from triage.domain.value import Value
from triage.issue.visible_text.hidden_text import DRAWN_LANGUAGES, HIDDEN_TAGS, SHRINKING_TAGS, strip_hiding_formulas
from triage.issue.visible_text.html_page import BlockDraft, PageCollector
from triage.safety.clean_text import clean_and_count
from triage.safety.safe_markdown import is_costly_to_parse, markdown_to_html
from triage.safety.secrets.likely_secrets import redact_likely_secrets

BlockKind = Literal["text", "heading", "code"]

_FILTERED = word_set("script style title textarea xmp iframe noembed noframes plaintext")
"""Elements whose tags GitHub shows as text."""
_TEXT_ELEMENTS = sorted(_FILTERED | HIDDEN_TAGS)
_MAX_TAGS = 25_000
"""A table of 1,500 rows and four columns has 15,000."""
_MAX_TITLE_CHARS = 1_024
"""GitHub allows 256; a file may start with anything."""
_DOCTYPE = re.compile("<!doctype", re.I)
_ANY_TAG = re.compile(r"<[^<>]*>")
_DRAWN_BLOCK = re.compile(rf'<pre lang="(?:math|{"|".join(sorted(DRAWN_LANGUAGES))})".*?</pre>', re.I | re.S)
_START_TAG = re.compile(rf"<(?=({'|'.join(_TEXT_ELEMENTS)})\b)", re.I)
_HIDING_TAG = re.compile(
    rf"<(?:(?:{'|'.join(sorted(HIDDEN_TAGS | SHRINKING_TAGS))})\b|(?!(?:img|br|hr|wbr)\b)[a-z][\w-]*[\s/])", re.I
)
"""A tag that hides text, or that may do so by an attribute."""
_DEFINITION = re.compile(r"^[ >]{0,12}\[([^\[\]\n]{1,300})\]:[ \t]*(\S[^\n]*)?", re.M)
_LABEL = re.compile(r"\[([^\[\]\n]{1,300})\]")
_MAX_DEFINITIONS = 200
"""Each is searched for in the whole page."""
_OMITTED_HTML = "<!-- raw HTML omitted -->"


class Block(Value):
    """A block of the page: text, a heading without `#`, or code without its fence."""

    kind: BlockKind
    text: str
    language: str = ""
    level: int = 0
    """1 to 6 for a heading."""


class VisiblePage(Value):
    blocks: list[Block] = Field(default_factory=list)
    links: list[str] = Field(default_factory=list)
    hidden_fragments: int = 0

    @property
    def text(self) -> str:
        return "\n\n".join(format_block(block) for block in self.blocks)


def extract_visible_page(markdown: str | None, template_comments: frozenset[str] = frozenset()) -> VisiblePage:
    """Return the visible text of a body. Takes time linear in its length, and raises nothing.

    `template_comments` are those of the issue templates, without repeated white space; they do not count as hidden.
    """
    text, invisible = clean_and_count(markdown)
    html, cut = markdown_to_html(text, raw_html=True), 0
    if is_costly_to_parse(html) or html.count("<") > _MAX_TAGS:
        html, cut = _render_without_tags(text)
    page = PageCollector(text, template_comments)
    if html.count("<") > _MAX_TAGS:
        flat, left_out = _flatten(html)
        page.blocks.append(BlockDraft("text", [flat]))
        page.hidden += left_out
    elif (body := LexborHTMLParser(f"<body>{_close_text_elements(html)}").body) is not None:
        page.collect(body)
    blocks, hidden = [], invisible + cut + page.hidden + len(_DOCTYPE.findall(html))
    for draft in page.blocks:
        visible, removed = draft.visible_text()
        hidden += removed
        if visible.strip():
            blocks.append(Block(kind=draft.kind, text=visible, language=draft.language, level=draft.level))
    return VisiblePage(
        blocks=_redact(blocks),
        links=list(dict.fromkeys(map(redact_likely_secrets, page.links))),
        hidden_fragments=hidden + _count_unused_definitions(text, "\n".join(block.text for block in blocks)),
    )


def extract_visible_line(text: str | None) -> tuple[str, int]:
    """Return a title as one line, without Markdown, and how many runs of invisible characters were removed."""
    cleaned, removed = clean_and_count((text or "")[:_MAX_TITLE_CHARS])
    return redact_likely_secrets(" ".join(cleaned.split())), removed


def _count_unused_definitions(markdown: str, page: str) -> int:
    """Return how many definitions of links and footnotes are used by none. What the page has word for word was code."""
    written: Counter[str] = Counter()
    for found in islice(_DEFINITION.finditer(markdown), _MAX_DEFINITIONS):
        start = next(iter((found[2] or "").split()), "")
        if f"[{found[1]}]: {start}".rstrip() not in page:
            written[_normalize(found[1])] += 1
    if not written:
        return 0
    used = Counter(_normalize(label) for label in _LABEL.findall(markdown))
    return sum(count - (used[label] > count) for label, count in written.items())


def _normalize(label: str) -> str:
    return " ".join(label.split()).casefold()


def _redact(blocks: list[Block]) -> list[Block]:
    # All blocks at once: a key with an empty line in it is in two blocks.
    text = "\n".join(block.text for block in blocks)
    redacted = redact_likely_secrets(text)
    if redacted == text:
        return blocks
    lines = iter(redacted.split("\n"))
    return [block.model_copy(update={"text": "\n".join(islice(lines, block.text.count("\n") + 1))}) for block in blocks]


def format_block(block: Block) -> str:
    if block.kind == "heading":
        return f"{'#' * block.level} {block.text}"
    if block.kind == "text":
        return block.text
    longest = max((len(run) for run in re.findall("`+", block.text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{block.language}\n{block.text}\n{fence}"


def _render_without_tags(text: str) -> tuple[str, int]:
    """HTML without tags and without the text after a tag that may hide it, and 1 when text was cut off, else 0."""
    tag = _HIDING_TAG.search(text)
    html = markdown_to_html(text[: tag.start()] if tag else text, raw_html=False)
    return html.replace(_OMITTED_HTML, ""), int(tag is not None)


def _flatten(html: str) -> tuple[str, int]:
    """All text on one line, without drawn blocks and formulas that hide text, and how many of them there were."""
    shown, drawn = _DRAWN_BLOCK.subn(" ", html)
    text = unescape(_ANY_TAG.sub(" ", shown))
    visible, formulas = strip_hiding_formulas(text, text, has_literal_dollar=True)
    return " ".join(visible.split()), drawn + formulas


def _close_text_elements(html: str) -> str:
    """Return HTML in which a start tag without an end tag does not hide the rest of the page, which GitHub shows."""
    lower = html.lower()
    last_end = {name: lower.rfind(f"</{name}") for name in _TEXT_ELEMENTS}

    def escape(tag: re.Match[str]) -> str:
        name = tag[1].lower()
        if tag.start() < last_end[name]:
            return "<"
        return "&lt;" if name in _FILTERED else "<unclosed-"

    return _START_TAG.sub(escape, html)
