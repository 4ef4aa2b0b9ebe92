"""Builds a corpus from a tree: chooses files within limits, has them extracted by workers, and merges the results."""

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from triage.find.files.file_filter import find_copies, get_skip_reason
from triage.find.files.file_roles import FileRole, classify_file
from triage.find.files.languages import detect_language
from triage.find.parse.extract import ExtractedFiles, SourceFile
from triage.find.parse.worker_pool import WorkerPool
from triage.find.words.bm25 import BM25, TermCounts
from triage.find.words.corpus import Corpus, DefinitionLocation, File
from triage.find.words.tokens import Vocabulary
from triage.git.tree import Entry, Listing, SourceTree

_BATCH_BYTES = 256_000
"""Of files that a worker extracts together."""
_FILE_BYTES = 256
"""Overhead of one file in a batch."""


class Merger:
    """Adds extracts one after the other. Each of them numbers its files and terms from 0."""

    def __init__(self, roles: Mapping[str, FileRole], max_chunks: int, max_terms: int) -> None:
        """Start with an empty corpus. Further chunks and terms are dropped; files are still searched as a whole."""
        self.left_out: Counter[str] = Counter()
        self.path_only = self.dropped_chunks = 0
        self._roles, self._max_chunks, self._max_terms = roles, max_chunks, max_terms
        self._vocabulary = Vocabulary()
        self._files: list[File] = []
        self._definitions: dict[str, list[DefinitionLocation]] = {}
        self._chunks: list[NDArray[np.int32]] = []
        self._symbols: list[str | None] = []
        self._by_chunk: list[TermCounts] = []
        self._by_file: list[TermCounts] = []
        self._by_path: list[TermCounts] = []

    def add(self, batch: Sequence[SourceFile], extract: ExtractedFiles) -> None:
        """Add what was extracted from a batch of files, under the numbers that its files and terms get here."""
        terms = self._vocabulary.add_terms(extract.terms, self._max_terms)
        numbers: list[int] = []
        # A file that is left out has no definitions and no chunks, so nothing reads its number.
        for source, reason, text in zip(batch, extract.skip_reasons, extract.compressed_texts, strict=True):
            numbers.append(len(self._files))
            if reason:
                self.left_out[reason] += 1
            else:
                role = self._roles[source.path]
                if not role.is_code and detect_language(source.path, source.data or b""):  # a script without an ending
                    role = replace(role, is_code=True)
                self._files.append(File(source.path, role, text))
                self.path_only += text is None
        for file, start, end, name in extract.definitions:
            location = DefinitionLocation(numbers[file], start, end, name)
            self._definitions.setdefault(name.rpartition(".")[2], []).append(location)
        self._add_chunks(extract, np.array(numbers, dtype=np.int32), terms)
        self._by_file.append(extract.by_file.renumber_terms(terms))
        self._by_path.append(extract.by_path.renumber_terms(terms))

    def _add_chunks(self, extract: ExtractedFiles, numbers: NDArray[np.int32], terms: NDArray[np.int32]) -> None:
        """Add the passages that fit; `numbers` and `terms` are the corpus's numbers of the batch's files and terms."""
        room = max(0, self._max_chunks - len(self._symbols))
        self.dropped_chunks += max(0, len(extract.chunks) - room)
        chunks = np.array(extract.chunks[:room], dtype=np.int32).reshape(-1, 4)
        self._symbols += [extract.definitions[around][3] if around >= 0 else None for around in chunks[:, 3].tolist()]
        self._chunks.append(np.stack([numbers[chunks[:, 0]], chunks[:, 1], chunks[:, 2]]))
        self._by_chunk.append(extract.by_chunk.take_first(len(chunks)).renumber_terms(terms))

    def finish(self) -> Corpus:
        files, starts, ends = np.concatenate([np.zeros((3, 0), dtype=np.int32), *self._chunks], axis=1)
        tables = (self._by_chunk, self._by_file, self._by_path)
        by_chunk, by_file, by_path = (BM25.from_counts(parts, len(self._vocabulary)) for parts in tables)
        symbols, definitions, terms = self._symbols, self._definitions, self._vocabulary
        return Corpus(self._files, files, starts, ends, symbols, definitions, terms, by_chunk, by_file, by_path)


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


