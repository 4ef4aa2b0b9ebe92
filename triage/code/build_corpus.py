"""Builds a corpus from a tree: chooses files within limits, has them extracted by workers, and merges the results.

Files that have not changed since another commit are taken from its index.
"""

import time
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from triage.code.files.copies import find_copies
from triage.code.files.file_filter import get_skip_reason
from triage.code.files.file_roles import FileRole, classify_file
from triage.code.git.tree import Entry, Listing, SourceTree
from triage.code.parse.extract import ExtractedFiles, SourceFile
from triage.code.parse.worker_pool import WorkerPool
from triage.code.reusable_index import (
    INCOMPLETE,
    LEFT_OUT,
    PATH_ONLY,
    REASONS,
    UNREADABLE,
    WITH_TEXT,
    FileRange,
    ReusableIndex,
    WantedFile,
    make_reusable_index,
)
from triage.code.words.bm25 import BM25, TermCounts
from triage.code.words.corpus import Corpus, DefinitionLocation, File
from triage.code.words.tokens import Vocabulary

_BATCH_BYTES = 256_000
"""Of files that a worker extracts together."""
_FILE_BYTES = 256
"""Overhead of one file in a batch."""


@dataclass
class MergeResult:
    corpus: Corpus
    left_out: Counter[str]
    path_only: int
    dropped_chunks: int
    states: list[int] = field(default_factory=list)
    """State of each wanted file (see `reusable_index`); empty if all of the index was reused."""
    parsing_stopped: bool = False
    """The rest was cut by lines, because too many workers failed."""


class Merger:
    """Adds extracts one after the other. Each of them numbers its files and terms from 0."""

    def __init__(self, roles: Mapping[str, FileRole], max_chunks: int, max_terms: int) -> None:
        """Start with an empty corpus. Further chunks and terms are dropped; files are still searched as a whole."""
        self.truncated_paths: set[str] = set()
        """Files that lack chunks."""
        self._roles, self._max_chunks, self._max_terms = roles, max_chunks, max_terms
        self._left_out: Counter[str] = Counter()
        self._path_only = self._dropped_chunks = 0
        self._vocabulary = Vocabulary()
        self._files: list[File] = []
        self._definitions: dict[str, list[DefinitionLocation]] = {}
        self._chunks: list[NDArray[np.int32]] = []
        self._symbols: list[str | None] = []
        self._by_chunk: list[TermCounts] = []
        self._by_file: list[TermCounts] = []
        self._by_path: list[TermCounts] = []

    def add(self, batch: Sequence[SourceFile], extract: ExtractedFiles) -> None:
        terms = self._vocabulary.add_terms(extract.terms, self._max_terms)
        numbers: list[int] = []
        for source, reason, text in zip(batch, extract.skip_reasons, extract.compressed_texts, strict=True):
            numbers.append(len(self._files))
            if reason:
                self._left_out[reason] += 1
            else:
                self._files.append(File(source.path, self._roles[source.path], text))
                self._path_only += text is None
        for file, start, end, name in extract.definitions:
            location = DefinitionLocation(numbers[file], start, end, name)
            self._definitions.setdefault(name.rpartition(".")[2], []).append(location)
        self._add_chunks(batch, extract, np.array(numbers, dtype=np.int32), terms)
        self._by_file.append(extract.by_file.renumber_terms(terms))
        self._by_path.append(extract.by_path.renumber_terms(terms))

    def _add_chunks(
        self,
        batch: Sequence[SourceFile],
        extract: ExtractedFiles,
        numbers: NDArray[np.int32],
        terms: NDArray[np.int32],
    ) -> None:
        room = max(0, self._max_chunks - len(self._symbols))
        self.truncated_paths.update(batch[file].path for file, *_ in extract.chunks[room:])
        self._dropped_chunks += max(0, len(extract.chunks) - room)
        chunks = np.array(extract.chunks[:room], dtype=np.int32).reshape(-1, 4)
        self._symbols += [extract.definitions[around][3] if around >= 0 else None for around in chunks[:, 3].tolist()]
        self._chunks.append(np.stack([numbers[chunks[:, 0]], chunks[:, 1], chunks[:, 2]]))
        self._by_chunk.append(extract.by_chunk.take_range(0, len(chunks)).renumber_terms(terms))

    def finish(self, states: list[int], *, parsing_stopped: bool) -> MergeResult:
        files, starts, ends = np.concatenate([np.zeros((3, 0), dtype=np.int32), *self._chunks], axis=1)
        by_chunk, by_file, by_path = (
            BM25.from_counts(parts, len(self._vocabulary)) for parts in (self._by_chunk, self._by_file, self._by_path)
        )
        symbols, definitions, terms = self._symbols, self._definitions, self._vocabulary
        corpus = Corpus(self._files, files, starts, ends, symbols, definitions, terms, by_chunk, by_file, by_path)
        return MergeResult(corpus, self._left_out, self._path_only, self._dropped_chunks, states, parsing_stopped)


