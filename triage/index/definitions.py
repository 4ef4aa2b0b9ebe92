"""Definitions of a source file, by tree-sitter. A grammar is loaded when the first file in its language is met."""

import importlib
import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from triage.index.languages import Language

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Query

_GENERICS = re.compile(r"<[^<>]*>|\[[^\[\]]*\]|\([^()]*\)")
_SEPARATOR = re.compile(r"::|->|[.\\#]")
_PREFIXES = frozenset({"exports", "module", "prototype", "this", "self", "window", "global", "globalThis"})
_RECEIVER = re.compile(r"([^\W\d]\w*)\s*(?:\[[^\]]*\])?\s*\)$")
_COMMENTS = ("comment", "line_comment", "block_comment", "multiline_comment", "attribute_item", "attribute_list")
_MAX_COMMENTS = 30
_MAX_NAME = 200


@dataclass(frozen=True, slots=True)
class Definition:
    """A named piece of a file. Lines are 1-based and inclusive."""

    start: int
    end: int
    name: str
    """Own name, maybe with the type it belongs to (`Store.save`) where that stands in the definition itself."""


def definitions_of(text: str, language: Language) -> list[Definition]:
    """Every definition, outer ones before inner ones; empty for a language without a grammar."""
    if not language.grammar or not language.definitions:
        return []
    from tree_sitter import QueryCursor  # noqa: PLC0415

    parser, query = _grammar(language)
    tree = parser.parse(text.encode("utf-8", "replace"))
    found = [_definition(node, language) for node in QueryCursor(query).captures(tree.root_node).get("d", ())]
    return sorted((one for one in found if one), key=lambda one: (one.start, -one.end))


@cache
def _grammar(language: Language) -> tuple["Parser", "Query"]:
    from tree_sitter import Language as Grammar  # noqa: PLC0415
    from tree_sitter import Parser, Query  # noqa: PLC0415

    module, _, function = language.grammar.partition(":")
    grammar = Grammar(getattr(importlib.import_module(module), function or "language")())
    simple = " ".join(f"({kind})" for kind in language.definitions.split())
    return Parser(grammar), Query(grammar, f"[{simple}] @d {language.patterns}")


def _definition(node: "Node", language: Language) -> Definition | None:
    name = _name(node, language)
    if not name:
        return None
    around = _wrapped(node, language)
    return Definition(_first_row(around) + 1, _last_row(around) + 1, name)


def _name(node: "Node", language: Language) -> str:
    if node.type == "init_declaration":
        return "init"
    field = next((found for each in language.names.split() if (found := node.child_by_field_name(each))), None)
    if field is None:
        return ""
    name = plain_name(_declared(field))
    if language.owner and (owner := node.child_by_field_name(language.owner)):
        receiver = _RECEIVER.search(_text(owner))
        return f"{receiver[1]}.{name}" if receiver else name
    return name


def _declared(node: "Node") -> str:
    """C wraps a function's name into declarators: `*f(int)`; inside out stands the name."""
    for _ in range(8):
        inner = node.child_by_field_name("declarator")
        if inner is None and node.type in ("parenthesized_declarator", "reference_declarator"):
            inner = next((child for child in node.named_children if child.type.endswith("declarator")), None)
        if inner is None:
            break
        node = inner
    return _text(node)


def plain_name(written: str) -> str:
    """A name with dots for whatever the language separates by, without type arguments: `a::B<T>::c` is `a.B.c`."""
    if len(written) > _MAX_NAME:
        return ""
    if "operator" not in written:
        for _ in range(4):
            written = _GENERICS.sub("", written)
    parts = [part.strip() for part in _SEPARATOR.split(written)]
    return ".".join(part for part in parts if part and part not in _PREFIXES and not part.startswith(("'", '"', "`")))


def _text(node: "Node") -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _wrapped(node: "Node", language: Language) -> "Node":
    wrappers = language.wrappers.split()
    while node.parent is not None and node.parent.type in wrappers:
        node = node.parent
    return node


def _first_row(node: "Node") -> int:
    """The row where the comment above the definition starts, if there is one."""
    row = node.start_point.row
    before = node.prev_sibling
    for _ in range(_MAX_COMMENTS):
        if before is None or before.type not in _COMMENTS or _last_row(before) + 1 < row:
            break
        row = before.start_point.row
        before = before.prev_sibling
    return row


def _last_row(node: "Node") -> int:
    """A node whose end stands at the start of a line ends on the line before."""
    end = node.end_point
    return max(node.start_point.row, end.row - (end.column == 0))
