"""Definitions of a source file, by tree-sitter. A grammar is loaded when the first file in its language is met.

Some grammars need memory without bound, or crash the process, on text that is not in their language: see `syntax`.
"""

import importlib
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from triage.index.files.languages import Language
from triage.index.parse.outline import find_declarations

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Query, Tree

_GENERICS = re.compile(r"<[^<>]*>|\[[^\[\]]*\]|\([^()]*\)")
_SEPARATOR = re.compile(r"::|->|[.\\#]")
_PREFIXES = frozenset({"exports", "module", "prototype", "this", "self", "window", "global", "globalThis"})
_RECEIVER = re.compile(r"([^\W\d]\w*)\s*(?:\[[^\]]*\])?\s*\)$")
_SUFFIX = re.compile(r"(?<=\w)(?<!operator)[?!=]$")
_COMMENTS = ("comment", "line_comment", "block_comment", "multiline_comment", "attribute_item", "attribute_list")
_MAX_COMMENTS = 30
_MAX_NAME = 200
_PARSE_SECONDS = 2.0
"""For one file; the slowest real file of 512 KB takes 0.3."""
_MAX_ERRORS = 400_000_000
"""Squares of what grammars could not make sense of, about two seconds: 20,000 brackets that nobody closes."""
_READ = 65_536


@dataclass(frozen=True, slots=True)
class Definition:
    """A named piece of a file. Lines are 1-based and inclusive."""

    start: int
    end: int
    name: str
    """Own name, maybe with the type it belongs to (`Store.save`) where that stands in the definition itself."""
    depth: int = 0
    """Definitions around it."""


def find_definitions(text: str, language: Language) -> list[Definition]:
    """Every definition, outer ones before inner ones; empty for a language without a grammar."""
    if not language.grammar:
        return []
    from tree_sitter import QueryCursor

    parser, query = _grammar(language)
    source = text.encode("utf-8", "replace")
    tree = _parsed(parser, source)
    if tree is None or _is_hopeless(tree):
        return []
    found = _found(QueryCursor(query).matches(tree.root_node), source, language)
    return _completed(found, text, language.lines) if language.lines and tree.root_node.has_error else found


def _found(
    matches: "Iterable[tuple[int, dict[str, list[Node]]]]", source: bytes, language: Language
) -> list[Definition]:
    named = {node: captured.get("n", [None])[0] for _, captured in matches for node in captured.get("d", ())}
    found: list[Definition] = []
    around: list[int] = []
    for node in sorted(named, key=lambda one: (one.start_byte, -one.end_byte)):
        while around and around[-1] <= node.start_byte:
            around.pop()
        one = _definition(node, named[node], source, language, len(around))
        if one:
            found.append(one)
            around.append(node.end_byte)
    return found


def _completed(found: Sequence[Definition], text: str, pattern: str) -> list[Definition]:
    """Add what stands in parts that the grammar could not read."""
    known = {(one.name.rpartition(".")[2], line) for one in found for line in _first_lines(one)}
    further = [
        Definition(start, end, name)
        for start, end, name in find_declarations(text, pattern)
        if (name, start) not in known
    ]
    around: list[int] = []
    nested: list[Definition] = []
    for one in sorted([*found, *further], key=lambda one: (one.start, -one.end)):
        while around and around[-1] < one.end:
            around.pop()
        nested.append(replace(one, depth=len(around)))
        around.append(one.end)
    return nested


def _first_lines(one: Definition) -> range:
    """Where the declaration itself may stand: below its comments."""
    return range(one.start, min(one.end, one.start + _MAX_COMMENTS) + 1)


def _is_hopeless(tree: "Tree") -> bool:
    """Whether a query takes too long: for a node that is no syntax at all, the square of what stands in it."""
    pending, cost = [tree.root_node], 0
    while pending:
        node = pending.pop()
        if node.type == "ERROR":
            cost += node.child_count**2
            if cost > _MAX_ERRORS:
                return True
        pending += [child for child in node.children if child.has_error] if node.has_error else []
    return False