@dataclass
class ReusePlan:
    """The wanted files, in ranges that are either reused or read."""

    wanted: Sequence[WantedFile]
    ranges: Sequence[FileRange]
    index: ReusableIndex | None = None
    """None from `release_index` on: two indexes side by side would take twice the memory."""

    def reuse_everything(self, roles: Mapping[str, FileRole]) -> MergeResult | None:
        """Return the index as it is; None if anything has changed."""
        index = self.index
        if index is None or not index.covers(self.ranges):
            return None
        return MergeResult(index.to_corpus(roles), index.left_out, index.path_only, dropped_chunks=0)

    def extract_range(self, reused: FileRange) -> tuple[Sequence[SourceFile], ExtractedFiles, list[int]]:
        assert self.index is not None
        assert reused.reused_start is not None
        assert reused.reused_end is not None
        first, end = reused.reused_start, reused.reused_end
        return *self.index.extract_range(first, end), self.index.states[first:end].tolist()

    def release_index(self) -> None:
        self.index = None


def plan_reuse(index: ReusableIndex | None, wanted: Sequence[WantedFile]) -> ReusePlan:
    """Compare what is wanted with what another commit had."""
    if index is None:
        return ReusePlan(wanted, [FileRange(0, len(wanted))] if wanted else [])
    return ReusePlan(wanted, index.find_ranges(wanted), index)


@dataclass(frozen=True)
class IndexLimits:
    """How much an index may contain. Likely sources come first; paths are indexed whatever the limits.

    With the defaults 200,000 files stay below 60 seconds on two cores and 1.2 GB (measured: 40 seconds, 0.9 GB; each
    megabyte of text costs 0.3 seconds and 6 MB). Django has 31 MB; most repositories are smaller.
    """

    bytes: int = 120_000_000
    """Of text."""
    chunks: int = 250_000
    """Further files are searched as a whole only."""
    terms: int = 1_000_000
    """Further distinct terms are ignored."""
    paths: int = 300_000
    parse_seconds: float = 60.0
    """Files read later are cut by lines instead of parsed."""
    read_seconds: float = 120.0
    """Of files read later only the path is indexed."""


@dataclass
class BuildResult:
    corpus: Corpus
    left_out: Counter[str]
    partial: bool
    """A file that belongs in the corpus is missing or incomplete."""
    notes: list[str]
    make_reusable: Callable[[], ReusableIndex] | None
    """Makes what the next commit can reuse; None if that has not changed, or if parsing failed too often."""


def build_corpus(
    tree: SourceTree,
    listing: Listing,
    limits: IndexLimits,
    reusable: ReusableIndex | None = None,
    copied: Sequence[str] = (),
) -> BuildResult:
    """Index the files of a listing; unchanged ones are reused. Raises GitError if git does not start.

    `copied` are patterns of files that the project marks as generated or copied.
    """
    left_out = Counter(listing.left_out)
    roles = _classify_files(listing.entries, left_out, copied)
    wanted = _choose_files([entry for entry in listing.entries if entry.path in roles], roles, limits)
    plan = plan_reuse(reusable, wanted)
    del reusable  # so that plan.release_index frees it
    merged = plan.reuse_everything(roles) or _merge_files(tree, roles, plan, limits)
    missing = Counter({"not fetched": listing.missing}) if listing.missing else Counter()
    is_partial = bool(
        merged.path_only or merged.dropped_chunks or missing or listing.truncated or len(roles) > limits.paths
    )
    is_reusable = bool(merged.states) and not merged.parsing_stopped
    return BuildResult(
        merged.corpus,
        left_out + merged.left_out + missing,
        is_partial,
        list(_describe_gaps(merged, listing)),
        partial(make_reusable_index, wanted, merged.states, merged.corpus) if is_reusable else None,
    )


def _describe_gaps(merged: MergeResult, listing: Listing) -> Iterator[str]:
    if merged.parsing_stopped:
        yield "Syntax trees could not be read; files were cut by lines."
    if merged.path_only:
        files = "1 file is" if merged.path_only == 1 else f"{merged.path_only:,} files are"
        yield f"{files} known by path alone; likely sources were read first."
    if merged.dropped_chunks:
        yield f"{merged.dropped_chunks} passages did not fit; their files are searched as a whole."
    if listing.truncated:
        yield f"There are more than {len(listing.entries):,} files; further ones were not looked at."


