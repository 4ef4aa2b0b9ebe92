"""Files in order: a weighted sum of signals, times what each file's place in the repository makes likely."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from triage.index.corpus.corpus import Corpus
from triage.index.rank.evidence import Evidence, Scores, find_highest
from triage.index.rank.features import FEATURES
from triage.index.rank.mentions import Mentions
from triage.index.rank.query import Query

WEIGHTS_FILE = Path(__file__).with_name("weights.json")
EMBEDDING_WEIGHT = 1.0
"""Of an embedding model's similarity; local vectors only propose candidates."""
BACKGROUND_FEATURES = frozenset({"neighbours", "size"})
"""Signals that make nobody a suspect: a file must share something with the issue itself."""
_CHUNK_CANDIDATES, _FILE_CANDIDATES = 200, 100


@dataclass(frozen=True)
class Ranking:
    """The files worth showing, best first, and what they were found by."""

    evidence: Evidence
    features: Mapping[str, Scores]
    """What speaks for each file, from 0 to 1."""
    order: list[int]
    scores: Mapping[int, float]
    """Relative to the best."""
    chances: Mapping[int, float]
    """That the fix edits the file. The weights are learned such that the sums are the logits of these chances; for
    repositories that they were not learned from they hold within a few points (docs/localization.md)."""
    nearest_files: frozenset[int] = frozenset()
    """Files that an embedding model puts among the nearest."""

    @property
    def chunk_scores(self) -> Scores:
        """Each chunk by the words of the query."""
        return self.evidence.chunk_scores

    @property
    def term_weights(self) -> Mapping[int, float]:
        """The query by term number."""
        return self.evidence.term_weights

    @property
    def mentions(self) -> Mentions:
        """What the issue names outright."""
        return self.evidence.mentions


def rank_files(corpus: Corpus, query: Query, near: Mapping[int, float], *, by_meaning: bool) -> Ranking:
    """Order the files for a query.

    Args:
        corpus: The repository.
        query: What is looked for.
        near: Chunks that the vector store found, with their similarity.
        by_meaning: The similarity comes from an embedding model and counts; otherwise it only makes candidates.
    """
    evidence = Evidence(corpus, query)
    signals = compute_features(evidence)
    closest = _closest_chunks(corpus, near) if by_meaning else {}
    spoken = EMBEDDING_WEIGHT * normalize(evidence.to_array(closest)) + _weighted_sum(
        signals, signals.keys() - BACKGROUND_FEATURES
    )
    total = (spoken + _weighted_sum(signals, BACKGROUND_FEATURES)) * corpus.priors
    order = sorted(
        (
            file
            for file in _find_candidates(evidence, signals, near)
            if spoken[file] > 0 or file in evidence.mentions.frame_scores
        ),
        key=lambda file: (-total[file], corpus.files[file].path),
    )
    # A file that the trace alone leads to may have no other number: an empty one beside the sources.
    best = (float(total[order[0]]) if order else 0.0) or 1.0
    scores = {file: float(total[file]) / best for file in order}
    return Ranking(evidence, signals, order, scores, _compute_chances(total, order), frozenset(closest))


@cache
def load_weights() -> Mapping[str, float]:
    """How much each signal counts, as learned."""
    weights: dict[str, float] = json.loads(WEIGHTS_FILE.read_text())["weights"]
    return weights


def compute_features(evidence: Evidence) -> dict[str, Scores]:
    """Every signal, from 0 to 1."""
    return {name: normalize(signal(evidence)) for name, signal in FEATURES.items()}


def normalize(scores: Scores) -> Scores:
    """Divided by the highest."""
    highest = float(scores.max()) if len(scores) else 0.0
    return scores / np.float32(highest) if highest > 0 else scores


def _compute_chances(total: Scores, order: Sequence[int]) -> dict[int, float]:
    powers = np.exp(total[order] - total[order].max()) if order else np.zeros(0)
    return dict(zip(order, (powers / powers.sum()).tolist(), strict=True)) if order else {}


def _weighted_sum(signals: Mapping[str, Scores], names: Iterable[str]) -> Scores:
    """Weighted; a signal counts nothing before it was trained, and a weight whose signal is gone is not looked at."""
    weighted = [np.float32(load_weights().get(name, 0.0)) * signals[name] for name in sorted(names)]
    total: Scores = np.sum(weighted, axis=0, dtype=np.float32)
    return total


def _find_candidates(evidence: Evidence, signals: Mapping[str, Scores], near: Mapping[int, float]) -> set[int]:
    """Files that may share something with the issue."""
    files = evidence.corpus.chunk_files
    found = {int(files[chunk]) for chunk in (*near, *find_highest(evidence.chunk_scores, _CHUNK_CANDIDATES))}
    found.update(*(find_highest(signals[name], _FILE_CANDIDATES) for name in ("files", "paths", "called")))
    named = evidence.mentions
    found.update(
        named.path_scores,
        named.frame_scores,
        named.module_scores,
        named.definition_scores,
        named.title_stem_scores,
        named.stem_scores,
    )
    return found


def _closest_chunks(corpus: Corpus, near: Mapping[int, float]) -> dict[int, float]:
    """Each file's most similar chunk."""
    best: dict[int, float] = {}
    for chunk, similarity in near.items():
        file = int(corpus.chunk_files[chunk])
        best[file] = max(best.get(file, 0.0), similarity)
    return best
