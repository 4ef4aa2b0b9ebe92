"""From a parsed HTML page to pieces of text, the way a reader's eye takes them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from selectolax.lexbor import LexborNode

from triage.domain.text import word_set

_HIDDEN_TAGS = word_set("script style template noscript head title svg math object iframe video audio textarea")
_BLOCK_TAGS = word_set(
    "p div blockquote ul ol li table thead tbody tr details summary section article header footer main aside nav "
    "dl dt dd figure figcaption center address form fieldset hr"
)
_ONLY_BLOCKS_INSIDE = word_set("body ul ol table thead tbody tr blockquote details section dl")
_BARE_MARK = re.compile(r"\s*(?:-|\d+\.) (?:\[[ x]\] *)?")
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_UNSEEN_STYLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*0(?![.\d]*[1-9])|font-size\s*:\s*0(?![.\d]*[1-9])", re.I
)
_UNDERSCORED = re.compile(r"(?<!\w)_{1,2}[A-Za-z]\w{0,80}(?<=_)")
_LANGUAGE = re.compile(r"[\w+#.-]{1,30}")
_MAX_TARGET_CHARS = 300
_MAX_HEADING_CHARS = 80
_MAX_UNDERLINED_CHARS = 200
"""Markdown takes a whole paragraph above a line of dashes for a heading; nobody means one of this length."""
_MAX_INDENT = 8
_MAX_QUOTES = 3
"""As many as a Python prompt has, which Markdown takes for quotes; deeper marks would only repeat on every line."""
_MANY_WORDS = 4
"""A picture's description or a tooltip of more words than this says something of its own."""


@dataclass
class Piece:
    """A block under way."""

    kind: Literal["text", "heading", "code"]
    parts: list[str]
    language: str = ""
    level: int = 0

    @property
    def text(self) -> str:
        """All parts, one under the other."""
        return "\n".join(self.parts)


@dataclass
class PageWriter:
    """Walks the tree without recursion, so that depth costs no stack."""

    source: str
    """The Markdown: tells `__name__` from `**name**`, which look the same in HTML."""
    pieces: list[Piece] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    hidden: int = 0
    _buffer: list[str] = field(default_factory=list)
    _marks: list[str] = field(default_factory=list)
    """One per open list; `-`, or the next number."""
    _quotes: int = 0
    _tables: int = 0
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
        if tag in _HIDDEN_TAGS or _is_unseen(attributes):
            self.hidden += 1
            return False
        self.hidden += sum(len((attributes.get(told) or "").split()) > _MANY_WORDS for told in ("alt", "title"))
        return self._open(tag, node)

    def _open(self, tag: str, node: LexborNode) -> bool:
        if tag == "pre":
            self._code_block(node)
            return False
        if tag == "code":
            self._inline_code(node)
            return False
        if tag == "img":
            self._target(node.attributes.get("src"))
            return False
        if tag == "br":
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
        self._buffer.append(text)

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
        language = _LANGUAGE.match(node.attributes.get("lang") or "")
        text = node.text(deep=True).strip("\n")
        if text.strip():
            self.pieces.append(Piece("code", [text], language[0] if language else ""))

    def _inline_code(self, node: LexborNode) -> None:
        text = " ".join(node.text(deep=True).split())
        if text:
            fence = "``" if "`" in text else "`"
            pad = " " if "`" in text else ""
            self._buffer.append(f"{fence}{pad}{text}{pad}{fence}")

    def _close_link(self, node: LexborNode) -> None:
        target = (node.attributes.get("href") or "").strip()
        text = node.text(deep=True).strip()
        if not target or target.startswith("#"):
            return
        self._target(target)
        if target.removeprefix("mailto:").removeprefix("http://") != text.removeprefix("http://"):
            self._buffer.append(f" ({target[:_MAX_TARGET_CHARS]})")

    def _target(self, target: str | None) -> None:
        if target and not target.startswith("data:"):
            self.links.append(target.strip()[:_MAX_TARGET_CHARS])

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
        raw = "".join(self._buffer)
        self._buffer.clear()
        text = "\n".join(line.rstrip().removesuffix(" |") for line in raw.split("\n")).strip("\n")
        if not text.strip() or _BARE_MARK.fullmatch(text + " "):
            return
        if kind == "heading" and len(text) <= _MAX_UNDERLINED_CHARS:
            self.pieces.append(Piece(kind, [" ".join(text.split())], level=level))
            return
        if self._quotes:
            text = "\n".join(f"{'>' * min(self._quotes, _MAX_QUOTES)} {line}" for line in text.split("\n"))
        if self._continues and self.pieces and self.pieces[-1].kind == "text":
            self.pieces[-1].parts.append(text)
        else:
            self.pieces.append(Piece("text", [text]))
        self._continues = self._in_rows > 0

    @property
    def _in_rows(self) -> int:
        return len(self._marks) + self._tables


def _is_unseen(attributes: Mapping[str, str | None]) -> bool:
    return bool(attributes) and (
        "hidden" in attributes
        or attributes.get("aria-hidden") == "true"
        or _UNSEEN_STYLE.search(attributes.get("style") or "") is not None
    )


def _stands_alone(node: LexborNode) -> bool:
    """Whether bold words fill their own line."""
    after = node.next
    return after is None or (after.is_text_node and (after.text_content or "").startswith(("\n", ":\n")))
