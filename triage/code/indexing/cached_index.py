"""An index as the cache stores it: what was extracted from each file, by path and blob id, and the finished tables.

For the same commit the tables are used as they are. For another commit the unchanged files are reused in ranges, and
only the others are read.

What is trusted: numbers and names in a cache may be wrong and then mislead a search, as a bad ranking would. Paths and
texts are not trusted. A path counts only if the commit lists it with the same blob id, and a text only if git's digest
of it is that id (see `File.read_text`). A text that differs from its blob (a masked key, an old encoding) is not stored
but read again. So nothing in a cache can make a false quote or line pass verification.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
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

BLOB_TEXT, OTHER_TEXT, PATH_ONLY, UNREADABLE, INCOMPLETE = range(5)
"""States of a file: indexed with its blob as text; with a text that differs from the blob; by its path, as planned; by
its path, because it could not be read; incompletely, for lack of time or room. States from `LEFT_OUT` on mean that the
file is left out for the reason `REASONS[state - LEFT_OUT]`."""
LEFT_OUT = 5
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
    cached_start: int | None = None
    """Number of the first one in the cached index; None when the files have to be read."""

    @property
    def cached_end(self) -> int | None:
        return None if self.cached_start is None else self.cached_start + self.end - self.start


@dataclass(frozen=True)
class CachedIndex:
    """Everything that an index knows about its files. The files that are not left out are its documents, in order."""

    paths: Sequence[str]
    blob_ids: Sequence[str]
    states: NDArray[np.uint8]
    texts: Sequence[bytes]
    """Compressed; empty unless the state is `BLOB_TEXT`."""
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
        """Split the wanted files, in order, into as few ranges as possible: cached ones and ones to read."""
        ranges: list[FileRange] = []
        for number, file in enumerate(wanted):
            cached = self._find_reusable(file)
            if ranges and ranges[-1].cached_end == cached:
                ranges[-1] = replace(ranges[-1], end=number + 1)
            else:
                ranges.append(FileRange(number, number + 1, cached))
        return ranges

    def covers(self, ranges: Sequence[FileRange]) -> bool:
        """Whether nothing has changed, so that the tables can be used as they are."""
        return list(ranges) == [FileRange(0, len(self.paths), 0)]

    def list_other_texts(self, ranges: Iterable[FileRange], wanted: Sequence[WantedFile]) -> list[Entry]:
        """Reusable files whose text is not stored and has to be read."""
        return [
            wanted[one.start + number].entry
            for one in ranges
            if one.cached_start is not None
            for number in np.flatnonzero(self.states[one.cached_start : one.cached_end] == OTHER_TEXT).tolist()
        ]

    def extract_range(
        self, first: int, end: int, other_texts: Mapping[str, bytes]
    ) -> tuple[list[SourceFile], ExtractedFiles]:
        """Files from number `first` up to but without `end`, as if they had just been extracted.

        `other_texts` are compressed texts that are not stored, by path.
        """
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
            [self._get_text(file, other_texts) for file in range(first, end)],
            definitions,
            list(zip(chunk_files, *chunks[1:3].tolist(), around, strict=True)),
            by_chunk,
            by_file,
            by_path,
        )
        return [
            SourceFile(self.paths[file], None, blob_id=self._get_blob_id(file)) for file in range(first, end)
        ], extract

    def to_corpus(self, roles: Mapping[str, FileRole], other_texts: Mapping[str, bytes]) -> Corpus:
        definitions: dict[str, list[DefinitionLocation]] = {}
        for document, start, end, number in self.definitions.T.tolist():
            name = self.names[number]
            definitions.setdefault(name.rpartition(".")[2], []).append(DefinitionLocation(document, start, end, name))
        files = [
            File(self.paths[file], roles[self.paths[file]], self._get_text(file, other_texts), self._get_blob_id(file))
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

    def _get_text(self, file: int, other_texts: Mapping[str, bytes]) -> bytes | None:
        return self.texts[file] if self.states[file] == BLOB_TEXT else other_texts.get(self.paths[file])

    def _get_blob_id(self, file: int) -> str:
        return self.blob_ids[file] if self.states[file] == BLOB_TEXT else ""


def _get_reason(state: int) -> str:
    return REASONS[state - LEFT_OUT] if state >= LEFT_OUT else ""
