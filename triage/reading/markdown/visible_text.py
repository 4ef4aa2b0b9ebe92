"""What a person sees of untrusted Markdown. GitHub's parser makes HTML of it; the shown text is taken out."""

import re
from html import unescape
from itertools import islice
from typing import Literal

from pydantic import Field
from selectolax.lexbor import LexborHTMLParser

from triage.domain.value import Value
from triage.reading.markdown.hidden_html import HIDDEN_TAGS, SHRINKING_TAGS
from triage.reading.markdown.hidden_markdown import count_unrendered
from triage.reading.markdown.html_page import PageWriter
from triage.reading.markdown.text_blocks import BlockDraft
from triage.secrets.likely_secrets import redact_likely_secrets
from triage.text.clean_text import clean_and_count
from triage.text.markdown_html import is_costly_to_parse, markdown_to_html
from triage.text.word_set import word_set

BlockKind = Literal["text", "heading", "code"]

_FILTERED = word_set("script style title textarea xmp iframe noembed noframes plaintext")
"""Elements of which GitHub shows the tags as words."""
_SWALLOWING = sorted(_FILTERED | HIDDEN_TAGS)
_MAX_TAGS = 25_000
"""A table of 1,500 rows and four columns has 15,000."""
_MAX_TITLE_CHARS = 1_024
"""GitHub takes 256; a report from a file may begin with anything."""
_DOCTYPE = re.compile("<!doctype", re.I)
_ANY_TAG = re.compile(r"<[^<>]*>")
_OPENING = re.compile(rf"<(?=({'|'.join(_SWALLOWING)})\b)", re.I)
_HIDING_TAG = re.compile(
    rf"<(?:(?:{'|'.join(sorted(HIDDEN_TAGS | SHRINKING_TAGS))})\b|(?!(?:img|br|hr|wbr)\b)[a-z][\w-]*[\s/])", re.I
)
"""A tag that hides, or that may: with attributes, which are not read where this is asked."""
_OMITTED = "<!-- raw HTML omitted -->"


class Block(Value):
    """A piece of the page: text without fences, a heading without `#`, or code without its fence."""

    kind: BlockKind
    text: str
    language: str = ""
    level: int = 0
    """1 to 6 for a heading."""


class VisiblePage(Value):
    """The shown text in order, and how many pieces were taken out."""

    blocks: list[Block] = Field(default_factory=list)
    links: list[str] = Field(default_factory=list)
    """Targets of links and images, in order, without repeats."""
    hidden_fragments: int = 0

    @property
    def text(self) -> str:
        """All blocks as Markdown: headings with `#`, code in fences longer than any run of backticks inside."""
        return "\n\n".join(format_block(block) for block in self.blocks)


def extract_visible_page(markdown: str | None) -> VisiblePage:
    """Take the visible text out of a body. Linear in its length; nothing in it makes this raise."""
    text, invisible = clean_and_count(markdown)
    html, cut = markdown_to_html(text, raw_html=True), 0
    if is_costly_to_parse(html) or html.count("<") > _MAX_TAGS:
        html, cut = _without_tags(text)
    page = PageWriter(text)
    if html.count("<") > _MAX_TAGS:
        page.pieces.append(BlockDraft("text", [" ".join(unescape(_ANY_TAG.sub(" ", html)).split())]))
    elif (body := LexborHTMLParser(f"<body>{_unswallowed(html)}").body) is not None:
        page.write(body)
    blocks, hidden = [], invisible + cut + page.hidden + len(_DOCTYPE.findall(html))
    for piece in page.pieces:
        seen, removed = piece.visible_text()
        hidden += removed
        if seen.strip():
            blocks.append(Block(kind=piece.kind, text=seen, language=piece.language, level=piece.level))
    return VisiblePage(
        blocks=_without_secrets(blocks),
        links=list(dict.fromkeys(map(redact_likely_secrets, page.links))),
        hidden_fragments=hidden + count_unrendered(text, "\n".join(block.text for block in blocks)),
    )


def extract_visible_line(text: str | None) -> tuple[str, int]:
    """A title: no Markdown, one line, secrets masked. Also the number of invisible runs taken out."""
    cleaned, removed = clean_and_count((text or "")[:_MAX_TITLE_CHARS])
    return redact_likely_secrets(" ".join(cleaned.split())), removed


def _without_secrets(blocks: list[Block]) -> list[Block]:
    """Secrets masked in all blocks at once: an empty line inside a key makes two blocks of it."""
    text = "\n".join(block.text for block in blocks)
    seen = redact_likely_secrets(text)
    if seen == text:
        return blocks
    lines = iter(seen.split("\n"))
    return [block.model_copy(update={"text": "\n".join(islice(lines, block.text.count("\n") + 1))}) for block in blocks]


def format_block(block: Block) -> str:
    """The block as Markdown."""
    if block.kind == "heading":
        return f"{'#' * block.level} {block.text}"
    if block.kind == "text":
        return block.text
    longest = max((len(run) for run in re.findall("`+", block.text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{block.language}\n{block.text}\n{fence}"


def _without_tags(text: str) -> tuple[str, int]:
    """HTML of a page with more tags than anybody writes: they are left out, and what follows one that hides as well.

    Also 1 when something was cut off so, else 0.
    """
    tag = _HIDING_TAG.search(text)
    html = markdown_to_html(text[: tag.start()] if tag else text, raw_html=False)
    return html.replace(_OMITTED, ""), int(tag is not None)


def _unswallowed(html: str) -> str:
    """HTML in which a tag without its end tag cannot make the rest of the page its content: GitHub shows that."""
    lower = html.lower()
    last_end = {name: lower.rfind(f"</{name}") for name in _SWALLOWING}

    def opened(tag: re.Match[str]) -> str:
        name = tag[1].lower()
        if tag.start() < last_end[name]:
            return "<"
        return "&lt;" if name in _FILTERED else "<unclosed-"

    return _OPENING.sub(opened, html)
