"""A whole index as it is kept: what was taken from each file, by path and blob id, and the finished tables.

For the same commit the tables are used as they are. For another one the files that did not change are taken over in
long stretches, so that only the others are read.

What is trusted. Numbers and names in a cache are believed: wrong ones mislead a search, as a wrong ranking would.
What stands in a file is not: a path counts only where the commit's own listing has it with the same blob id, and its
text only where git's digest of it is that id; see `File.text`. Texts that are not their blob letter by letter (a masked
key, an old encoding) are not kept, but read again. So nothing in a cache can make a quote or a line hold.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from triage.index.corpus.bm25 import BM25, Postings, TermCounts
from triage.index.corpus.corpus import Corpus, DefinitionLocation, File
from triage.index.corpus.tokens import Vocabulary
from triage.index.files.file_roles import FileRole
from triage.index.parse.extract import ExtractedFiles, SourceFile
from triage.index.source.tree import Entry

BLOB_TEXT, OTHER_TEXT, PATH_ONLY, UNREADABLE, INCOMPLETE = range(5)
"""Indexed with a text that is the blob; with one that is not; by its path as was wanted; by its path since nothing else
worked; not as it should be, for lack of time or room. From `LEFT_OUT` on: left out, for the reason of that number."""
LEFT_OUT = 5
REASONS = ("LFS pointer", "binary", "minified", "generated")
"""Why a file is left out for its content."""


@dataclass(frozen=True, slots=True)
class WantedFile:
    """A file that belongs into the index."""

    entry: Entry
    with_text: bool
    """With its text; otherwise by its path alone."""


@dataclass(frozen=True, slots=True)
class FileRange:
    """Files that stand side by side, wanted from number `start` to before `end`."""

    start: int
    end: int
    cached_start: int | None = None
    """The number of the first among those kept; none where they have to be read."""


@dataclass(frozen=True)
class CachedIndex:
    """Everything that an index knows of its files. Those that are not left out are its documents, in order."""

    paths: Sequence[str]
    refs: Sequence[str]
    states: NDArray[np.uint8]
    texts: Sequence[bytes]
    """Compressed; empty where the state is not `TEXT`."""
    names: Sequence[str]
    places: NDArray[np.int32]
    """Rows: document, first line, last line, number of the name; those of one own name side by side."""
    chunks: NDArray[np.int32]
    """Rows as of places, ordered by document; the number is -1 outside of any definition."""
    terms: Sequence[str]
    tables: tuple[Postings, Postings, Postings]
    """Chunks, files and paths."""

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """Files by path."""
        return {path: number for number, path in enumerate(self.paths)}

    @cached_property
    def documents(self) -> Sequence[int]:
        """How many documents stand before each file; one more, for all."""
        return [0, *accumulate((self.states < LEFT_OUT).tolist())]

    def find_ranges(self, wanted: Sequence[WantedFile]) -> list[FileRange]:
        """The wanted files in order, in as few pieces as possible."""
        found: list[FileRange] = []
        for number, one in enumerate(wanted):
            kept = self._number(one)
            last = found[-1] if found else None
            if last is not None and kept == (
                None if last.cached_start is None else last.cached_start + number - last.start
            ):
                found[-1] = FileRange(last.start, number + 1, last.cached_start)
            else:
                found.append(FileRange(number, number + 1, kept))
        return found

    def covers(self, stretches: Sequence[FileRange]) -> bool:
        """Whether the finished tables are what is wanted: nothing has changed."""
        return list(stretches) == [FileRange(0, len(self.paths), 0)]

    def _number(self, wanted: WantedFile) -> int | None:
        """Of the file among those kept, unless it has to be read."""
        number = self.numbers.get(wanted.entry.path)
        if number is None or not wanted.entry.blob_id or self.refs[number] != wanted.entry.blob_id:
            return None
        state = int(self.states[number])
        return number if state != INCOMPLETE and (state != PATH_ONLY) == wanted.with_text else None

    def list_other_texts(self, stretches: Iterable[FileRange], wanted: Sequence[WantedFile]) -> list[Entry]:
        """Files whose text has to be read all the same."""
        kept = ((one.cached_start, one) for one in stretches)
        return [
            wanted[one.start + number].entry
            for first, one in kept
            if first is not None
            for number in np.flatnonzero(self.states[first : first + one.end - one.start] == OTHER_TEXT).tolist()
        ]

    def extract_range(self, first: int, last: int, odd: Mapping[str, bytes]) -> tuple[list[SourceFile], ExtractedFiles]:
        """Some files as if they had just been taken apart.

        Args:
            first: Number of the first file.
            last: Number after that of the last.
            odd: Packed texts of those among them that are not kept.
        """
        low, high = self.documents[first], self.documents[last]
        states = self.states[first:last]
        indexed = np.flatnonzero(states < LEFT_OUT)
        places = self._places_by_document
        places = places[:, slice(*np.searchsorted(places[0], (low, high)))]
        chunk_numbers = slice(*np.searchsorted(self.chunks[0], (low, high)).tolist())
        chunks = self.chunks[:, chunk_numbers]
        placed = list(
            zip(indexed[places[0] - low].tolist(), *places[1:3].tolist(), self._named(places[3]), strict=True)
        )
        number = {(file, name): at for at, (file, _, _, name) in enumerate(placed)}
        files = indexed[chunks[0] - low].tolist()
        around = [number.get(one, -1) for one in zip(files, self._named(chunks[3]), strict=True)]
        bounds = ((chunk_numbers.start, chunk_numbers.stop), (low, high), (low, high))
        by_chunk, by_file, by_path = (
            table.take_range(*some) for table, some in zip(self._counted, bounds, strict=True)
        )
        extract = ExtractedFiles(
            self._terms_of(by_chunk, by_file, by_path),
            [_reason(state) for state in states.tolist()],
            [self._packed(one, odd) for one in range(first, last)],
            placed,
            list(zip(files, *chunks[1:3].tolist(), around, strict=True)),
            by_chunk,
            by_file,
            by_path,
        )
        return [SourceFile(self.paths[one], None, blob_id=self._ref(one)) for one in range(first, last)], extract

    def to_corpus(self, kinds: Mapping[str, FileRole], odd: Mapping[str, bytes]) -> Corpus:
        """The finished index of all files."""
        indexed = np.flatnonzero(self.states < LEFT_OUT).tolist()
        definitions: dict[str, list[DefinitionLocation]] = {}
        for document, start, end, number in self.places.T.tolist():
            name = self.names[number]
            definitions.setdefault(name.rpartition(".")[2], []).append(DefinitionLocation(document, start, end, name))
        return Corpus(
            [File(self.paths[one], kinds[self.paths[one]], self._packed(one, odd), self._ref(one)) for one in indexed],
            self.chunks[0],
            self.chunks[1],
            self.chunks[2],
            [self.names[number] if number >= 0 else None for number in self.chunks[3].tolist()],
            definitions,
            Vocabulary.from_terms(self.terms),
            BM25(self.tables[0]),
            BM25(self.tables[1]),
            BM25(self.tables[2]),
        )

    @property
    def left_out(self) -> Counter[str]:
        """Reason to number of files."""
        return Counter(reason for state in self.states.tolist() if (reason := _reason(state)))

    @property
    def path_only(self) -> int:
        """Files that are known by their path alone."""
        return int(((self.states == PATH_ONLY) | (self.states == UNREADABLE)).sum())

    @cached_property
    def _counted(self) -> list[TermCounts]:
        return [table.to_term_counts() for table in self.tables]

    @cached_property
    def _places_by_document(self) -> NDArray[np.int32]:
        return self.places[:, np.argsort(self.places[0], kind="stable")]

    def _terms_of(self, *tables: TermCounts) -> list[str]:
        """The terms of some tables, whose numbers count them from now on."""
        used = np.unique(np.concatenate([table.terms for table in tables]))
        for table in tables:
            table.terms[:] = np.searchsorted(used, table.terms)
        return [self.terms[number] for number in used.tolist()]

    def _named(self, numbers: NDArray[np.int32]) -> list[str]:
        return [self.names[number] if number >= 0 else "" for number in numbers.tolist()]

    def _packed(self, number: int, odd: Mapping[str, bytes]) -> bytes | None:
        return self.texts[number] if self.states[number] == BLOB_TEXT else odd.get(self.paths[number])

    def _ref(self, number: int) -> str:
        return self.refs[number] if self.states[number] == BLOB_TEXT else ""


def _reason(state: int) -> str:
    return REASONS[state - LEFT_OUT] if state >= LEFT_OUT else ""
