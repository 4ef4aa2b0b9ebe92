"""Collects blocks of visible text from a parsed HTML page."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from selectolax.lexbor import LexborNode

from triage.base.text import word_set
from triage.read.visible_text.hidden_text import (
    DRAWN_LANGUAGES,
    MASK,
    image_origin,
    known_language,
    strip_formulas,
    visible_link_target,
)
from triage.safety.clean_text import clean_and_count, clean_text

SHRINKING_TAGS = word_set("sub sup small")
_MAX_SHRINKING_TAGS = 3
"""Nested in each other. The fourth makes text a third of its size, about four pixels."""
_BLOCK_TAGS = word_set(
    "p div blockquote ul ol li table thead tbody tr details summary section article header footer main aside nav "
    "dl dt dd figure figcaption center address form fieldset hr"
)
_ONLY_BLOCKS_INSIDE = word_set("body ul ol table thead tbody tr blockquote details section dl")
_LIST_MARK = re.compile(r"\s*(?:-|\d+\.) (?:\[[ x]\] *)?")
PICTURE = "[picture]"
"""Stands in the text for a picture: its description is not seen by a reader of the page."""
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_SPACES = re.compile(r"[ \t]{2,}|\t")
_UNDERSCORED = re.compile(r"(?<!\w)_{1,2}[A-Za-z]\w{0,80}(?<=_)")
_MAX_LINK_CHARS = 300
_MAX_HEADING_CHARS = 80
_MAX_UNDERLINED_CHARS = 200
"""Markdown makes a heading of a whole paragraph above a line of dashes; a longer one is not meant as one."""
_MAX_INDENT = 8
_MAX_QUOTES = 3
"""Markdown makes three quotes of a Python prompt. Deeper marks would only repeat on every line."""
_REPEATED_SPACES = re.compile(r"(?<=\S) {2,}|(?<=^ {16}) +", re.M)
"""Runs of spaces, also from entities, except the indents of our lists."""
_EMPTY_LINES = re.compile(r"\n{3,}")
"""Many `<br>` would make patterns that begin with white space slow."""


class _CodeSpan(str):
    """A code span as Markdown, in which no formula begins or ends."""

    __slots__ = ()


@dataclass
class BlockDraft:
    kind: Literal["text", "heading", "code"]
    parts: list[str]
    language: str = ""
    level: int = 0

    def visible_text(self) -> tuple[str, int]:
        """Return the lines of all parts, and how many runs of invisible characters were removed from them."""
        text, removed = clean_and_count("\n".join(self.parts))
        if self.kind == "heading":
            return " ".join(text.split()), removed
        lines = (line.rstrip() for line in text.split("\n"))
        if self.kind == "code":
            return "\n".join(lines).strip("\n"), removed
        return _EMPTY_LINES.sub("\n\n", _REPEATED_SPACES.sub(" ", "\n".join(lines))), removed


@dataclass
class PageCollector:
    """Collects the blocks, links and comments of a page. Does not recurse, so depth costs no stack.

    As GitHub's sanitizer does (`sanitization_filter.rb` of html-pipeline), it passes over styles and unknown elements,
    and keeps the words in them.
    """

    source: str
    """The Markdown. `__name__` and `**name**` look the same in HTML."""
    blocks: list[BlockDraft] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    pictures: list[str] = field(default_factory=list)
    """Their addresses, which a reader does not see."""
    comments: list[str] = field(default_factory=list)
    """Without repeated white space."""
    hidden: int = 0
    """Formulas, drawn blocks, text that is too small to read, and links without words."""
    _buffer: list[str] = field(default_factory=list)
    _list_marks: list[str] = field(default_factory=list)
    """One per open list: `-`, or the next number."""
    _open_quotes: int = 0
    _open_tables: int = 0
    _open_shrinking: int = 0
    _link_words: list[str] = field(default_factory=list)
    """What is visible, images too, since a link was opened."""
    _underscored: set[str] = field(default_factory=set)
    _continues: bool = False
    """Whether the next text follows without an empty line: rows of a table, items of a list."""

    def __post_init__(self) -> None:
        self._underscored.update(_UNDERSCORED.findall(self.source))

    def collect(self, root: LexborNode) -> None:
        self._walk(root, self._add_text, self._open_element, self._close_element)
        self._flush()

    def _walk(
        self,
        root: LexborNode,
        add_text: Callable[[LexborNode], None],
        enter: Callable[[LexborNode], bool],
        leave: Callable[[LexborNode], None],
    ) -> None:
        """Go through what is visible below a node, and count what is not."""
        stack: list[tuple[LexborNode, bool]] = [(root, False)]
        while stack:
            node, is_leaving = stack.pop()
            if is_leaving:
                self._open_shrinking -= node.tag in SHRINKING_TAGS
                leave(node)
            elif node.is_text_node:
                add_text(node)
            elif not self._is_hidden(node) and enter(node):
                self._open_shrinking += node.tag in SHRINKING_TAGS
                stack.append((node, True))
                children = []
                child = node.child
                while child is not None:
                    children.append((child, False))
                    child = child.next
                stack.extend(reversed(children))

    def _is_hidden(self, node: LexborNode) -> bool:
        """Return whether nobody sees the node, and count it or remember its comment then."""
        if not node.is_element_node or node.tag is None:
            self.comments.append(" ".join((node.comment_content or "").split()) if node.is_comment_node else "")
            return True
        is_tiny = node.tag in SHRINKING_TAGS and self._open_shrinking >= _MAX_SHRINKING_TAGS
        self.hidden += is_tiny or node.tag == "rp"
        return is_tiny or node.tag == "rp"

    def _open_element(self, node: LexborNode) -> bool:
        """Write what stands where an element begins. Return whether what is inside comes next."""
        tag = node.tag or ""
        if tag == "pre":
            self._add_code_block(node)
            return False
        if tag == "code":
            self._add_inline_code(node)
            return False
        if tag == "img":
            self._link_words.append(tag)
            self._add_picture((node.attributes.get("src") or "").strip())
            return False
        if tag == "a":
            self._link_words.clear()
        elif tag == "br":
            self._buffer.append("\n")
        elif tag == "input":
            self._buffer.append("[x] " if "checked" in node.attributes else "[ ] ")
        elif tag in _HEADINGS:
            self._flush()
        elif tag in _BLOCK_TAGS:
            self._open_block(node, tag)
        return True

    def _open_block(self, node: LexborNode, tag: str) -> None:
        """Begin a block, which a list, a quote or a table may be part of."""
        if not self._has_only_list_mark():  # a paragraph at the start of a list item stays on the mark's line
            self._flush()
        if tag in ("ul", "ol"):
            self._list_marks.append("-" if tag == "ul" else _read_start(node))
        elif tag == "li":
            self._buffer.append(self._next_list_mark())
        elif tag == "blockquote":
            self._open_quotes += 1
        elif tag == "table":
            self._open_tables += 1

    def _close_element(self, node: LexborNode) -> None:
        """Write what stands where an element ends, or end its block."""
        tag = node.tag or ""
        if tag in _HEADINGS:
            self._flush("heading", _HEADINGS[tag])
        elif tag == "a":
            self._close_link(node)
        elif tag in ("strong", "b", "em"):
            self._restore_underscores(node, "_" if tag == "em" else "__")
            if tag != "em":
                self._flush_bold_heading(node)
        elif tag in ("td", "th"):
            self._buffer.append(" | ")
        elif tag in _BLOCK_TAGS:
            self._flush()
            self._close_block(tag)

    def _close_block(self, tag: str) -> None:
        if tag in ("ul", "ol"):
            self._list_marks.pop()
        elif tag == "blockquote":
            self._open_quotes -= 1
        elif tag == "table":
            self._open_tables -= 1
        if not self._is_in_rows:
            self._continues = False

    def _add_text(self, node: LexborNode) -> None:
        """Write text with its blanks as a browser shows them."""
        text = node.text_content or ""
        is_between_blocks = node.parent and node.parent.tag in _ONLY_BLOCKS_INSIDE
        if not text.strip() and (is_between_blocks or self._has_only_list_mark()):
            return
        if self._buffer and self._buffer[-1].endswith("\n"):
            text = text.removeprefix("\n")
        self._buffer.append(_SPACES.sub(" ", text))
        self._link_words.append(text)

    def _has_only_list_mark(self) -> bool:
        if not self._list_marks or not 1 <= len(self._buffer) <= 3:
            return False
        return bool(_LIST_MARK.fullmatch("".join(self._buffer)))

    def _next_list_mark(self) -> str:
        if not self._list_marks:
            return "- "
        mark = self._list_marks[-1]
        indent = "  " * min(len(self._list_marks) - 1, _MAX_INDENT)
        if mark == "-":
            return f"{indent}- "
        self._list_marks[-1] = str(int(mark) + 1)
        return f"{indent}{mark}. "

    def _add_code_block(self, node: LexborNode) -> None:
        self._flush()
        language = known_language(node.attributes.get("lang") or "")
        text = self._read_code(node)
        if language.lower() in DRAWN_LANGUAGES:
            self.hidden += 1
        elif text.strip():
            self.blocks.append(BlockDraft("code", [text], language))
            self._link_words.append(text)

    def _add_inline_code(self, node: LexborNode) -> None:
        text = " ".join(clean_text(self._read_code(node)).split())
        fence, pad = ("``", " ") if "`" in text else ("`", "")
        if text:
            self._buffer.append(_CodeSpan(f"{fence}{pad}{text}{pad}{fence}"))
            self._link_words.append(text)

    def _read_code(self, code: LexborNode) -> str:
        pieces: list[str] = []

        def enter(node: LexborNode) -> bool:
            pieces.append("\n" if node.tag == "br" else "")
            return True

        self._walk(code, lambda node: pieces.append(node.text_content or ""), enter, lambda _: None)
        return "".join(pieces)

    def _close_link(self, node: LexborNode) -> None:
        """Adds the target after the link's text. A link without visible text is hidden."""
        url = (node.attributes.get("href") or "").strip()
        if not url or url.startswith("#"):
            return
        words = "".join(self._link_words)
        text = clean_text(strip_formulas(words, words)[0]).strip()
        if not text:
            self.hidden += 1
            return
        self._add_link(url)
        if url.removeprefix("mailto:").removeprefix("http://") != text.removeprefix("http://"):
            target = visible_link_target(url)
            self._buffer.append(f" ({target})" if target else "")

    def _add_picture(self, url: str) -> None:
        self._buffer.append(PICTURE)
        self._add_link(image_origin(url))
        self.pictures.append(url)

    def _add_link(self, url: str) -> None:
        if url and not url.startswith("data:"):
            self.links.append(clean_text(url).strip()[:_MAX_LINK_CHARS])

    def _restore_underscores(self, node: LexborNode, marks: str) -> None:
        """Restores the underscores of a name like `__init__`, which Markdown takes for emphasis."""
        words = node.child
        if words is None or words.next is not None or not self._buffer:
            return
        name = self._buffer[-1]
        written = f"{marks}{name}{marks}"
        if name.isidentifier() and written in self._underscored:
            self._buffer[-1] = written

    def _flush_bold_heading(self, node: LexborNode) -> None:
        """Makes a heading of a bold line that begins a paragraph, as many people mean it, or ends an answer."""
        after = node.next
        is_last = after is None or (after.is_text_node and (after.text_content or "").startswith(("\n", ":\n")))
        if self._is_in_rows or not is_last or not self._buffer:
            return
        first, before, heading = self._buffer[0], self._buffer[:-1][-1:], self._buffer[-1]
        # After another heading the paragraph goes on in a new line. The first one is its answer, in bold or not.
        is_below = first.startswith(("\n", ":\n")) and before[-1:] != [first] and before[0].endswith("\n")
        if (not before or (is_below and ": " not in heading)) and 0 < len(heading.strip()) <= _MAX_HEADING_CHARS:
            self._buffer.pop()
            self._flush()
            self._buffer.append(heading)
            self._flush("heading", 6)

    def _flush(self, kind: Literal["text", "heading"] = "text", level: int = 0) -> None:
        """Make a block of what was written since the last one, if it is more than the mark of a list."""
        joined = self._join_words()
        self._buffer.clear()
        text = "\n".join(line.rstrip().removesuffix(" |") for line in joined.split("\n")).strip("\n")
        if not text.strip() or _LIST_MARK.fullmatch(text + " "):
            return
        if kind == "heading" and len(text) <= _MAX_UNDERLINED_CHARS:
            self.blocks.append(BlockDraft(kind, [" ".join(text.split())], level=level))
            return
        if self._open_quotes:
            text = "\n".join(f"{'>' * min(self._open_quotes, _MAX_QUOTES)} {line}" for line in text.split("\n"))
        if self._continues and self.blocks and self.blocks[-1].kind == "text":
            self.blocks[-1].parts.append(text)
        else:
            self.blocks.append(BlockDraft("text", [text]))
        self._continues = self._is_in_rows

    def _join_words(self) -> str:
        """Return all words without formulas that may hide text."""
        masked = "".join(MASK * len(word) if isinstance(word, _CodeSpan) else word for word in self._buffer)
        text, found = strip_formulas("".join(self._buffer), masked)
        self.hidden += found
        return text

    @property
    def _is_in_rows(self) -> bool:
        return bool(self._list_marks) or self._open_tables > 0


def _read_start(node: LexborNode) -> str:
    """Return the first number of a list, which Markdown keeps."""
    start = node.attributes.get("start") or ""
    return start if re.fullmatch(r"\d{1,9}", start, re.ASCII) else "1"
