"""Files in order: sums of normalised scores, times what each file's place in the repository makes likely."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from triage.index.corpus import Corpus
from triage.index.names import Named, named
from triage.index.query import Query

CHUNKS, FILES, PATHS = 3.4, 1.5, 1.0
NAMES = {
    "defined": 1.0,
    "defined_in_title": 0.5,
    "path": 0.5,
    "module": 0.4,
    "frame": 0.4,
    "stem_in_title": 0.5,
    "stem_in_body": 0.2,
}
"""Weights learned by a listwise ranker on public issues, then rounded."""
MEANING = 1.0
"""Of an embedding model's similarity; local vectors only propose candidates."""
_SECOND, _THIRD = 1 / 2, 1 / 3
"""A file scores as its best chunk and these shares of the next two."""
_CHUNK_CANDIDATES, _FILE_CANDIDATES = 200, 100


@dataclass(frozen=True)
class Ranking:
    """Scores of everything, and the files worth showing, best first."""

    order: list[int]
    scores: Mapping[int, float]
    """Relative to the best."""
    chunk_scores: NDArray[np.float32]
    weights: Mapping[int, float]
    """The query by term number."""
    named: Named = field(default_factory=Named)
    meaning: frozenset[int] = frozenset()
    """Files that an embedding model puts among the nearest."""


def rank(corpus: Corpus, query: Query, near: Mapping[int, float], *, by_meaning: bool) -> Ranking:
    """Order the files for a query.

    Args:
        corpus: The repository.
        query: What is looked for.
        near: Chunks that the vector store found, with their similarity.
        by_meaning: The similarity comes from an embedding model and counts; otherwise it only makes candidates.
    """
    weights = term_weights(corpus, query)
    chunk_scores = corpus.by_chunk.scores(weights)
    by_chunk = _best_three(corpus, chunk_scores)
    by_file, by_path = corpus.by_file.scores(weights), corpus.by_path.scores(weights)
    found = named(corpus, query)
    total = CHUNKS * _normalised(by_chunk) + FILES * _normalised(by_file) + PATHS * _normalised(by_path)
    for name, weight in NAMES.items():
        total += weight * _normalised(_spread(getattr(found, name), len(corpus.files)))
    closest = _closest(corpus, near) if by_meaning else {}
    total += MEANING * _normalised(_spread(closest, len(corpus.files)))
    total *= corpus.priors

    candidates = {int(corpus.chunk_files[chunk]) for chunk in (*near, *_top(chunk_scores, _CHUNK_CANDIDATES))}
    candidates.update(*(_top(scores, _FILE_CANDIDATES) for scores in (by_file, by_path)))
    candidates.update(*(getattr(found, name) for name in NAMES))
    order = sorted(
        (file for file in candidates if total[file] > 0), key=lambda file: (-total[file], corpus.files[file].path)
    )
    best = float(total[order[0]]) if order else 1.0
    return Ranking(
        order, {file: float(total[file]) / best for file in order}, chunk_scores, weights, found, frozenset(closest)
    )


def term_weights(corpus: Corpus, query: Query) -> dict[int, float]:
    """The query's terms that the repository knows, by number."""
    number = corpus.vocabulary.number
    return {found: weight for term, weight in query.weights.items() if (found := number(term)) is not None}


def _normalised(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    highest = float(scores.max()) if len(scores) else 0.0
    return scores / highest if highest > 0 else scores


def _spread(signal: Mapping[int, float], size: int) -> NDArray[np.float32]:
    scores = np.zeros(size, dtype=np.float32)
    scores[list(signal)] = list(signal.values())
    return scores


def _top(scores: NDArray[np.float32], count: int) -> list[int]:
    """Numbers of the highest positive scores."""
    best = np.argpartition(scores, -count)[-count:] if count < len(scores) else np.arange(len(scores))
    return [int(number) for number in best if scores[number] > 0]


def _best_three(corpus: Corpus, scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """Each file's best chunk, with half of its second and a third of its third."""
    total = np.zeros(len(corpus.files), dtype=np.float32)
    if not len(scores):
        return total
    order = np.lexsort((-scores, corpus.chunk_files))
    files = corpus.chunk_files[order]
    place = np.arange(len(files)) - np.searchsorted(files, files)
    for rank_in_file, share in enumerate((1.0, _SECOND, _THIRD)):
        chosen = place == rank_in_file
        total[files[chosen]] += np.float32(share) * scores[order[chosen]]
    return total


def _closest(corpus: Corpus, near: Mapping[int, float]) -> dict[int, float]:
    """Each file's most similar chunk."""
    best: dict[int, float] = {}
    for chunk, similarity in near.items():
        file = int(corpus.chunk_files[chunk])
        best[file] = max(best.get(file, 0.0), similarity)
    return best
