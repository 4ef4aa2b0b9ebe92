"""Reads a tree into a corpus: choose files within the budget, cut, count."""

import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
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


def build(tree: Tree, listing: Listing, budget: Budget) -> Built:
    """Index a listing's files. Raises GitFailed when git does not start."""
    left_out = Counter(listing.left_out)
    chosen, further = _chosen(listing.entries, budget, left_out)
    builder = _Builder(budget.chunks)
    partial = bool(listing.missing or further)
    if listing.missing:
        left_out["not fetched"] += listing.missing
    for path, text, definitions in _parsed(tree.read(chosen), left_out, budget):
        if text is None or not builder.add(path, text, definitions):
            partial = True
    for entry in further[: max(0, budget.paths - len(builder.files))]:
        builder.add_path(entry.path)
    return Built(builder.finish(), left_out, partial)


def _parsed(
    contents: Iterable[tuple[Entry, bytes | None]], left_out: Counter[str], budget: Budget
) -> Iterator[tuple[str, str | None, list[Definition]]]:
    """Path, text (none when unreadable) and definitions, in order; a few files are parsed ahead."""
    latest = time.monotonic() + budget.parse_seconds
    ahead: deque[tuple[str, str, Future[list[Definition]] | None]] = deque()
    with Syntax() as syntax:
        for entry, data in contents:
            if data is None:
                left_out["unreadable"] += 1
                yield entry.path, None, []
                continue
            text, reason = text_or_reason(data)
            if text is None:
                left_out[reason] += 1
                continue
            language = language_of(entry.path)
            parse = language is not None and bool(language.grammar) and time.monotonic() < latest
            ahead.append((entry.path, text, syntax.submit(text, language) if language and parse else None))
            if len(ahead) > _AHEAD:
                yield _ready(*ahead.popleft())
        while ahead:
            yield _ready(*ahead.popleft())


def _ready(path: str, text: str, coming: "Future[list[Definition]] | None") -> tuple[str, str, list[Definition]]:
    return path, text, coming.result() if coming else []


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

    def add(self, path: str, text: str, definitions: Sequence[Definition]) -> bool:
        """Index a file; only its path, and false, when the chunks are used up."""
        if len(self._chunks) >= self._max_chunks:
            self.add_path(path)
            return False
        chunks = self._cut(text, definitions)
        words = self._vocabulary.words_of(text)
        path_words = self._vocabulary.words_of(path)
        self._count_chunks(chunks, words, path_words)
        self._by_file.add(_joined([words, path_words, path_words]))
        self._by_path.add(path_words)
        self.files.append(File(path, kind_of(path), packed(text)))
        return True

    def add_path(self, path: str) -> None:
        """Index a path without its text."""
        path_words = self._vocabulary.words_of(path)
        self._by_file.add(path_words)
        self._by_path.add(path_words)
        self.files.append(File(path, kind_of(path)))

    def _cut(self, text: str, definitions: Sequence[Definition]) -> list[Chunk]:
        lines = text.count("\n") + (not text.endswith("\n") and text != "")
        root = scopes(definitions, lines)
        for one in named(root):
            assert one.name is not None
            place = Place(len(self.files), one.start, one.end, one.name)
            self._places.setdefault(one.name.rpartition(".")[2], []).append(place)
        return cut(root)

    def _count_chunks(self, chunks: Sequence[Chunk], words: NDArray[np.int32], path_words: NDArray[np.int32]) -> None:
        """Words of the lines, with the path's and the symbol's."""
        line_ends = np.flatnonzero(words == 0)
        starts = [0, *(line_ends + 1).tolist()]
        last = len(starts) - 1
        for chunk in chunks:
            first = starts[min(chunk.start - 1, last)]
            piece = words[first : starts[chunk.end] if chunk.end <= last else len(words)]
            if not piece.any():
                continue
            symbol = self._vocabulary.words_of(chunk.symbol) if chunk.symbol else piece[:0]
            self._by_chunk.add(_joined([piece, path_words, symbol]))
            self._chunks.append((len(self.files), chunk.start, chunk.end))
            self._symbols.append(chunk.symbol)

    def finish(self) -> Corpus:
        """The corpus of everything that was added."""
        columns = np.array(self._chunks, dtype=np.int32).reshape(-1, 3).T
        by_chunk, by_file, by_path = (one.finish() for one in (self._by_chunk, self._by_file, self._by_path))
        return Corpus(
            self.files, columns[0], columns[1], columns[2], self._symbols, self._places, self._vocabulary, by_chunk,
            by_file, by_path,
        )  # fmt: skip


def _joined(parts: Sequence[NDArray[np.int32]]) -> NDArray[np.int32]:
    return np.concatenate(parts)
