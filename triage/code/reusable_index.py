"""The index of a commit in a form of which the next commit takes over what has not changed.

For the same files the tables are used as they are. Otherwise the unchanged files are reused in ranges, and only the
others are read.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from triage.code.files.file_roles import FileRole
from triage.code.git.tree import Entry
from triage.code.parse.extract import ExtractedFiles, SourceFile
from triage.code.words.bm25 import BM25, Postings, TermCounts
from triage.code.words.corpus import Corpus, DefinitionLocation, File
from triage.code.words.tokens import Vocabulary

WITH_TEXT, PATH_ONLY, UNREADABLE, INCOMPLETE = range(4)
"""States of a file: indexed with its text; by its path, as planned; by its path, because it could not be read;
incompletely, for lack of time or room. States from `LEFT_OUT` on mean that the file is left out for the reason
`REASONS[state - LEFT_OUT]`."""
LEFT_OUT = 4
REASONS = ("LFS pointer", "binary", "minified", "generated")
"""Why the content of a file keeps it out of the index."""


@dataclass(frozen=True, slots=True)
class WantedFile:
    entry: Entry
    with_text: bool
    """Index its text; otherwise its path alone."""


@dataclass(frozen=True, slots=True)
class FileRange:
    """Consecutive wanted files, from number `start` up to but without `end`."""

    start: int
    end: int
    reused_start: int | None = None
    """Number of the first one in the reusable index; None when the files have to be read."""

    @property
    def reused_end(self) -> int | None:
        return None if self.reused_start is None else self.reused_start + self.end - self.start


@dataclass(frozen=True)
class ReusableIndex:
    """Everything that an index knows about its files. The files that are not left out are its documents, in order."""

    paths: Sequence[str]
    blob_ids: Sequence[str]
    states: NDArray[np.uint8]
    texts: Sequence[bytes | None]
    """Compressed; None unless the state is `WITH_TEXT` or `INCOMPLETE`."""
    names: Sequence[str]
    definitions: NDArray[np.int32]
    """Four rows: document, first line, last line, number of the qualified name. Those with one simple name are
    adjacent."""
    chunks: NDArray[np.int32]
    """The same four rows, ordered by document; the name's number is -1 outside of any definition."""
    terms: Sequence[str]
    tables: tuple[Postings, Postings, Postings]
    """Of chunks, files and paths."""

    @cached_property
    def file_numbers(self) -> Mapping[str, int]:
        return {path: number for number, path in enumerate(self.paths)}

    @cached_property
    def document_counts(self) -> Sequence[int]:
        """Number of documents before each file, and at the end the number of all."""
        return [0, *accumulate((self.states < LEFT_OUT).tolist())]

    @property
    def left_out(self) -> Counter[str]:
        return Counter(reason for state in self.states.tolist() if (reason := _get_reason(state)))

    @property
    def path_only(self) -> int:
        return int(((self.states == PATH_ONLY) | (self.states == UNREADABLE)).sum())

    def find_ranges(self, wanted: Sequence[WantedFile]) -> list[FileRange]:
        """Split the wanted files, in order, into as few ranges as possible: reused ones and ones to read."""
        ranges: list[FileRange] = []
        for number, file in enumerate(wanted):
            reusable = self._find_reusable(file)
            if ranges and ranges[-1].reused_end == reusable:
                ranges[-1] = replace(ranges[-1], end=number + 1)
            else:
                ranges.append(FileRange(number, number + 1, reusable))
        return ranges

    def covers(self, ranges: Sequence[FileRange]) -> bool:
        """Return whether nothing has changed, so that the tables can be used as they are."""
        return list(ranges) == [FileRange(0, len(self.paths), 0)]

    def extract_range(self, first: int, end: int) -> tuple[list[SourceFile], ExtractedFiles]:
        """Return the files from number `first` up to but without `end`, as if they had just been extracted."""
        first_document, end_document = self.document_counts[first], self.document_counts[end]
        states = self.states[first:end]
        indexed = np.flatnonzero(states < LEFT_OUT)
        rows = self._definitions_by_document
        rows = rows[:, slice(*np.searchsorted(rows[0], (first_document, end_document)))]
        definition_files = indexed[rows[0] - first_document].tolist()
        definitions = list(zip(definition_files, *rows[1:3].tolist(), self._get_names(rows[3]), strict=True))
        numbers = {(file, name): number for number, (file, _, _, name) in enumerate(definitions)}
        first_chunk, end_chunk = np.searchsorted(self.chunks[0], (first_document, end_document)).tolist()
        chunks = self.chunks[:, first_chunk:end_chunk]
        chunk_files = indexed[chunks[0] - first_document].tolist()
        around = [numbers.get(one, -1) for one in zip(chunk_files, self._get_names(chunks[3]), strict=True)]
        bounds = ((first_chunk, end_chunk), *[(first_document, end_document)] * 2)
        by_chunk, by_file, by_path = (
            counts.take_range(*some) for counts, some in zip(self._term_counts, bounds, strict=True)
        )
        used = np.unique(np.concatenate([table.terms for table in (by_chunk, by_file, by_path)]))
        for table in (by_chunk, by_file, by_path):
            table.terms[:] = np.searchsorted(used, table.terms)
        extract = ExtractedFiles(
            [self.terms[number] for number in used.tolist()],
            [_get_reason(state) for state in states.tolist()],
            list(self.texts[first:end]),
            definitions,
            list(zip(chunk_files, *chunks[1:3].tolist(), around, strict=True)),
            by_chunk,
            by_file,
            by_path,
        )
        return [SourceFile(path, None) for path in self.paths[first:end]], extract

    def to_corpus(self, roles: Mapping[str, FileRole]) -> Corpus:
        definitions: dict[str, list[DefinitionLocation]] = {}
        for document, start, end, number in self.definitions.T.tolist():
            name = self.names[number]
            definitions.setdefault(name.rpartition(".")[2], []).append(DefinitionLocation(document, start, end, name))
        files = [
            File(self.paths[file], roles[self.paths[file]], self.texts[file])
            for file in np.flatnonzero(self.states < LEFT_OUT).tolist()
        ]
        symbols = [self.names[number] if number >= 0 else None for number in self.chunks[3].tolist()]
        by_chunk, by_file, by_path = map(BM25, self.tables)
        vocabulary = Vocabulary.from_terms(self.terms)
        chunk_files, starts, ends = self.chunks[:3]
        return Corpus(files, chunk_files, starts, ends, symbols, definitions, vocabulary, by_chunk, by_file, by_path)

    def _find_reusable(self, wanted: WantedFile) -> int | None:
        number = self.file_numbers.get(wanted.entry.path)
        if number is None or not wanted.entry.blob_id or self.blob_ids[number] != wanted.entry.blob_id:
            return None
        state = int(self.states[number])
        return number if state != INCOMPLETE and (state != PATH_ONLY) == wanted.with_text else None

    @cached_property
    def _term_counts(self) -> list[TermCounts]:
        return [table.to_term_counts() for table in self.tables]

    @cached_property
    def _definitions_by_document(self) -> NDArray[np.int32]:
        return self.definitions[:, np.argsort(self.definitions[0], kind="stable")]

    def _get_names(self, numbers: NDArray[np.int32]) -> list[str]:
        return [self.names[number] if number >= 0 else "" for number in numbers.tolist()]


