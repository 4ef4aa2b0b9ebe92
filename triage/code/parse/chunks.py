"""Splits a file into chunks: definitions, the lines between them, and windows of long ones."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from triage.code.parse.definitions import Definition

MAX_CHUNK_LINES = 100
"""A definition up to this length is one chunk."""
MIN_SPLIT_LINES = 20
"""A definition up to this length is not split into its inner definitions."""
WINDOW_LINES, WINDOW_STEP = 60, 50
"""Length of a window, and distance between the starts of two windows."""
_MAX_DEPTH = 40


@dataclass(frozen=True, slots=True)
class Chunk:
    """Lines that belong together, 1-based and inclusive."""

    start: int
    end: int
    symbol: str | None = None
    """Qualified name of the innermost definition around them."""


@dataclass(slots=True)
class Scope:
    """A definition with its inner definitions. The outermost scope is the file."""

    start: int
    end: int
    name: str
    """Qualified; empty for the file."""
    children: list["Scope"] = field(default_factory=list)


def build_scopes(definitions: Sequence[Definition], lines: int) -> Scope:
    """Return the scope of a file with so many lines. Outer definitions come first."""
    root = Scope(1, lines, "")
    stack = [root]
    for definition in definitions:
        del stack[min(definition.depth, _MAX_DEPTH) + 1 :]
        outer, name = stack[-1].name, definition.name
        if outer and not name.startswith(f"{outer}."):
            name = f"{outer}.{name}"
        scope = Scope(definition.start, min(definition.end, lines), name)
        stack[-1].children.append(scope)
        stack.append(scope)
    return root


def iter_scopes(scope: Scope) -> Iterator[Scope]:
    for child in scope.children:
        yield child
        yield from iter_scopes(child)


def split_into_chunks(scope: Scope) -> list[Chunk]:
    """Return chunks that together have every line of the file, ordered by first line."""
    return sorted(_split(scope), key=lambda chunk: (chunk.start, chunk.end))


def _split(scope: Scope) -> Iterator[Chunk]:
    if not scope.children or (scope.name and scope.end - scope.start < MIN_SPLIT_LINES):
        yield from _split_lines(scope.start, scope.end, scope.name or None)
        return
    for child in scope.children:
        yield from _split(child)
    for start, end in _find_gaps(scope.start, scope.end, scope.children):
        yield from _split_lines(start, end, scope.name or None)


def _find_gaps(start: int, end: int, children: Iterable[Scope]) -> Iterator[tuple[int, int]]:
    for child in children:
        if child.start > start:
            yield start, child.start - 1
        start = max(start, child.end + 1)
    if start <= end:
        yield start, end


def _split_lines(start: int, end: int, symbol: str | None) -> Iterator[Chunk]:
    if end - start < MAX_CHUNK_LINES:
        if start <= end:
            yield Chunk(start, end, symbol)
        return
    while True:
        yield Chunk(start, min(start + WINDOW_LINES - 1, end), symbol)
        if start + WINDOW_LINES > end:
            return
        start += WINDOW_STEP
