"""Orders the files: a weighted sum of features, times a factor for each file's role in the repository."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from triage.domain.code import ExecutedCode
from triage.find.past_changes import PastChanges
from triage.find.rank.features import FEATURES
from triage.find.rank.query import Query
from triage.find.rank.search import Scores, Search, find_highest
from triage.find.words.corpus import Corpus

WEIGHTS_FILE = Path(__file__).with_name("weights.json")
EMBEDDING_WEIGHT = 1.0
"""Of an embedding model's similarity. Local vectors only add candidates."""
BACKGROUND_FEATURES = frozenset({"neighbours", "size"})
"""Features that make no file a suspect: it must share something else with the issue."""
PAST_FEATURE = "past fixes"
_CHUNK_CANDIDATES, _FILE_CANDIDATES, _PAST_CANDIDATES = 200, 100, 20
EXECUTED_WEIGHT = 1.0
"""As a logit, chosen by hand. Of 79 Python examples that ran at the base commit, a file of the fix is first in 63 %
(61 % without), among three in 85 % (80 %). More weight, some for the file that raises, and learned
weights are no better."""


@dataclass(frozen=True)
class Ranking:
    search: Search
    features: Mapping[str, Scores]
    """Each from 0 to 1."""
    order: list[int]
    scores: Mapping[int, float]
    """Relative to the best."""
    probabilities: Mapping[int, float]
    """That the fix edits the file. The weights are learned so that the sums are the logits of these probabilities. For
    repositories that the weights were not learned from, they are right within a few points (docs/localization.md)."""
    nearest_files: frozenset[int] = frozenset()
    """Files that an embedding model finds among the nearest."""


def rank_files(
    corpus: Corpus,
    query: Query,
    near: Mapping[int, float],
    *,
    by_embedding: bool,
    past_changes: PastChanges | None = None,
    executed: ExecutedCode | None = None,
) -> Ranking:
    """Order the files for a query.

    `near` has the chunks that the vector store found, with their similarity. That of an embedding model counts;
    otherwise it only adds candidates. `past_changes` count as much as they cover of the code.
    `executed` is what a run of the issue's example says.
    """
    search = Search(corpus, query, past_changes or PastChanges(corpus), executed)
    features = compute_features(search)
    # Of several chunks of a file the nearest counts.
    nearest = sorted(near.items(), key=lambda one: one[1]) if by_embedding else []
    closest = {int(corpus.chunk_files[chunk]): max(0.0, similarity) for chunk, similarity in nearest}
    without_background = EMBEDDING_WEIGHT * normalize(search.to_array(closest))
    without_background = without_background + _weighted_sum(features, features.keys() - BACKGROUND_FEATURES)
    weights, coverage = load_past_weights(), search.past_changes.coverage
    without_background = without_background + np.float32(weights.weight * coverage) * features[PAST_FEATURE]
    total = (without_background + _weighted_sum(features, BACKGROUND_FEATURES)) * corpus.priors
    total = total * np.float32(1 - weights.flattening * coverage)
    total = total + score_executed_files(search)
    candidates = _find_candidates(search, features, near)
    order = sorted(
        (file for file in candidates if without_background[file] > 0 or file in search.mentions.frame_scores),
        key=lambda file: (-total[file], corpus.files[file].path),
    )
    # The best score is 0 if a stack trace leads to an empty file and nothing else fits.
    best = (float(total[order[0]]) if order else 0.0) or 1.0
    scores = {file: float(total[file]) / best for file in order}
    return Ranking(search, features, order, scores, _compute_probabilities(total, order), frozenset(closest))


@cache
def load_weights() -> Mapping[str, float]:
    weights: dict[str, float] = json.loads(WEIGHTS_FILE.read_text())["weights"]
    return weights


@dataclass(frozen=True)
class PastWeights:
    """How much the past counts where all code was changed in it; less in proportion where less was."""

    weight: float
    """Of the feature."""
    flattening: float
    """Share by which the sums shrink. The past repeats what other features say, so together they are too sure."""
    enough: float = 60.0
    """Evidence that counts 1: the BM25 of a file's best changes, less for old and for large ones. The best file of half
    of the Python issues has as much. Less is weak, though no other file has more."""


@cache
def load_past_weights() -> PastWeights:
    return PastWeights(**json.loads(WEIGHTS_FILE.read_text())["past"])


def compute_features(search: Search) -> dict[str, Scores]:
    features = {name: feature(search) for name, feature in FEATURES.items()}
    past = np.minimum(features[PAST_FEATURE] / np.float32(load_past_weights().enough), np.float32(1.0))
    return {**{name: normalize(scores) for name, scores in features.items()}, PAST_FEATURE: past}


def normalize(scores: Scores) -> Scores:
    highest = float(scores.max()) if len(scores) else 0.0
    return scores / np.float32(highest) if highest > 0 else scores


def _compute_probabilities(total: Scores, order: Sequence[int]) -> dict[int, float]:
    if not order:
        return {}
    powers = np.exp(total[order] - total[order].max())
    # One more place that is as likely as the average file: outside of the repository. It matters to small ones.
    shares = powers / powers.sum() * (len(total) / (len(total) + 1))
    return dict(zip(order, shares.tolist(), strict=True))


def _weighted_sum(features: Mapping[str, Scores], names: Iterable[str]) -> Scores:
    weighted = [np.float32(load_weights().get(name, 0.0)) * features[name] for name in sorted(names)]
    total: Scores = np.sum(weighted, axis=0, dtype=np.float32)
    return total


def _find_candidates(search: Search, features: Mapping[str, Scores], near: Mapping[int, float]) -> set[int]:
    """Return the files that are best in one way at least, or that the issue mentions."""
    files = search.corpus.chunk_files
    candidates = {int(files[chunk]) for chunk in (*near, *find_highest(search.chunk_scores, _CHUNK_CANDIDATES))}
    candidates.update(*(find_highest(features[name], _FILE_CANDIDATES) for name in ("files", "paths", "called")))
    candidates.update(find_highest(features[PAST_FEATURE], _PAST_CANDIDATES))
    mentions = search.mentions
    candidates.update(mentions.path_scores, mentions.frame_scores)
    candidates.update(mentions.definition_scores, mentions.stem_scores)
    return candidates


def score_executed_files(search: Search) -> Scores:
    """Return how much likelier each file is: nothing without a run."""
    scores = search.zeros()
    if search.executed:
        numbers = search.corpus.file_numbers
        scores[[numbers[one.path] for one in search.executed.functions if one.path in numbers]] = EXECUTED_WEIGHT
    return scores