def make_reusable_index(wanted: Sequence[WantedFile], states: Sequence[int], corpus: Corpus) -> ReusableIndex:
    files = iter(corpus.files)
    names: dict[str, int] = {}
    definitions = [
        (location.file, location.start, location.end, names.setdefault(location.name, len(names)))
        for same_name in corpus.definitions.values()
        for location in same_name
    ]
    symbols = [-1 if symbol is None else names.setdefault(symbol, len(names)) for symbol in corpus.chunk_symbols]
    return ReusableIndex(
        paths=[one.entry.path for one in wanted],
        blob_ids=[one.entry.blob_id for one in wanted],
        states=np.array(states, dtype=np.uint8),
        texts=[next(files).compressed_text if state < LEFT_OUT else None for state in states],
        names=list(names),
        definitions=np.array(definitions, dtype=np.int32).reshape(-1, 4).T,
        chunks=np.stack(
            [corpus.chunk_files, corpus.chunk_starts, corpus.chunk_ends, np.array(symbols, dtype=np.int32)]
        ),
        terms=list(corpus.vocabulary.terms),
        tables=(corpus.by_chunk.postings, corpus.by_file.postings, corpus.by_path.postings),
    )


def _get_reason(state: int) -> str:
    return REASONS[state - LEFT_OUT] if state >= LEFT_OUT else ""
