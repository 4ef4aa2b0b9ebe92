"""From a parsed HTML page to pieces of text, the way a reader's eye takes them."""

import re
from dataclasses import dataclass, field
from typing import Literal

from selectolax.lexbor import LexborNode

from triage.reading.markdown import hidden_html
from triage.reading.markdown.html_in_code import read_code_block, read_inline_code
from triage.reading.markdown.text_blocks import BlockDraft, CodeSpan, join_words
from triage.text.clean_text import clean_text
from triage.text.word_set import word_set

_BLOCK_TAGS = word_set(
    "p div blockquote ul ol li table thead tbody tr details summary section article header footer main aside nav "
    "dl dt dd figure figcaption center address form fieldset hr"
)
_ONLY_BLOCKS_INSIDE = word_set("body ul ol table thead tbody tr blockquote details section dl")
_BARE_MARK = re.compile(r"\s*(?:-|\d+\.) (?:\[[ x]\] *)?")
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_SPACES = re.compile(r"[ \t]{2,}|\t")
_UNDERSCORED = re.compile(r"(?<!\w)_{1,2}[A-Za-z]\w{0,80}(?<=_)")
_MAX_LINK_CHARS = 300
_MAX_HEADING_CHARS = 80
_MAX_UNDERLINED_CHARS = 200
"""Markdown takes a whole paragraph above a line of dashes for a heading; nobody means one of this length."""
_MAX_INDENT = 8
_MAX_QUOTES = 3
"""As many as a Python prompt has, which Markdown takes for quotes; deeper marks would only repeat on every line."""


