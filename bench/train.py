"""Learns the weights of the features, and measures them on repositories that they were not learned from.

A listwise softmax over the candidates of each issue: the weights make the files that the real fix edits likely. With
about twenty weights the problem is convex and small, and Newton's method solves it in a few steps.
"""

import argparse
import json
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.accuracy import KS, build_record
from triage.find.past_changes import PastChanges
from triage.find.rank.features import FEATURES
from triage.find.rank.query import build_query
from triage.find.rank.ranking import PAST_FEATURE, WEIGHTS_FILE, normalize, rank_files
from triage.find.rank.search import Search
from triage.find.retriever import make_search_query
from triage.find.words.corpus import Corpus

SIGNALS = {name: feature for name, feature in FEATURES.items() if name != PAST_FEATURE}
"""Those of the commit alone; `bench.train_past` learns how much its past counts."""
CANDIDATES = 200
RIDGE = 0.1
"""Pull of each weight towards its start, in units of the feature's standard deviation."""
START = {"chunks": 3.4, "files": 1.5, "paths": 1.0, "definition": 1.0, "path": 0.5}
"""Set by hand, from a ranker with these features alone. The others start at 0."""
MIN_WEIGHTS = {"innermost frame": 2.5}
"""The learned weight is 1.4. The higher one does not change Acc@k, and puts the file in which a trace ends among the first
three in 97 of 100 issues with a trace instead of 91. A reader looks for it there."""
_STEPS, _PRECISION = 30, 1e-6
_MIN_SPREAD = 0.02
"""Otherwise the weight of a feature that hardly any candidate has would grow without limit."""
_SMALL, _GROUPS = 25, 6
"""Repositories with fewer issues are left out in groups."""
_BANDS = (0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 1.1)

Matrix = NDArray[np.floating[Any]]
Scaled = Sequence[tuple[Matrix, NDArray[np.bool_]]]
"""Features in units of their standard deviation, and which candidates are right."""


