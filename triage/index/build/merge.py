"""Puts extracts together: one numbering of files and terms for all of them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from triage.index.corpus.bm25 import BM25, TermCounts
from triage.index.corpus.corpus import Corpus, DefinitionLocation, File
from triage.index.corpus.tokens import Vocabulary
from triage.index.files.file_roles import FileRole
from triage.index.parse.extract import ExtractedFiles, SourceFile


@dataclass
class MergeResult:
    """An index, and what did not get into it."""

    corpus: Corpus
    left_out: Counter[str]
    """Reason to number of files."""
    path_only: int
    """Files that are known by their path alone."""
    dropped_chunks: int
    """Passages that did not get in."""
    cache_states: list[int] = field(default_factory=list)
    """How each wanted file can be kept, see `kept`; empty when all of them were."""
    parsing_stopped: bool = False
    """No more syntax trees were made."""


class Merger:
    """Joins extracts, whose numbers all start at 0."""

    def __init__(self, kinds: Mapping[str, FileRole], most_chunks: int, most_terms: int) -> None:
        """Nothing is in it yet.

        Args:
            kinds: Of each file.
            most_chunks: Passages of files that come later get in as part of the whole file only.
            most_terms: Different ones; those that come later are forgotten.
        """
        self.truncated_paths: set[str] = set()
        """Files that lack passages."""
        self._left_out: Counter[str] = Counter()
        self._unread = self._uncut = 0
        self._kinds = kinds
        self._most_chunks, self._most_terms = most_chunks, most_terms
        self._vocabulary = Vocabulary()
        self._files: list[File] = []
        self._places: dict[str, list[DefinitionLocation]] = {}
        self._chunks: list[NDArray[np.int32]] = []
        self._symbols: list[str | None] = []
        self._by_chunk: list[TermCounts] = []
        self._by_file: list[TermCounts] = []
        self._by_path: list[TermCounts] = []

    def add(self, batch: Sequence[SourceFile], extract: ExtractedFiles) -> None:
        """Index some files; of those without content only the paths."""
        terms = self._vocabulary.add_terms(extract.terms, self._most_terms)
        numbers: list[int] = []
        for source, reason, packed in zip(batch, extract.skip_reasons, extract.compressed_texts, strict=True):
            numbers.append(len(self._files))
            if reason:
                self._left_out[reason] += 1
            else:
                self._files.append(File(source.path, self._kinds[source.path], packed, source.blob_id))
                self._unread += packed is None
        for file, start, end, name in extract.definitions:
            self._places.setdefault(name.rpartition(".")[2], []).append(
                DefinitionLocation(numbers[file], start, end, name)
            )
        room = max(0, self._most_chunks - len(self._symbols))
        self.truncated_paths.update(batch[file].path for file, *_ in extract.chunks[room:])
        self._uncut += max(0, len(extract.chunks) - room)
        self._add_chunks(extract, room, np.array(numbers, dtype=np.int32), terms)
        self._by_file.append(extract.by_file.renumber_terms(terms))
        self._by_path.append(extract.by_path.renumber_terms(terms))

    def _add_chunks(
        self, extract: ExtractedFiles, room: int, numbers: NDArray[np.int32], terms: NDArray[np.int32]
    ) -> None:
        chunks = np.array(extract.chunks[:room], dtype=np.int32).reshape(-1, 4)
        self._symbols += [extract.definitions[place][3] if place >= 0 else None for place in chunks[:, 3].tolist()]
        self._chunks.append(np.stack([numbers[chunks[:, 0]], chunks[:, 1], chunks[:, 2]]))
        self._by_chunk.append(extract.by_chunk.take_first(len(chunks)).renumber_terms(terms))

    def finish(self, states: list[int], *, gave_up: bool) -> MergeResult:
        """Everything that was added."""
        files, starts, ends = np.concatenate([np.zeros((3, 0), dtype=np.int32), *self._chunks], axis=1)
        by_chunk, by_file, by_path = (
            BM25.from_counts(parts, len(self._vocabulary)) for parts in (self._by_chunk, self._by_file, self._by_path)
        )
        corpus = Corpus(
            self._files, files, starts, ends, self._symbols, self._places, self._vocabulary, by_chunk, by_file, by_path
        )
        return MergeResult(corpus, self._left_out, self._unread, self._uncut, states, gave_up)
