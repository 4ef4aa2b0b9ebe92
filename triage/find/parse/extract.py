"""What the index takes from files: compressed text, chunks, definitions and counted terms.

A chunk is a definition, the lines between two of them, or a window of a long one; of a page of documentation a section.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from triage.find.files.documentation import Heading, find_headings
from triage.find.files.file_text import compress_text, load_text, split_lines
from triage.find.files.languages import Language, detect_language
from triage.find.parse.definitions import Definition, find_definitions
from triage.find.words.bm25 import TermCounter, TermCounts
from triage.find.words.tokens import Vocabulary
from triage.safety.secrets.likely_secrets import redact_likely_secrets

MAX_CHUNK_LINES = 100
"""A definition up to this length is one chunk."""
MIN_SPLIT_LINES = 20
"""A definition up to this length is not split into its inner definitions."""
WINDOW_LINES, WINDOW_STEP = 60, 50
"""Length of a window, and distance between the starts of two windows."""
_MAX_DEPTH = 40
_MAX_WORDS = 200_000
"""Words remembered from one batch to the next, about 40 MB."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Lines that belong together, 1-based and inclusive."""

    start: int
    end: int
    symbol: str | None = None
    """Qualified name of the innermost definition around them, or the heading of the section."""


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
    return sorted(_split_scope(scope), key=lambda chunk: (chunk.start, chunk.end))


def split_into_sections(headings: Sequence[Heading], lines: int) -> Iterator[Chunk]:
    """Return chunks that together have every line of a page; a long section is several."""
    ends = [heading.line - 1 for heading in headings] + [lines]
    for heading, end in zip([Heading(1, ""), *headings], ends, strict=True):
        yield from _split_lines(heading.line, end, heading.text or None)


def _split_scope(scope: Scope) -> Iterator[Chunk]:
    """Yield the chunks of a scope: of a short one the whole, else those inside it and what is between them."""
    if not scope.children or (scope.name and scope.end - scope.start < MIN_SPLIT_LINES):
        yield from _split_lines(scope.start, scope.end, scope.name or None)
        return
    for child in scope.children:
        yield from _split_scope(child)
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
    """Yield the lines as one chunk, or many of them as windows that overlap."""
    if end - start < MAX_CHUNK_LINES:
        if start <= end:
            yield Chunk(start, end, symbol)
        return
    while True:
        yield Chunk(start, min(start + WINDOW_LINES - 1, end), symbol)
        if start + WINDOW_LINES > end:
            return
        start += WINDOW_STEP


@dataclass(frozen=True, slots=True)
class SourceFile:
    path: str
    data: bytes | None
    """Its content; None to index the path only."""
    use_grammar: bool = True
    """Find definitions. Otherwise the file is split by lines."""


@dataclass
class ExtractedFiles:
    """What was extracted from a batch of files. File numbers count these files, term numbers count `terms`."""

    terms: list[str]
    skip_reasons: list[str] = field(default_factory=list)
    """Why each file is left out; empty if it is not."""
    compressed_texts: list[bytes | None] = field(default_factory=list)
    """The text of each file, see `File.compressed_text`."""
    definitions: list[tuple[int, int, int, str]] = field(default_factory=list)
    """File, first line, last line and qualified name of each definition."""
    chunks: list[tuple[int, int, int, int]] = field(default_factory=list)
    """File, first line, last line and the number of the definition around it, or -1."""
    by_chunk: TermCounts = field(default_factory=TermCounts)
    by_file: TermCounts = field(default_factory=TermCounts)
    """Of the files that are not left out, like `by_path`."""
    by_path: TermCounts = field(default_factory=TermCounts)


class _Counters(NamedTuple):
    by_chunk: TermCounter
    by_file: TermCounter
    by_path: TermCounter


class Extractor:
    """Extracts from files. It remembers words, since most words of a file are in other files too."""

    def __init__(self) -> None:
        self._vocabulary = Vocabulary()

    def extract(self, files: Sequence[SourceFile], on_file: Callable[[], object] = lambda: None) -> ExtractedFiles:
        """Extract from a batch of files. Calls `on_file` before reading each."""
        if self._vocabulary.known_words > _MAX_WORDS:
            self._vocabulary = Vocabulary()
        counters = _Counters(*(TermCounter(self._vocabulary) for _ in range(3)))
        extracted = ExtractedFiles([])
        for file in files:
            on_file()
            self._extract_file(file, extracted, counters)
        tables = [counter.count() for counter in counters]
        extracted.by_chunk, extracted.by_file, extracted.by_path = tables
        extracted.terms = self._vocabulary.renumber_terms([table.terms for table in tables])
        return extracted

    def _extract_file(self, file: SourceFile, extracted: ExtractedFiles, counters: _Counters) -> None:
        """Add a file to what was extracted, and its words to the counters."""
        text, skip_reason = load_text(file.data) if file.data is not None else (None, "")
        extracted.skip_reasons.append(skip_reason)
        extracted.compressed_texts.append(compress_text(text) if text is not None else None)
        if skip_reason:
            return
        path_words = self._vocabulary.encode_words(file.path)
        counters.by_path.add(path_words)
        words = self._vocabulary.encode_words(text or "")
        counters.by_file.add(words, path_words, path_words)
        if text is not None:
            language = detect_language(file.path, file.data or b"") if file.use_grammar else None
            root = _parse_scopes(text, language)
            headings = [] if root.children else find_headings(file.path, split_lines(text))
            chunks = list(split_into_sections(headings, root.end)) if headings else split_into_chunks(root)
            self._extract_chunks(root, chunks, words, path_words, extracted, counters.by_chunk)

    def _extract_chunks(
        self,
        root: Scope,
        chunks: Sequence[Chunk],
        words: NDArray[np.int32],
        path_words: NDArray[np.int32],
        extracted: ExtractedFiles,
        by_chunk: TermCounter,
    ) -> None:
        """Add the definitions and the chunks of the last file, but for chunks of empty lines."""
        number = len(extracted.compressed_texts) - 1
        definitions: dict[str | None, int] = {}
        scopes = list(iter_scopes(root))
        names = "\n".join(scope.name for scope in scopes)
        has_secret = redact_likely_secrets(names) != names  # a name is shown without the text around it
        for scope in scopes:
            definitions[scope.name] = len(extracted.definitions)
            name = redact_likely_secrets(scope.name) if has_secret else scope.name
            extracted.definitions.append((number, scope.start, scope.end, name))
        line_starts = [0, *(np.flatnonzero(words == 0) + 1).tolist(), len(words)]
        last = len(line_starts) - 2
        for chunk in chunks:
            chunk_words = words[line_starts[min(chunk.start - 1, last)] : line_starts[min(chunk.end, last + 1)]]
            line_ends = min(chunk.end, last) - chunk.start + 1
            if len(chunk_words) > line_ends:  # Not only empty lines.
                symbol_words = [self._vocabulary.encode_words(chunk.symbol)] if chunk.symbol else []
                by_chunk.add(chunk_words, path_words, *symbol_words)
                extracted.chunks.append((number, chunk.start, chunk.end, definitions.get(chunk.symbol, -1)))


@lru_cache(maxsize=16)
def _parse_scopes(text: str, language: Language | None) -> Scope:
    # Copies of a file are often neighbours. A hostile tree repeats one file 300,000 times.
    lines = text.count("\n") + (not text.endswith("\n") and text != "")
    return build_scopes(find_definitions(text, language) if language else [], lines)