def build_corpus(
    tree: SourceTree, listing: Listing, limits: IndexLimits, copied_patterns: Sequence[str] = ()
) -> BuildResult:
    """Index the files of a listing. Raises GitError if git does not start.

    `copied_patterns` are those of files that the project marks as generated or copied.
    """
    left_out = Counter(listing.left_out)
    roles = _classify_files(listing.entries, left_out, copied_patterns)
    with_text, path_only = _choose_files([one for one in listing.entries if one.path in roles], roles, limits)
    merger = Merger(roles, limits.chunks, limits.terms)
    with WorkerPool() as pool:
        for batch, extract in pool.extract_all(_make_batches(_read_sources(tree, with_text, path_only, limits))):
            merger.add(batch, extract)
        without_trees = pool.files_without_trees
    missing = Counter({"not fetched": listing.missing}) if listing.missing else Counter()
    gaps = (merger.path_only, merger.dropped_chunks, missing, listing.truncated, len(roles) > limits.paths)
    notes = list(_describe_gaps(merger, listing, without_trees))
    return BuildResult(merger.finish(), left_out + merger.left_out + missing, any(gaps), notes)


def _describe_gaps(merger: Merger, listing: Listing, without_trees: int) -> Iterator[str]:
    if without_trees:
        files = "1 file was" if without_trees == 1 else f"{without_trees:,} files were"
        yield f"{files} cut by lines: a process that reads syntax trees had ended, or none could be started."
    if merger.path_only:
        files = "1 file is" if merger.path_only == 1 else f"{merger.path_only:,} files are"
        yield f"{files} known by path alone; likely sources were read first."
    if merger.dropped_chunks:
        yield f"{merger.dropped_chunks} passages did not fit; their files are searched as a whole."
    if listing.truncated:
        yield f"There are more than {len(listing.entries):,} files; further ones were not looked at."


def _classify_files(
    entries: Sequence[Entry], left_out: Counter[str], copied_patterns: Sequence[str]
) -> dict[str, FileRole]:
    """Return the role of each file to index, by path, and count the others in `left_out` by reason."""
    roles: dict[str, FileRole] = {}
    shared: dict[FileRole, FileRole] = {}
    copies = find_copies(entries, copied_patterns)
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


def _choose_files(
    entries: Sequence[Entry], roles: Mapping[str, FileRole], limits: IndexLimits
) -> tuple[list[Entry], list[Entry]]:
    """Return the files to index with their text, likely and shallow ones first; and those to index by their path."""
    with_text: list[Entry] = []
    path_only: list[Entry] = []
    room = limits.bytes
    for entry in sorted(entries, key=lambda one: (-roles[one.path].prior, one.path.count("/"), one.path)):
        fits = entry.size <= room
        room -= entry.size if fits else 0
        (with_text if fits else path_only).append(entry)
    return with_text[: limits.paths], path_only[: max(0, limits.paths - len(with_text))]


def _read_sources(
    tree: SourceTree, with_text: Sequence[Entry], path_only: Sequence[Entry], limits: IndexLimits
) -> Iterator[SourceFile]:
    """Yield the files in order; without content where it cannot be read, or not in time."""
    started = time.monotonic()
    read = 0
    for entry, data in tree.read(with_text):
        seconds = time.monotonic() - started
        if seconds > limits.read_seconds:
            break
        read += 1
        yield SourceFile(entry.path, data, use_grammar=seconds < limits.parse_seconds)
    for entry in [*with_text[read:], *path_only]:
        yield SourceFile(entry.path, None)


def _make_batches(sources: Iterator[SourceFile]) -> Iterator[list[SourceFile]]:
    """Yield the files in batches of about `_BATCH_BYTES`."""
    batch: list[SourceFile] = []
    size = 0
    for source in sources:
        batch.append(source)
        size += _FILE_BYTES + len(source.data or b"")
        if size > _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
