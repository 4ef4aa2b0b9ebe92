"""What a person sees of untrusted Markdown. GitHub's parser makes HTML of it; the shown text is taken out."""

import re
from collections import Counter
from html import unescape
from typing import Literal

from pydantic import Field
from selectolax.lexbor import LexborHTMLParser

from triage.domain.text import clean, is_costly, to_html
from triage.domain.value import Value
from triage.reading.page import PageWriter

BlockKind = Literal["text", "heading", "code"]

_SWALLOWING = ("script", "style", "title", "textarea", "xmp", "iframe", "noembed", "noframes", "plaintext", "template")
"""Elements that take everything up to their end tag as their own content. Unclosed, GitHub shows them as words."""
_MAX_TAGS = 60_000
_ANY_TAG = re.compile(r"<[^<>]*>")
_OPENING = re.compile(rf"<(?=({'|'.join(_SWALLOWING)})\b)", re.I)
_HIDING_TAG = re.compile(r"<[a-z][^<>]{0,300}(?:\shidden\b|display\s{0,9}:\s{0,9}none|aria-hidden)[^<>]{0,300}", re.I)
_DEFINITION = re.compile(r"^ {0,3}\[([^\[\]\n]{1,300})\]:[ \t]*(\S[^\n]*)", re.M)
_LABEL = re.compile(r"\[([^\[\]\n]{1,300})\]")


class Block(Value):
    """A piece of the page: text without fences, a heading without `#`, or code without its fence."""

    kind: BlockKind
    text: str
    language: str = ""
    level: int = 0
    """1 to 6 for a heading."""


class Visible(Value):
    """The shown text in order, and how many pieces were taken out."""

    blocks: list[Block] = Field(default_factory=list)
    links: list[str] = Field(default_factory=list)
    """Targets of links and images, in order, without repeats."""
    hidden_fragments: int = 0

    @property
    def text(self) -> str:
        """All blocks as Markdown: headings with `#`, code in fences longer than any run of backticks inside."""
        return "\n\n".join(shown(block) for block in self.blocks)


def visible(markdown: str | None) -> Visible:
    """Take the visible text out of a body. Linear in its length; nothing in it makes this raise."""
    text, invisible = clean(markdown)
    html = to_html(text, raw_html=True)
    if is_costly(html):
        html = to_html(_before_hiding(text), raw_html=False)
    if html.count("<") > _MAX_TAGS:
        return Visible(blocks=_as_words(to_html(_before_hiding(text), raw_html=False)), hidden_fragments=invisible)
    page = PageWriter(text)
    document = LexborHTMLParser(f"<body>{_unswallowed(html)}")
    if document.body is not None:
        page.write(document.body)
    blocks = [
        Block(kind=piece.kind, text=piece.text, language=piece.language, level=piece.level) for piece in page.pieces
    ]
    return Visible(
        blocks=blocks,
        links=list(dict.fromkeys(page.links)),
        hidden_fragments=invisible + page.hidden + _unused_definitions(text, blocks),
    )


def visible_line(text: str | None) -> tuple[str, int]:
    """A title: no Markdown, one line. Also the number of invisible runs taken out."""
    cleaned, removed = clean(text)
    return " ".join(cleaned.split()), removed


def shown(block: Block) -> str:
    """The block as Markdown."""
    if block.kind == "heading":
        return f"{'#' * block.level} {block.text}"
    if block.kind == "text":
        return block.text
    longest = max((len(run) for run in re.findall("`+", block.text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{block.language}\n{block.text}\n{fence}"


def _as_words(page: str) -> list[Block]:
    """The page's words in one block, where there are more tags than anybody writes."""
    words = unescape(_ANY_TAG.sub(" ", page)).split()
    return [Block(kind="text", text=" ".join(words))] if words else []


def _before_hiding(text: str) -> str:
    """Text up to the first tag that hides what follows: where tags are not read, nothing may slip out of one."""
    tag = _HIDING_TAG.search(text)
    return text[: tag.start()] if tag else text


def _unswallowed(html: str) -> str:
    """HTML in which a tag without its end tag cannot make the rest of the page its content."""
    lower = html.lower()
    last_end = {name: lower.rfind(f"</{name}") for name in _SWALLOWING}
    return _OPENING.sub(lambda tag: "<" if tag.start() < last_end[tag[1].lower()] else "&lt;", html)


def _unused_definitions(text: str, blocks: list[Block]) -> int:
    """Link definitions that no link uses: a known way to write what no reader sees."""
    definitions = _DEFINITION.findall(text)
    if not definitions:
        return 0
    uses = Counter(" ".join(label.split()).casefold() for label in _LABEL.findall(text))
    page = "\n".join(block.text for block in blocks)
    return sum(
        1
        for label, rest in definitions
        if uses[" ".join(label.split()).casefold()] < 2 and f"[{label}]: {rest.split()[0]}" not in page
    )
