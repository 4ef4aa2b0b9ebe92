"""Extracts what a person sees of untrusted Markdown, from the HTML that GitHub's parser makes of it."""

import re
from itertools import islice
from typing import Literal

from pydantic import Field
from selectolax.lexbor import LexborHTMLParser

from triage.domain.value import Value
from triage.read.visible_text.html_page import SHRINKING_TAGS, PageCollector
from triage.safety.clean_text import clean_and_count
from triage.safety.safe_markdown import is_costly_to_parse, markdown_to_html
from triage.safety.secrets.likely_secrets import redact_likely_secrets

_MAX_TAGS = 25_000
"""A table of 1,500 rows and four columns has 15,000. What follows is left out."""
_MAX_TITLE_CHARS = 1_024
"""GitHub allows 256; a file may start with anything."""
_TEMPLATE = re.compile("(</?)(?=template)", re.I)
_DECLARATION = re.compile(r"<!(?=doctype|\[cdata\[)", re.I)
_SHRINKING_TAG = re.compile(rf"<(?:{'|'.join(sorted(SHRINKING_TAGS))}|rp)\b", re.I)


class Block(Value):
    """A block of the page: text, a heading without `#`, or code without its fence."""

    kind: Literal["text", "heading", "code"]
    text: str
    language: str = ""
    level: int = 0
    """1 to 6 for a heading."""


class VisiblePage(Value):
    blocks: list[Block] = Field(default_factory=list)
    links: list[str] = Field(default_factory=list)
    pictures: list[str] = Field(default_factory=list)
    """Addresses, which a reader does not see."""
    comments: list[str] = Field(default_factory=list)
    """What HTML comments say, without repeated white space."""
    hidden_fragments: int = 0
    """Comments, runs of invisible characters, formulas, drawn blocks, links without words, and tiny text."""

    @property
    def text(self) -> str:
        return "\n\n".join(format_block(block) for block in self.blocks)


def extract_visible_page(markdown: str | None) -> VisiblePage:
    """Return the visible text of a body. Takes time linear in its length, and raises nothing."""
    text, invisible = clean_and_count(markdown)
    html, cut = markdown_to_html(text, raw_html=True), 0
    if is_costly_to_parse(html):
        html, cut = _render_without_tags(text)
    page = PageCollector(text)
    html = _TEMPLATE.sub(r"\1x-", html)  # A template would keep all that follows it out of the tree.
    html = _DECLARATION.sub("<!-", html)  # now a comment, even in a drawing
    if html.count("<") > _MAX_TAGS:
        html, cut = "<".join(html.split("<", _MAX_TAGS)[:-1]), cut + 1
    if (body := LexborHTMLParser(f"<body>{html}").body) is not None:
        page.collect(body)
    blocks, hidden = [], invisible + cut + page.hidden + len(page.comments)
    for draft in page.blocks:
        visible, removed = draft.visible_text()
        hidden += removed
        if visible.strip():
            blocks.append(Block(kind=draft.kind, text=visible, language=draft.language, level=draft.level))
    return VisiblePage(
        blocks=_redact(blocks),
        links=list(dict.fromkeys(map(redact_likely_secrets, page.links))),
        pictures=page.pictures,
        comments=page.comments,
        hidden_fragments=hidden,
    )


def extract_visible_line(text: str | None) -> tuple[str, int]:
    """Return a title as one line, without Markdown, and how many runs of invisible characters were removed."""
    cleaned, removed = clean_and_count((text or "")[:_MAX_TITLE_CHARS])
    return redact_likely_secrets(" ".join(cleaned.split())), removed


def _redact(blocks: list[Block]) -> list[Block]:
    """Mask likely secrets, in all blocks at once: a key with an empty line in it is in two blocks."""
    text = "\n".join(block.text for block in blocks)
    redacted = redact_likely_secrets(text)
    if redacted == text:
        return blocks
    lines = iter(redacted.split("\n"))
    return [block.model_copy(update={"text": "\n".join(islice(lines, block.text.count("\n") + 1))}) for block in blocks]


def format_block(block: Block) -> str:
    """Return a block as Markdown."""
    if block.kind == "heading":
        return f"{'#' * block.level} {block.text}"
    if block.kind == "text":
        return block.text
    longest = max((len(run) for run in re.findall("`+", block.text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{block.language}\n{block.text}\n{fence}"


def _render_without_tags(text: str) -> tuple[str, int]:
    """HTML without tags and without the text after one that may hide it, and 1 when text was cut off, else 0."""
    tag = _SHRINKING_TAG.search(text)
    html = markdown_to_html(text[: tag.start()] if tag else text, raw_html=False)
    return html.replace("<!-- raw HTML omitted -->", ""), int(tag is not None)