@dataclass(frozen=True)
class Example:
    repository: str
    features: Matrix
    """One row per candidate, one column per feature, times the factor of the file's role."""
    right: NDArray[np.bool_]
    edited: int
    """Number of files that the fix edits, candidates or not."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", type=Path, action="append", required=True, help="JSON lines; may be given again")
    parser.add_argument("--mirror", type=Path, required=True, help="folder of bare repositories")
    parser.add_argument("--cache", type=Path, required=True, help="folder for what was computed")
    parser.add_argument("--write", action="store_true", help=f"write {WEIGHTS_FILE.name}")
    options = parser.parse_args()
    records = [json.loads(line) for path in options.set for line in path.read_text().splitlines()]
    examples = list(load_examples(records, options.mirror, options.cache))
    report(examples)
    if options.write:
        learned = dict(zip(SIGNALS, fit(examples).round(3).tolist(), strict=True))
        stored = {**json.loads(WEIGHTS_FILE.read_text()), "issues": len(examples), "weights": learned}
        WEIGHTS_FILE.write_text(json.dumps(stored, indent=2) + "\n")


def load_examples(records: Sequence[dict[str, Any]], mirror: Path, cache: Path) -> Iterator[Example]:
    cache.mkdir(parents=True, exist_ok=True)
    # Distinguishes caches of other features. The cache of a changed feature has to be deleted by hand.
    digest = f"{zlib.crc32(' '.join(SIGNALS).encode()):08x}"
    for record in records:
        file = cache / f"{record['instance_id'].replace('/', '_')}-{digest}.npz"
        if not file.exists():
            features, right = compute_example(record, build_record(record, mirror))
            np.savez_compressed(file, features=features, right=right)
        data = np.load(file)
        yield Example(record["repo"], data["features"].astype(float), data["right"], len(record["gold_files"]))


def compute_example(record: dict[str, Any], corpus: Corpus) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    query = build_query(make_search_query(record["problem_statement"]))
    order = rank_files(corpus, query, {}, by_embedding=False).order[:CANDIDATES]
    evidence = Search(corpus, query, PastChanges(corpus))
    columns = [normalize(feature(evidence))[order] * corpus.priors[order] for feature in SIGNALS.values()]
    gold = set(record["gold_files"])
    return np.stack(columns, axis=1), np.array([corpus.files[file].path in gold for file in order], dtype=bool)


def fit(examples: Sequence[Example]) -> Matrix:
    """Weights that make the right files likely, none below its minimum in `MIN_WEIGHTS`."""
    known = [example for example in examples if example.right.any()]
    spread = np.maximum(_MIN_SPREAD, np.concatenate([example.features for example in known]).std(axis=0))
    scaled = [(example.features / spread, example.right) for example in known]
    start: Matrix = np.array([START.get(name, 0.0) for name in SIGNALS]) * spread
    weights = start.copy()
    loss = _loss(scaled, weights, start)
    for _ in range(_STEPS):
        step = _newton(scaled, weights, start)
        while (better := _loss(scaled, weights - step, start)) > loss:
            step /= 2
        if loss - better < _PRECISION:
            break
        weights -= step
        loss = better
    learned: Matrix = np.maximum(weights / spread, [MIN_WEIGHTS.get(name, -np.inf) for name in SIGNALS])
    return learned


def _loss(scaled: Scaled, weights: Matrix, start: Matrix) -> float:
    surprise = [-np.log(_softmax(features @ weights)[right] + 1e-300).mean() for features, right in scaled]
    return float(np.mean(surprise) + RIDGE * ((weights - start) @ (weights - start)))


def _newton(scaled: Scaled, weights: Matrix, start: Matrix) -> Matrix:
    gradient: Matrix = 2 * RIDGE * (weights - start)
    curvature: Matrix = 2 * RIDGE * np.eye(len(weights))
    for features, right in scaled:
        likely = _softmax(features @ weights)
        mean = likely @ features
        gradient = gradient - (features[right].mean(axis=0) - mean) / len(scaled)
        curvature = curvature + ((features * likely[:, None]).T @ features - np.outer(mean, mean)) / len(scaled)
    step: Matrix = np.linalg.solve(curvature, gradient)
    return step


def _softmax(scores: Matrix) -> Matrix:
    powers = np.exp(scores - scores.max())
    likely: Matrix = powers / powers.sum()
    return likely


def report(examples: Sequence[Example]) -> None:
    sizes = Counter(example.repository for example in examples)
    small = {
        name: f"small ones, group {zlib.crc32(name.encode()) % _GROUPS + 1}" for name in sizes if sizes[name] < _SMALL
    }
    folds = [small.get(example.repository, example.repository) for example in examples]
    if len(set(folds)) < 2:
        raise SystemExit("The issues come from too few repositories to leave some of them out.")
    rows: list[list[bool]] = []
    predicted: list[tuple[float, bool]] = []
    for fold in sorted(set(folds)):
        weights = fit([example for example, other in zip(examples, folds, strict=True) if other != fold])
        held_out = [example for example, other in zip(examples, folds, strict=True) if other == fold]
        hits = [[worst_position(example, weights) <= k for k in KS] for example in held_out]
        print(f"{fold:32}", line(hits), flush=True)
        rows += hits
        predicted += [first_probability(example, weights) for example in held_out]
    print(f"{'all':32}", line(rows))
    for low, high in pairwise(_BANDS):
        band = [right for chance, right in predicted if low <= chance < high]
        if band:
            print(
                f"probability {low:.1f} to {min(high, 1.0):.1f}: n={len(band):4} right {100 * float(np.mean(band)):5.1f} %"
            )


def first_probability(example: Example, weights: Matrix) -> tuple[float, bool]:
    if not len(example.right):
        return 0.0, False
    likely = _softmax(example.features @ weights)
    first = int(np.argmax(likely))
    return float(likely[first]), bool(example.right[first])


def worst_position(example: Example, weights: Matrix) -> int:
    """Position of the last file that the fix edits, from 1; beyond the candidates if one is missing."""
    if example.right.sum() < example.edited:
        return CANDIDATES + 1
    order = np.argsort(-(example.features @ weights), kind="stable")
    return int(np.flatnonzero(example.right[order]).max()) + 1


def line(rows: Sequence[Sequence[bool]]) -> str:
    shares = np.array(rows, dtype=float).mean(axis=0) * 100
    return f"n={len(rows):4} " + " ".join(f"acc@{k} {share:5.1f}" for k, share in zip(KS, shares, strict=True))


if __name__ == "__main__":
    main()
