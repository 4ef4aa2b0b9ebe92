"""Reads a tree into a corpus: choose files within the budget, have them taken apart, put the pieces together."""

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from triage.index.bm25 import BM25, Counted
from triage.index.corpus import Corpus, File, Place
from triage.index.extract import Extract, Source
from triage.index.kinds import Kind, kind_of
from triage.index.pool import Pool
from triage.index.screen import refused_by_path
from triage.index.tokens import Vocabulary
from triage.index.tree import Entry, Listing, Tree

_BATCH_BYTES = 256_000
"""Of the files that are taken apart together."""
_FILE_BYTES = 256
"""What a file costs beside its content."""


@dataclass(frozen=True)
class Budget:
    """What an index may hold. Sources come first; paths are indexed whatever the budget.

    The defaults keep 200,000 files below 60 seconds on two cores and 1.2 GB (measured: 40 seconds, 0.9 GB, of which
    each megabyte of text costs 0.3 seconds and 6 MB); Django's 31 MB, like most repositories, fit four times over.
    """

    bytes: int = 120_000_000
    """Of text."""
    chunks: int = 250_000
    """Files that come later are searched as a whole."""
    terms: int = 1_000_000
    """Different ones; those that come later are not searched for."""
    paths: int = 300_000
    parse_seconds: float = 60.0
    """For syntax trees; files that come later are cut into windows."""
    read_seconds: float = 120.0
    """For all files; those that come later are known by their path."""


@dataclass
class Built:
    """A corpus, and what did not get into it."""

    corpus: Corpus
    left_out: Counter[str]
    partial: bool
    """A file that belongs in did not get in, or not whole."""
    notes: list[str]


def build(tree: Tree, listing: Listing, budget: Budget) -> Built:
    """Index a listing's files. Raises GitFailed when git does not start."""
    left_out = Counter(listing.left_out)
    kinds = _kinds(listing.entries, left_out)
    chosen, further = _chosen([entry for entry in listing.entries if entry.path in kinds], kinds, budget)
    builder = _Builder(kinds, budget)
    with Pool() as pool:
        for batch, extract in pool.extracts(_batches(_sources(tree, chosen, further, budget))):
            builder.add(batch, extract)
        notes = ["Syntax trees could not be read; files were cut by lines."] if pool.has_given_up else []
    if builder.unread:
        notes.append(f"{builder.unread} files are known by their path alone; likely sources were read first.")
    if builder.uncut:
        notes.append(f"{builder.uncut} passages did not fit; their files are searched as a whole.")
    missing = Counter({"not fetched": listing.missing}) if listing.missing else Counter()
    partial = bool(builder.unread or builder.uncut or missing or len(kinds) > budget.paths)
    return Built(builder.finish(), left_out + builder.left_out + missing, partial, notes)


def _kinds(entries: Sequence[Entry], left_out: Counter[str]) -> dict[str, Kind]:
    """The kind of each file that is not left out for its path or size."""
    kinds: dict[str, Kind] = {}
    alike: dict[Kind, Kind] = {}
    for entry in entries:
        reason = refused_by_path(entry.path, entry.size)
        if reason:
            left_out[reason] += 1
        else:
            kind = kind_of(entry.path)
            kinds[entry.path] = alike.setdefault(kind, kind)
    return kinds


def _chosen(entries: Sequence[Entry], kinds: Mapping[str, Kind], budget: Budget) -> tuple[list[Entry], list[Entry]]:
    """Entries to read, likely sources first and shallow ones before deep ones; and those that exceed the budget."""
    chosen: list[Entry] = []
    further: list[Entry] = []
    room = budget.bytes
    for entry in sorted(entries, key=lambda one: (-kinds[one.path].prior, one.path.count("/"), one.path)):
        if entry.size <= room and len(chosen) < budget.paths:
            room -= entry.size
            chosen.append(entry)
        else:
            further.append(entry)
    return chosen, further


def _sources(tree: Tree, chosen: Sequence[Entry], further: Sequence[Entry], budget: Budget) -> Iterator[Source]:
    """Files in order; without content where it cannot be read, or not in time."""
    started = time.monotonic()
    read = 0
    for entry, data in tree.read(chosen):
        seconds = time.monotonic() - started
        if seconds > budget.read_seconds:
            break
        read += 1
        yield Source(entry.path, data, by_syntax=seconds < budget.parse_seconds)
    for entry in islice([*chosen[read:], *further], max(0, budget.paths - read)):
        yield Source(entry.path, None)


def _batches(sources: Iterator[Source]) -> Iterator[list[Source]]:
    batch: list[Source] = []
    size = 0
    for source in sources:
        batch.append(source)
        size += _FILE_BYTES + len(source.data or b"")
        if size > _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


class _Builder:
    """Joins extracts, whose numbers all start at 0."""

    def __init__(self, kinds: Mapping[str, Kind], budget: Budget) -> None:
        self.left_out: Counter[str] = Counter()
        self.unread = 0
        """Files whose text did not get in."""
        self.uncut = 0
        """Passages that did not get in."""
        self._kinds = kinds
        self._budget = budget
        self._vocabulary = Vocabulary()
        self._files: list[File] = []
        self._places: dict[str, list[Place]] = {}
        self._chunks: list[NDArray[np.int32]] = []
        self._symbols: list[str | None] = []
        self._by_chunk: list[Counted] = []
        self._by_file: list[Counted] = []
        self._by_path: list[Counted] = []

    def add(self, batch: Sequence[Source], extract: Extract) -> None:
        """Index some files; of those without content only the paths."""
        terms = self._vocabulary.numbers(extract.terms, self._budget.terms)
        numbers: list[int] = []
        for source, reason, packed in zip(batch, extract.reasons, extract.packed, strict=True):
            numbers.append(len(self._files))
            if reason:
                self.left_out[reason] += 1
            else:
                self._files.append(File(source.path, self._kinds[source.path], packed))
                self.unread += packed is None
        for file, start, end, name in extract.places:
            self._places.setdefault(name.rpartition(".")[2], []).append(Place(numbers[file], start, end, name))
        self._add_chunks(extract, np.array(numbers, dtype=np.int32), terms)
        self._by_file.append(extract.by_file.renumbered(terms))
        self._by_path.append(extract.by_path.renumbered(terms))

    def _add_chunks(self, extract: Extract, numbers: NDArray[np.int32], terms: NDArray[np.int32]) -> None:
        room = self._budget.chunks - len(self._symbols)
        self.uncut += max(0, len(extract.chunks) - room)
        chunks = np.array(extract.chunks[:room], dtype=np.int32).reshape(-1, 4)
        self._symbols += [extract.places[place][3] if place >= 0 else None for place in chunks[:, 3].tolist()]
        self._chunks.append(np.stack([numbers[chunks[:, 0]], chunks[:, 1], chunks[:, 2]]))
        self._by_chunk.append(extract.by_chunk.first(len(chunks)).renumbered(terms))

    def finish(self) -> Corpus:
        """The corpus of everything that was added."""
        files, starts, ends = np.concatenate([np.zeros((3, 0), dtype=np.int32), *self._chunks], axis=1)
        by_chunk, by_file, by_path = (
            BM25(parts, len(self._vocabulary)) for parts in (self._by_chunk, self._by_file, self._by_path)
        )
        return Corpus(
            self._files, files, starts, ends, self._symbols, self._places, self._vocabulary, by_chunk, by_file, by_path
        )
