"""A file cut into chunks: definitions, what stands between them, and windows of what is long."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from triage.index.parse.definitions import Definition

MAX_CHUNK_LINES = 100
"""Lines; a definition up to this length stays whole."""
MIN_SPLIT_LINES = 20
"""Lines; a definition up to this length is not cut into those inside of it."""
WINDOW_LINES, WINDOW_STEP = 60, 50
"""Lines of a window, and from one window's start to the next's."""
_MAX_DEPTH = 40


@dataclass(frozen=True, slots=True)
class Chunk:
    """Lines that belong together, 1-based and inclusive."""

    start: int
    end: int
    symbol: str | None = None
    """Qualified name of the innermost definition around the lines."""


@dataclass(slots=True)
class Scope:
    """A definition with those inside of it; the outermost scope is the file."""

    start: int
    end: int
    name: str
    """Qualified; empty for the file."""
    children: list["Scope"] = field(default_factory=list)


def build_scopes(definitions: Sequence[Definition], lines: int) -> Scope:
    """Nest definitions (outer before inner) under the file."""
    root = Scope(1, lines, "")
    stack = [root]
    for one in definitions:
        del stack[min(one.depth, _MAX_DEPTH) + 1 :]
        outer = stack[-1].name
        name = one.name if not outer or one.name.startswith(f"{outer}.") else f"{outer}.{one.name}"
        scope = Scope(one.start, min(one.end, lines), name)
        stack[-1].children.append(scope)
        stack.append(scope)
    return root


def iter_scopes(scope: Scope) -> Iterator[Scope]:
    """Every definition below the file, outer ones first."""
    for one in scope.children:
        yield one
        yield from iter_scopes(one)


def split_into_chunks(scope: Scope) -> list[Chunk]:
    """Chunks that together hold every line of the file, in order of their first line."""
    return sorted(_cut(scope), key=lambda chunk: (chunk.start, chunk.end))


def _cut(scope: Scope) -> Iterator[Chunk]:
    if not scope.children or (scope.name and scope.end - scope.start < MIN_SPLIT_LINES):
        yield from _windows(scope.start, scope.end, scope.name or None)
        return
    for one in scope.children:
        yield from _cut(one)
    for start, end in _between(scope.start, scope.end, scope.children):
        yield from _windows(start, end, scope.name or None)


def _between(start: int, end: int, inner: Iterable[Scope]) -> Iterator[tuple[int, int]]:
    """Runs of lines that no inner definition holds."""
    for one in inner:
        if one.start > start:
            yield start, one.start - 1
        start = max(start, one.end + 1)
    if start <= end:
        yield start, end


def _windows(start: int, end: int, symbol: str | None) -> Iterator[Chunk]:
    if end - start < MAX_CHUNK_LINES:
        if start <= end:
            yield Chunk(start, end, symbol)
        return
    while True:
        yield Chunk(start, min(start + WINDOW_LINES - 1, end), symbol)
        if start + WINDOW_LINES > end:
            return
        start += WINDOW_STEP
