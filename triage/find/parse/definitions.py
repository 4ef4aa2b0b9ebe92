"""Finds the definitions of a source file with tree-sitter. A grammar is loaded with the first file of its language.

Some grammars take unlimited memory or crash on text in another language: see `worker_pool`.
"""

import importlib
import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from triage.find.files.languages import Language

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Query, Tree

_GENERICS = re.compile(r"<[^<>]*>|\[[^\[\]]*\]|\([^()]*\)")
_SEPARATOR = re.compile(r"::|->|[.\\#]")
_PREFIXES = frozenset({"exports", "module", "prototype", "this", "self", "window", "global", "globalThis"})
_RECEIVER = re.compile(r"([^\W\d]\w*)\s*(?:\[[^\]]*\])?\s*\)$")
_SUFFIX = re.compile(r"(?<=\w)(?<!operator)[?!=]$")
_COMMENTS = ("comment", "line_comment", "block_comment", "multiline_comment", "attribute_item", "attribute_list")
_CLOSING = re.compile(r"\s*(?:[)\]}]|end\b)")
_MAX_LINE_CHARS = 500
"""Of a line that are searched for a declaration."""
_MAX_COMMENTS = 30
_MAX_NAME_CHARS = 200
_PARSE_SECONDS = 2.0
"""For one file. The slowest real file of 512 KB takes 0.3."""
_MAX_ERROR_COST = 400_000_000
"""Sum of the squared numbers of children of error nodes. About two seconds: 20,000 unclosed brackets."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A named piece of a file. Lines are 1-based and inclusive."""

    start: int
    end: int
    name: str
    """With the type that it belongs to (`Store.save`) if the definition itself has it."""
    depth: int = 0
    """Number of definitions around it."""


def find_definitions(text: str, language: Language) -> list[Definition]:
    """Return every definition, outer ones first."""
    if not language.grammar:
        return _nest_declarations(text, language.declaration_line) if language.declaration_line else []
    from tree_sitter import QueryCursor

    parser, query = load_grammar(language)
    source = text.encode("utf-8", "replace")
    tree = parse_source(parser, source)
    if tree is None or _is_too_broken(tree):
        return []
    if language.declaration_line and tree.root_node.has_error:
        return _nest_declarations(text, language.declaration_line)
    return _build_definitions(QueryCursor(query).matches(tree.root_node), source, language)


def _build_definitions(
    matches: "Iterable[tuple[int, dict[str, list[Node]]]]", source: bytes, language: Language
) -> list[Definition]:
    """Build the definitions from what a query captured: `d` is a definition, `n` its name."""
    names = {node: captured.get("n", [None])[0] for _, captured in matches for node in captured.get("d", ())}
    definitions: list[Definition] = []
    outer_ends: list[int] = []
    for node in sorted(names, key=lambda node: (node.start_byte, -node.end_byte)):
        while outer_ends and outer_ends[-1] <= node.start_byte:
            outer_ends.pop()
        name = _build_name(node, names[node], source, language)
        if name:
            whole = _find_outermost(node, language)
            definitions.append(Definition(_first_row(whole) + 1, _last_row(whole) + 1, name, len(outer_ends)))
            outer_ends.append(node.end_byte)
    return definitions


def _nest_declarations(text: str, pattern: str) -> list[Definition]:
    """Return the declarations that a pattern finds, each with the number of those around it."""
    outer_ends: list[int] = []
    nested: list[Definition] = []
    for start, end, name in sorted(find_declarations(text, pattern), key=lambda one: (one[0], -one[1])):
        while outer_ends and outer_ends[-1] < end:
            outer_ends.pop()
        nested.append(Definition(start, end, name, len(outer_ends)))
        outer_ends.append(end)
    return nested


def find_declarations(text: str, pattern: str) -> Iterator[tuple[int, int, str]]:
    """Yield first line, last line (1-based) and name of each declaration.

    A declaration ends before the next line with the same or less indentation, except for closing brackets. `pattern`
    is a regular expression for the start of a line, with a group `name`.
    """
    starts = re.compile(pattern)
    open_declarations: list[tuple[int, int, str]] = []  # indentation, first line, name
    last = 0
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        indent = len(line) - len(line.lstrip())
        is_closing = _CLOSING.match(line) is not None
        while open_declarations and indent + is_closing <= open_declarations[-1][0]:
            _, start, name = open_declarations.pop()
            yield start, last, name
        match = starts.match(line[:_MAX_LINE_CHARS])
        if match:
            open_declarations.append((indent, number, match["name"]))
        last = number
    for _, start, name in open_declarations:
        yield start, last, name


