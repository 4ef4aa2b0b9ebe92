"""Merges extracts into one corpus, with one numbering of files and terms."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from triage.code.files.file_roles import FileRole
from triage.code.parse.extract import ExtractedFiles, SourceFile
from triage.code.words.bm25 import BM25, TermCounts
from triage.code.words.corpus import Corpus, DefinitionLocation, File
from triage.code.words.tokens import Vocabulary


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
