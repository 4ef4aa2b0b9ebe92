"""What the features of one search share. Each part is computed when it is first used."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from triage.domain.code import ExecutedCode
from triage.find.past_changes import PastChanges
from triage.find.rank.mentions import FramePlace, MentionScores, find_frame_place, find_mentions
from triage.find.rank.query import PathMention, Query
from triage.find.words.bm25 import sum_best_parts
from triage.find.words.corpus import Corpus

Scores = NDArray[np.float32]
"""One number of at least 0 for each file, or for each chunk."""


@dataclass(frozen=True)
class Search:
    corpus: Corpus
    query: Query
    past_changes: PastChanges
    executed: ExecutedCode | None = None

    @cached_property
    def term_weights(self) -> Mapping[int, float]:
        """Weights of the query's terms that the repository has, by term number."""
        return self.corpus.vocabulary.number_terms(self.all_weights)

    @cached_property
    def chunk_scores(self) -> Scores:
        return self.corpus.by_chunk.score_documents(self.term_weights)

    @cached_property
    def mentions(self) -> MentionScores:
        return find_mentions(self.corpus, self.query, self.file_lines)

    @cached_property
    def best_chunk_scores(self) -> Scores:
        return self.score_files(self.chunk_scores)

    @cached_property
    def change_scores(self) -> Scores:
        """Of each past change, by the words that it shares with the issue."""
        return self.past_changes.score_changes(self.all_weights)

    @property
    def all_weights(self) -> Mapping[str, float]:
        return {**self.query.joined_weights, **self.query.term_weights}

    def part_weights(self, part: str) -> Mapping[int, float]:
        """Return the weights of the terms of one part of the issue (see `Query.part_weights`), by term number."""
        return self.corpus.vocabulary.number_terms(self.query.part_weights.get(part, {}))

    def score_part(self, part: str) -> Scores:
        """Return the score of each file by the terms of one part of the issue."""
        return self.score_files(self.corpus.by_chunk.score_documents(self.part_weights(part)))

    def sum_title_idf(self) -> Scores:
        """Return the sum of the idf of the title's terms that each file has."""
        table = self.corpus.by_file
        scores = self.zeros()
        for term in self.part_weights("title"):
            if len(documents := table.find_documents(term)):
                scores[documents] += table.idf[term]
        return scores

    def to_array(self, file_scores: Mapping[int, float]) -> Scores:
        scores = self.zeros()
        scores[list(file_scores)] = list(file_scores.values())
        return scores

    def zeros(self) -> Scores:
        return np.zeros(len(self.corpus.files), dtype=np.float32)

    def score_files(self, chunk_scores: Scores) -> Scores:
        """Return the score of each file by those of its chunks, the best of which count (see `sum_best_parts`)."""
        return sum_best_parts(chunk_scores, self.corpus.chunk_files, len(self.corpus.files))

    def chunk_text(self, chunk: int) -> str:
        lines = self.file_lines(int(self.corpus.chunk_files[chunk]))
        return "\n".join(lines[int(self.corpus.chunk_starts[chunk]) - 1 : int(self.corpus.chunk_ends[chunk])])

    def find_frame_place(self, file: int, frame: PathMention) -> FramePlace:
        return find_frame_place(self.corpus, self.file_lines(file), file, frame)

    def file_lines(self, file: int) -> list[str]:
        """Return the lines of a file, which is decompressed once."""
        if file not in self._lines:
            self._lines[file] = self.corpus.files[file].read_lines()
        return self._lines[file]

    @cached_property
    def _lines(self) -> dict[int, list[str]]:
        return {}


def find_highest(scores: Scores, count: int) -> list[int]:
    """Return the numbers of the highest positive scores, highest first."""
    found = np.flatnonzero(scores > 0)
    if count < len(found):
        found = found[np.argpartition(scores[found], -count)[-count:]]
    best: list[int] = found[np.argsort(-scores[found], kind="stable")].tolist()
    return best