@dataclass
class PageWriter:
    """Walks the tree without recursion, so that depth costs no stack."""

    source: str
    """The Markdown: tells `__name__` from `**name**`, which look the same in HTML."""
    pieces: list[BlockDraft] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    hidden: int = 0
    _buffer: list[str] = field(default_factory=list)
    _marks: list[str] = field(default_factory=list)
    """One per open list; `-`, or the next number."""
    _quotes: int = 0
    _tables: int = 0
    _shrunk: int = 0
    """Elements around that make text smaller."""
    _links: list[int] = field(default_factory=list)
    """One per open link: how much had been shown before it."""
    _shown: int = 0
    """Pieces of text and pictures so far."""
    _underscored: set[str] = field(default_factory=set)
    _continues: bool = False
    """The next piece belongs under the last one without an empty line: rows of a table, items of a list."""

    def __post_init__(self) -> None:
        self._underscored.update(_UNDERSCORED.findall(self.source))

    def write(self, root: LexborNode) -> None:
        """Write everything visible under the node."""
        stack: list[tuple[LexborNode, bool]] = [(root, False)]
        while stack:
            node, leaving = stack.pop()
            if leaving:
                self._leave(node)
                continue
            if not self._enter(node):
                continue
            stack.append((node, True))
            children = []
            child = node.child
            while child is not None:
                children.append((child, False))
                child = child.next
            stack.extend(reversed(children))
        self._flush()

    def _enter(self, node: LexborNode) -> bool:
        """Open the node; false when there is nothing of interest inside."""
        if node.is_text_node:
            self._words(node)
            return False
        tag = node.tag
        if not node.is_element_node or tag is None:
            self.hidden += 1
            return False
        attributes = node.attributes
        shrinks = tag in hidden_html.SHRINKING_TAGS
        if hidden_html.is_hidden(tag, attributes) or (shrinks and self._shrunk >= hidden_html.MAX_SHRINKING_TAGS):
            self.hidden += 1
            return False
        self._shrunk += shrinks
        self.hidden += hidden_html.count_hidden_attributes(attributes)
        return self._open(tag, node)

    def _open(self, tag: str, node: LexborNode) -> bool:
        if tag == "pre":
            self._code_block(node)
            return False
        if tag == "code":
            self._inline_code(node)
            return False
        if tag == "img":
            self._shown += 1
            self._link(hidden_html.image_origin(node.attributes.get("src") or ""))
            return False
        if tag == "a":
            self._links.append(self._shown)
        elif tag == "br":
            self._buffer.append("\n")
        elif tag == "input":
            self._buffer.append("[x] " if "checked" in node.attributes else "[ ] ")
        elif tag in _HEADINGS:
            self._flush()
        elif tag in _BLOCK_TAGS:
            self._open_block(tag)
        return True

    def _open_block(self, tag: str) -> None:
        self._flush_unless_item()
        if tag in ("ul", "ol"):
            self._marks.append("-" if tag == "ul" else "1")
        elif tag == "li":
            self._buffer.append(self._mark())
        elif tag == "blockquote":
            self._quotes += 1
        elif tag == "table":
            self._tables += 1

    def _leave(self, node: LexborNode) -> None:
        tag = node.tag or ""
        self._shrunk -= tag in hidden_html.SHRINKING_TAGS
        if tag in _HEADINGS:
            self._flush("heading", _HEADINGS[tag])
        elif tag == "a":
            self._close_link(node)
        elif tag in ("strong", "b", "em"):
            self._restore_underscores(node, "_" if tag == "em" else "__")
            self._bold_heading(node, tag)
        elif tag in ("td", "th"):
            self._buffer.append(" | ")
        elif tag in _BLOCK_TAGS:
            self._flush()
            self._close_block(tag)

    def _close_block(self, tag: str) -> None:
        if tag in ("ul", "ol"):
            self._marks.pop()
        elif tag == "blockquote":
            self._quotes -= 1
        elif tag == "table":
            self._tables -= 1
        if not self._in_rows:
            self._continues = False

    def _words(self, node: LexborNode) -> None:
        text = node.text_content or ""
        if not text.strip() and (self._is_bare_mark() or (node.parent and node.parent.tag in _ONLY_BLOCKS_INSIDE)):
            return
        if self._buffer and self._buffer[-1].endswith("\n"):
            text = text.removeprefix("\n")
        self._shown += bool(text.strip() and clean_text(text).strip())
        self._buffer.append(_SPACES.sub(" ", text))

    def _is_bare_mark(self) -> bool:
        return bool(self._marks) and 1 <= len(self._buffer) <= 3 and bool(_BARE_MARK.fullmatch("".join(self._buffer)))

    def _mark(self) -> str:
        if not self._marks:
            return "- "
        mark = self._marks[-1]
        indent = "  " * min(len(self._marks) - 1, _MAX_INDENT)
        if mark == "-":
            return f"{indent}- "
        self._marks[-1] = str(int(mark) + 1)
        return f"{indent}{mark}. "

    def _code_block(self, node: LexborNode) -> None:
        self._flush()
        language, text, hidden = read_code_block(node)
        self.hidden += hidden
        if text.strip():
            self.pieces.append(BlockDraft("code", [text], language))

    def _inline_code(self, node: LexborNode) -> None:
        code, hidden = read_inline_code(node, in_formula=bool(self._buffer) and self._buffer[-1].endswith("$"))
        self.hidden += hidden
        if code:
            self._shown += 1
            self._buffer.append(CodeSpan(code))

    def _close_link(self, node: LexborNode) -> None:
        """A link's address is told beside its words, but for a link without words: nobody sees that it is there."""
        before = self._links.pop()
        address = (node.attributes.get("href") or "").strip()
        if not address or address.startswith("#"):
            return
        if self._shown == before:
            self.hidden += 1
            return
        self._link(address)
        text = node.text(deep=True).strip()
        if address.removeprefix("mailto:").removeprefix("http://") != text.removeprefix("http://"):
            told = hidden_html.visible_link_target(address)
            self._buffer.append(f" ({told})" if told else "")

    def _link(self, address: str) -> None:
        if address and not address.startswith("data:"):
            self.links.append(clean_text(address).strip()[:_MAX_LINK_CHARS])

    def _restore_underscores(self, node: LexborNode, marks: str) -> None:
        """Put back the underscores of a name like `__init__` that was written without code marks."""
        words = node.child
        if words is None or words.next is not None or not self._buffer:
            return
        name = self._buffer[-1]
        written = f"{marks}{name}{marks}"
        if name.isidentifier() and written in self._underscored:
            self._buffer[-1] = written

    def _bold_heading(self, node: LexborNode, tag: str) -> None:
        """A bold line at the start of a paragraph is how many people and templates write a heading."""
        if tag == "em" or len(self._buffer) != 1 or self._in_rows or not _stands_alone(node):
            return
        if 0 < len(self._buffer[0].strip()) <= _MAX_HEADING_CHARS:
            self._flush("heading", 6)

    def _flush_unless_item(self) -> None:
        """A paragraph straight after a list's mark belongs on the mark's line."""
        if not self._is_bare_mark():
            self._flush()

    def _flush(self, kind: Literal["text", "heading"] = "text", level: int = 0) -> None:
        raw, hiding = join_words(self._buffer)
        self.hidden += hiding
        self._buffer.clear()
        text = "\n".join(line.rstrip().removesuffix(" |") for line in raw.split("\n")).strip("\n")
        if not text.strip() or _BARE_MARK.fullmatch(text + " "):
            return
        if kind == "heading" and len(text) <= _MAX_UNDERLINED_CHARS:
            self.pieces.append(BlockDraft(kind, [" ".join(text.split())], level=level))
            return
        if self._quotes:
            text = "\n".join(f"{'>' * min(self._quotes, _MAX_QUOTES)} {line}" for line in text.split("\n"))
        if self._continues and self.pieces and self.pieces[-1].kind == "text":
            self.pieces[-1].parts.append(text)
        else:
            self.pieces.append(BlockDraft("text", [text]))
        self._continues = self._in_rows > 0

    @property
    def _in_rows(self) -> int:
        return len(self._marks) + self._tables


def _stands_alone(node: LexborNode) -> bool:
    """Whether bold words fill their own line."""
    after = node.next
    return after is None or (after.is_text_node and (after.text_content or "").startswith(("\n", ":\n")))
