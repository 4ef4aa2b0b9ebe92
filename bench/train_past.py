"""Learns how much the past counts (`past` in `weights.json`), and measures it on repositories that were left out.

The other weights stay as they are: without a past the ranking is the same. The history is that of the base commit, so
nothing later is known. Two numbers are learned, so all of a grid are tried.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.accuracy import KS, build_record, open_git
from bench.train import line
from triage.find.past_changes import PastChanges, read_changes
from triage.find.rank.query import build_query
from triage.find.rank.ranking import (
    PAST_FEATURE,
    WEIGHTS_FILE,
    PastWeights,
    load_weights,
    rank_files,
)
from triage.find.retriever import make_search_query
from triage.git.commit import CommitTree

Numbers = NDArray[np.float64]
WEIGHTS, FLATTENINGS = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0), (0.0, 0.1, 0.2, 0.3, 0.4)
NO_PAST = PastWeights(0.0, 0.0)
_TINY = 1e-9


@dataclass(frozen=True)
class Example:
    repository: str
    sums: Numbers
    """Of the features without the past, for each candidate."""
    past: Numbers
    coverage: float
    right: NDArray[np.bool_]
    edited: int
    """Number of files that the fix edits, candidates or not."""

    def score(self, weights: PastWeights) -> Numbers:
        scores: Numbers = self.sums + weights.weight * self.coverage * self.past
        return scores * (1 - weights.flattening * self.coverage)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", type=Path, action="append", required=True, help="JSON lines; each set counts alike")
    parser.add_argument("--mirror", type=Path, required=True, help="folder of bare repositories")
    parser.add_argument("--commits", type=int, help="only the newest so many, as in a shallow clone")
    parser.add_argument("--limit", type=int, help="issues of each set")
    parser.add_argument("--write", action="store_true", help=f"write {WEIGHTS_FILE.name}")
    options = parser.parse_args()
    sets = [
        [
            compute_example(json.loads(row), options.mirror, options.commits)
            for row in path.read_text().splitlines()[: options.limit]
        ]
        for path in options.set
    ]
    for path, examples in zip(options.set, sets, strict=True):
        print(path.name)
        print("  without a past   ", line([hits(example, NO_PAST) for example in examples]))
        print("  repositories out ", line([*measure_left_out(examples, sets)]))
    learned = learn(sets)
    print(learned)
    if options.write:
        stored = json.loads(WEIGHTS_FILE.read_text())
        stored["past"] |= {"weight": learned.weight, "flattening": learned.flattening}
        WEIGHTS_FILE.write_text(json.dumps(stored, indent=2) + "\n")


def compute_example(record: dict[str, Any], mirror: Path, commits: int | None) -> Example:
    corpus = build_record(record, mirror)
    tree = CommitTree(open_git(record, mirror), revision=record["base_commit"])
    past = PastChanges(corpus, read_changes(tree.history.read_commits()[:commits]))
    query = build_query(make_search_query(record["problem_statement"]))
    ranking = rank_files(corpus, query, {}, by_embedding=False, past_changes=past)
    order, weights = ranking.order, load_weights()
    names = sorted(ranking.features.keys() - {PAST_FEATURE})
    sums = sum((weights[name] * ranking.features[name][order].astype(float) for name in names), np.zeros(len(order)))
    priors, gold = corpus.priors[order].astype(float), set(record["gold_files"])
    return Example(
        record["repo"],
        sums * priors,
        ranking.features[PAST_FEATURE][order].astype(float) * priors,
        past.coverage,
        np.array([corpus.files[file].path in gold for file in order], dtype=bool),
        len(gold),
    )


def learn(sets: Sequence[Sequence[Example]]) -> PastWeights:
    """Return the weights under which the right files are likeliest."""
    grid = [PastWeights(*pair) for pair in product(WEIGHTS, FLATTENINGS)]
    return min(grid, key=lambda weights: sum(measure_surprise(examples, weights) for examples in sets))


def measure_surprise(examples: Sequence[Example], weights: PastWeights) -> float:
    known = [example for example in examples if example.right.any()]
    if not known:
        return 0.0
    return float(np.mean([-np.log(softmax(one.score(weights))[one.right] + _TINY).mean() for one in known]))


def measure_left_out(examples: Sequence[Example], sets: Sequence[Sequence[Example]]) -> Iterator[list[bool]]:
    for repository in sorted({example.repository for example in examples}):
        weights = learn([[one for one in others if one.repository != repository] for others in sets])
        yield from (hits(example, weights) for example in examples if example.repository == repository)


def hits(example: Example, weights: PastWeights) -> list[bool]:
    """Whether all files of the fix are among the first k, for each k."""
    if example.right.sum() < example.edited:
        return [False] * len(KS)
    order = np.argsort(-example.score(weights), kind="stable")
    worst = int(np.flatnonzero(example.right[order]).max(initial=-1)) + 1
    return [worst <= k for k in KS]


def softmax(scores: Numbers) -> Numbers:
    powers = np.exp(scores - scores.max())
    likely: Numbers = powers / powers.sum()
    return likely


if __name__ == "__main__":
    main()