def _parsed(parser: "Parser", source: bytes) -> "Tree | None":
    """The syntax tree; none when the grammar gave up or took too long over odd text."""
    latest = time.monotonic() + _PARSE_SECONDS
    parser.reset()
    try:
        return parser.parse(
            lambda offset, _: source[offset : offset + _READ],
            progress_callback=lambda _offset, _error: time.monotonic() > latest,
        )
    except ValueError:
        return None


@cache
def _grammar(language: Language) -> tuple["Parser", "Query"]:
    from tree_sitter import Language as Grammar
    from tree_sitter import Parser, Query

    module, _, function = language.grammar.partition(":")
    grammar = Grammar(getattr(importlib.import_module(module), function or "language")())
    simple = " ".join(f"({kind})" for kind in language.definitions.split())
    return Parser(grammar), Query(grammar, f"[{simple}] @d {language.patterns}")


def _definition(node: "Node", named: "Node | None", source: bytes, language: Language, depth: int) -> Definition | None:
    name = _name(node, named, source, language)
    if not name:
        return None
    around = _wrapped(node, language)
    return Definition(_first_row(around) + 1, _last_row(around) + 1, name, depth)


def _name(node: "Node", named: "Node | None", source: bytes, language: Language) -> str:
    if node.type == "init_declaration":
        return "init"
    field = named or next((found for each in language.names.split() if (found := node.child_by_field_name(each))), None)
    if field is None:
        return ""
    name = normalize_name(_text(_declared(field), source))
    owner = _owner(node, field, source, language.owner) if language.owner else ""
    return f"{owner}.{name}" if owner else name


def _owner(node: "Node", name: "Node", source: bytes, kind: str) -> str:
    """The type that a method is written for: Go's receiver is a field, Kotlin's a type before the name."""
    if receiver := node.child_by_field_name(kind):
        found = _RECEIVER.search(_text(receiver, source))
        return found[1] if found else ""
    before = next(
        (each for each in node.named_children if each.type == kind or each.start_byte >= name.start_byte), None
    )
    return normalize_name(_text(before, source)) if before is not None and before.type == kind else ""


def _declared(node: "Node") -> "Node":
    """C wraps a function's name into declarators: `*f(int)`; inside out stands the name."""
    for _ in range(8):
        inner = node.child_by_field_name("declarator")
        if inner is None and node.type in ("parenthesized_declarator", "reference_declarator"):
            inner = next((child for child in node.named_children if child.type.endswith("declarator")), None)
        if inner is None:
            break
        node = inner
    return node


def normalize_name(written: str) -> str:
    """A name with dots for whatever the language separates by, without type arguments: `a::B<T>::c` is `a.B.c`.

    Ruby's `empty?`, `save!` and `name=` go by the word alone, as prose writes them.
    """
    if len(written) > _MAX_NAME:
        return ""
    if "operator" not in written:
        for _ in range(4):
            written = _GENERICS.sub("", written)
    parts = [part.strip() for part in _SEPARATOR.split(written)]
    return ".".join(
        _SUFFIX.sub("", part)
        for part in parts
        if part and part not in _PREFIXES and not part.startswith(("'", '"', "`"))
    )


def _text(node: "Node", source: bytes) -> str:
    return source[node.start_byte : node.end_byte].decode("utf-8", "replace")


def _wrapped(node: "Node", language: Language) -> "Node":
    wrappers = language.wrappers.split()
    kinds = {node.type, *language.definitions.split()}
    while (parent := node.parent) is not None and parent.type in wrappers:
        if sum(child.type in kinds for child in parent.named_children) > 1:
            break  # A group such as Go's `type ( … )` belongs to none of its members.
        node = parent
    return node


def _first_row(node: "Node") -> int:
    """The row where the comment above the definition starts, if there is one."""
    row = node.start_point.row
    while node.prev_sibling is None and node.parent is not None and node.parent.start_byte == node.start_byte:
        node = node.parent  # The first definition of a body: in some grammars its comment stands before the body.
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