def _classify_files(entries: Sequence[Entry], left_out: Counter[str], copied: Sequence[str]) -> dict[str, FileRole]:
    roles: dict[str, FileRole] = {}
    shared: dict[FileRole, FileRole] = {}
    copies = find_copies([entry.path for entry in entries], copied)
    for entry in entries:
        reason = get_skip_reason(entry.path, entry.size)
        if reason:
            left_out[reason] += 1
        else:
            role = classify_file(entry.path)
            if entry.path in copies:
                role = replace(role, is_auxiliary=True)
            roles[entry.path] = shared.setdefault(role, role)  # one object for all alike: there are 200,000 files
    return roles


def _choose_files(entries: Sequence[Entry], roles: Mapping[str, FileRole], limits: IndexLimits) -> list[WantedFile]:
    """Return the files to index with their text, likely and shallow ones first; then those to index by their path."""
    with_text: list[WantedFile] = []
    path_only: list[WantedFile] = []
    room = limits.bytes
    for entry in sorted(entries, key=lambda one: (-roles[one.path].prior, one.path.count("/"), one.path)):
        if entry.size <= room:
            room -= entry.size
            with_text.append(WantedFile(entry, with_text=True))
        else:
            path_only.append(WantedFile(entry, with_text=False))
    return [*with_text, *path_only][: limits.paths]


def _merge_files(tree: SourceTree, roles: Mapping[str, FileRole], plan: ReusePlan, limits: IndexLimits) -> MergeResult:
    merger = Merger(roles, limits.chunks, limits.terms)
    states: list[int] = []
    with WorkerPool() as pool:
        for batch, extract, batch_states in _iter_extracts(tree, plan, limits, pool):
            merger.add(batch, extract)
            states += batch_states
        parsing_stopped = pool.has_given_up
    plan.release_index()
    paths = (one.entry.path for one in plan.wanted)
    states = [
        INCOMPLETE if path in merger.truncated_paths else state for path, state in zip(paths, states, strict=True)
    ]
    return merger.finish(states, parsing_stopped=parsing_stopped)


def _iter_extracts(
    tree: SourceTree, plan: ReusePlan, limits: IndexLimits, pool: WorkerPool
) -> Iterator[tuple[Sequence[SourceFile], ExtractedFiles, list[int]]]:
    """Yield every wanted file in order, a few at a time, with the states of the files."""
    unread = [one for one in plan.ranges if one.reused_start is None]
    files = [file for one in unread for file in plan.wanted[one.start : one.end]]
    last_paths = {plan.wanted[one.end - 1].entry.path for one in unread}
    extracts = pool.extract_all(_make_batches(_read_sources(tree, files, limits), last_paths))
    for one in plan.ranges:
        if one.reused_start is not None:
            yield plan.extract_range(one)
            continue
        start = one.start
        while start < one.end:
            batch, extract = next(extracts)
            wanted, start = plan.wanted[start : start + len(batch)], start + len(batch)
            found = zip(wanted, batch, extract.skip_reasons, extract.compressed_texts, strict=True)
            yield batch, extract, [_find_state(*each) for each in found]


def _find_state(wanted: WantedFile, source: SourceFile, reason: str, text: bytes | None) -> int:
    if reason:
        return LEFT_OUT + REASONS.index(reason)
    if text is not None:
        return WITH_TEXT if source.use_grammar else INCOMPLETE
    if not wanted.with_text:
        return PATH_ONLY
    return INCOMPLETE if source.data is None else UNREADABLE


def _read_sources(tree: SourceTree, wanted: Sequence[WantedFile], limits: IndexLimits) -> Iterator[SourceFile]:
    """Yield the files in order; without content where it cannot be read, or not in time."""
    started = time.monotonic()
    read = 0
    for entry, data in tree.read([one.entry for one in wanted if one.with_text]):
        seconds = time.monotonic() - started
        if seconds > limits.read_seconds:
            break
        read += 1
        yield SourceFile(entry.path, data, use_grammar=seconds < limits.parse_seconds)
    for one in wanted[read:]:
        yield SourceFile(one.entry.path, None)


def _make_batches(sources: Iterator[SourceFile], last_paths: Container[str]) -> Iterator[list[SourceFile]]:
    """Group sources; a group also ends after each of `last_paths`."""
    batch: list[SourceFile] = []
    size = 0
    for source in sources:
        batch.append(source)
        size += _FILE_BYTES + len(source.data or b"")
        if size > _BATCH_BYTES or source.path in last_paths:
            yield batch
            batch, size = [], 0
