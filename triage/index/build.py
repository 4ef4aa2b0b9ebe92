"""Reads a tree into a corpus: choose files within the budget, cut, count."""

import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from triage.index.bm25 import Counting
from triage.index.chunks import Chunk, cut, named, scopes
from triage.index.corpus import Corpus, File, Place, packed
from triage.index.definitions import Definition
from triage.index.kinds import kind_of
from triage.index.languages import language_of
from triage.index.screen import refused_by_path, text_or_reason
from triage.index.syntax import Syntax
from triage.index.tokens import Vocabulary
from triage.index.tree import Entry, Listing, Tree

_AHEAD = 48
"""Files that wait for their syntax while others are counted."""


@dataclass(frozen=True)
class Budget:
    """What an index may hold. Sources come first; paths are indexed whatever the budget."""

    bytes: int = 120_000_000
    """Of text."""
    chunks: int = 250_000
    paths: int = 300_000
    parse_seconds: float = 60.0
    """For syntax trees; files that come later are cut into windows."""


@dataclass
class Built:
    """A corpus, and what did not get into it."""

    corpus: Corpus
    left_out: Counter[str]
    partial: bool
    """A file that belongs in did not get in."""
    notes: list[str]


def build(tree: Tree, listing: Listing, budget: Budget) -> Built:
    """Index a listing's files. Raises GitFailed when git does not start."""
    left_out = Counter(listing.left_out)
    chosen, further = _chosen(listing.entries, budget, left_out)
    builder = _Builder(budget.chunks)
    partial = bool(listing.missing or further)
    if listing.missing:
        left_out["not fetched"] += listing.missing
    with Syntax() as syntax:
        for source in _sources(tree.read(chosen), syntax, left_out, budget):
            if source is None or not builder.add(source):
                partial = True
        notes = ["Syntax trees could not be read; files were cut by lines."] if syntax.has_given_up else []
    for entry in further[: max(0, budget.paths - len(builder.files))]:
        builder.add_path(entry.path)
    return Built(builder.finish(), left_out, partial, notes)


@dataclass(frozen=True)
class _Source:
    """A file on its way into the corpus; what other threads and processes make of it is still to come."""

    path: str
    text: str
    packed: Future[bytes]
    definitions: Future[list[Definition]] | None


def _sources(
    contents: Iterable[tuple[Entry, bytes | None]], syntax: Syntax, left_out: Counter[str], budget: Budget
) -> Iterator[_Source | None]:
    """Texts in order, a few of them parsed ahead; none for what cannot be read."""
    latest = time.monotonic() + budget.parse_seconds
    ahead: deque[_Source] = deque()
    with ThreadPoolExecutor(1, thread_name_prefix="pack") as packer:
        for entry, data in contents:
            if data is None:
                left_out["unreadable"] += 1
                yield None
                continue
            text, reason = text_or_reason(data)
            if text is None:
                left_out[reason] += 1
                continue
            language = language_of(entry.path) if time.monotonic() < latest else None
            definitions = syntax.submit(text, language) if language and language.grammar else None
            ahead.append(_Source(entry.path, text, packer.submit(packed, text), definitions))
            if len(ahead) > _AHEAD:
                yield ahead.popleft()
        yield from ahead


def _chosen(entries: Sequence[Entry], budget: Budget, left_out: Counter[str]) -> tuple[list[Entry], list[Entry]]:
    """Entries to read, likely sources first and shallow ones before deep ones; and those that exceed the budget."""
    kept: list[tuple[float, int, str, Entry]] = []
    for entry in entries:
        reason = refused_by_path(entry.path, entry.size)
        if reason:
            left_out[reason] += 1
        else:
            kept.append((-kind_of(entry.path).prior, entry.path.count("/"), entry.path, entry))
    kept.sort(key=lambda one: one[:3])
    chosen: list[Entry] = []
    further: list[Entry] = []
    room = budget.bytes
    for *_, entry in kept:
        if entry.size <= room and len(chosen) < budget.paths:
            room -= entry.size
            chosen.append(entry)
        else:
            further.append(entry)
    return chosen, further


class _Builder:
    def __init__(self, max_chunks: int) -> None:
        self.files: list[File] = []
        self._max_chunks = max_chunks
        self._vocabulary = Vocabulary()
        self._by_chunk, self._by_file, self._by_path = (Counting(self._vocabulary) for _ in range(3))
        self._places: dict[str, list[Place]] = {}
        self._chunks: list[tuple[int, int, int]] = []
        self._symbols: list[str | None] = []

    def add(self, source: _Source) -> bool:
        """Index a file; only its path, and false, when the chunks are used up."""
        if len(self._chunks) >= self._max_chunks:
            self.add_path(source.path)
            return False
        chunks = self._cut(source.text, source.definitions.result() if source.definitions else [])
        words = self._vocabulary.words_of(source.text)
        path_words = self._vocabulary.words_of(source.path)
        self._count_chunks(chunks, words, path_words)
        self._by_file.add(words, path_words, path_words)
        self._by_path.add(path_words)
        self.files.append(File(source.path, kind_of(source.path), source.packed.result()))
        return True

    def add_path(self, path: str) -> None:
        """Index a path without its text."""
        path_words = self._vocabulary.words_of(path)
        self._by_file.add(path_words, path_words)
        self._by_path.add(path_words)
        self.files.append(File(path, kind_of(path)))

    def _cut(self, text: str, definitions: Sequence[Definition]) -> list[Chunk]:
        lines = text.count("\n") + (not text.endswith("\n") and text != "")
        root = scopes(definitions, lines)
        for one in named(root):
            place = Place(len(self.files), one.start, one.end, one.name)
            self._places.setdefault(one.name.rpartition(".")[2], []).append(place)
        return cut(root)

    def _count_chunks(self, chunks: Sequence[Chunk], words: NDArray[np.int32], path_words: NDArray[np.int32]) -> None:
        """Words of the lines, with the path's and the symbol's."""
        starts = [0, *(np.flatnonzero(words == 0) + 1).tolist()]
        last = len(starts) - 1
        for chunk in chunks:
            first = starts[min(chunk.start - 1, last)]
            piece = words[first : starts[chunk.end] if chunk.end <= last else len(words)]
            line_ends = min(chunk.end, last) - chunk.start + 1
            if len(piece) <= line_ends:
                continue
            self._by_chunk.add(piece, path_words, *self._symbol_words(chunk.symbol))
            self._chunks.append((len(self.files), chunk.start, chunk.end))
            self._symbols.append(chunk.symbol)

    def _symbol_words(self, symbol: str | None) -> list[NDArray[np.int32]]:
        return [self._vocabulary.words_of(symbol)] if symbol else []

    def finish(self) -> Corpus:
        """The corpus of everything that was added."""
        columns = np.array(self._chunks, dtype=np.int32).reshape(-1, 3).T
        by_chunk, by_file, by_path = (one.finish() for one in (self._by_chunk, self._by_file, self._by_path))
        return Corpus(
            self.files, columns[0], columns[1], columns[2], self._symbols, self._places, self._vocabulary, by_chunk,
            by_file, by_path,
        )  # fmt: skip