def _is_too_broken(tree: "Tree") -> bool:
    """Return whether a query would take long: its time grows with the square of the children of an error node."""
    pending, cost = [tree.root_node], 0
    while pending:
        node = pending.pop()
        if node.type == "ERROR":
            cost += node.child_count**2
            if cost > _MAX_ERROR_COST:
                return True
        pending += [child for child in node.children if child.has_error] if node.has_error else []
    return False


def parse_source(parser: "Parser", source: bytes) -> "Tree | None":
    """Return the syntax tree; None if it takes more than two seconds."""
    deadline = time.monotonic() + _PARSE_SECONDS
    parser.reset()
    try:
        return parser.parse(
            lambda offset, _: source[offset : offset + 65_536],
            progress_callback=lambda _offset, _error: time.monotonic() > deadline,
        )
    except ValueError:
        return None


@cache
def load_grammar(language: Language) -> tuple["Parser", "Query"]:
    """Return the parser of a language that has a grammar, and the query for its definitions."""
    from tree_sitter import Language as Grammar
    from tree_sitter import Parser, Query

    module, _, function = language.grammar.partition(":")
    grammar = Grammar(getattr(importlib.import_module(module), function or "language")())
    nodes = " ".join(f"({node})" for node in language.definition_nodes.split())
    return Parser(grammar), Query(grammar, f"[{nodes}] @d {language.query_patterns}")


def _build_name(node: "Node", name: "Node | None", source: bytes, language: Language) -> str:
    """Return the name of a definition, with its owner if that is written with it; empty without one."""
    if node.type == "init_declaration":
        return "init"
    fields = (node.child_by_field_name(field) for field in language.name_fields.split())
    name = name or next(filter(None, fields), None)
    if name is None:
        return ""
    own_name = normalize_name(_decode(_unwrap_declarator(name), source))
    owner = _find_owner(node, name, source, language.owner_node) if language.owner_node else ""
    return f"{owner}.{own_name}" if owner else own_name


def _find_owner(node: "Node", name: "Node", source: bytes, owner_node: str) -> str:
    if receiver := node.child_by_field_name(owner_node):  # Go
        match = _RECEIVER.search(_decode(receiver, source))
        return match[1] if match else ""
    candidates = (c for c in node.named_children if c.type == owner_node or c.start_byte >= name.start_byte)
    owner = next(candidates, None)  # Kotlin: before the name
    return normalize_name(_decode(owner, source)) if owner is not None and owner.type == owner_node else ""


def _unwrap_declarator(node: "Node") -> "Node":
    """Return the name of a function, which C wraps into declarators, as in `*f(int)`."""
    for _ in range(8):
        inner = node.child_by_field_name("declarator")
        if inner is None and node.type in ("parenthesized_declarator", "reference_declarator"):
            inner = next((child for child in node.named_children if child.type.endswith("declarator")), None)
        if inner is None:
            break
        node = inner
    return node


def normalize_name(written: str) -> str:
    """Return a name with dots as separators and without type arguments: `a.B.c` for `a::B<T>::c`.

    Ruby's `empty?`, `save!` and `name=` lose their last character, as in prose.
    """
    if len(written) > _MAX_NAME_CHARS:
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


def _decode(node: "Node", source: bytes) -> str:
    return source[node.start_byte : node.end_byte].decode("utf-8", "replace")


def _find_outermost(node: "Node", language: Language) -> "Node":
    """Return the outermost node that has nothing but the definition, such as that with its decorators."""
    wrappers = language.wrapper_nodes.split()
    kinds = {node.type, *language.definition_nodes.split()}
    while (parent := node.parent) is not None and parent.type in wrappers:
        if sum(child.type in kinds for child in parent.named_children) > 1:
            break  # A group such as Go's `type ( … )` is not part of any of its members.
        node = parent
    return node


def _first_row(node: "Node") -> int:
    """Return the first row of a definition and of the comment above it, which is part of it."""
    row = node.start_point.row
    while node.prev_sibling is None and node.parent is not None and node.parent.start_byte == node.start_byte:
        node = node.parent  # In some grammars the comment of a body's first definition is before the body.
    before = node.prev_sibling
    for _ in range(_MAX_COMMENTS):
        if before is None or before.type not in _COMMENTS or _last_row(before) + 1 < row:
            break
        row = before.start_point.row
        before = before.prev_sibling
    return row


def _last_row(node: "Node") -> int:
    end = node.end_point  # A node that ends at the start of a line ends on the line before.
    return max(node.start_point.row, end.row - (end.column == 0))
