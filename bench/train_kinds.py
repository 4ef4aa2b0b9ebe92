"""Learn the weights that tell bugs, feature requests and questions apart, and see how they do on other repositories.

Each line of a set is {"title", "body", "kind", "repo"}. `kind` is bug, feature (or feature_request) or question. `repo`
(owner/name) may be missing; such an issue counts as a repository of its own. The issues of `--try` are classified by
weights learned without their repository; those of `--set` are only learned from.
"""

import argparse
import json
import pickle
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triage.domain.issue import Issue
from triage.read.kind.issue_kind import DECLARED_LOGIT, KINDS, WEIGHTS_FILE, find_declared_kind
from triage.read.kind.kind_features import extract_kind_features
from triage.read.read_issue import read_issue

MIN_ISSUES, MIN_REPOSITORIES = 5, 3
"""A feature of fewer issues, or of fewer repositories, says more about them than about the kind."""
RIDGE = 0.0014
"""Pull of each weight towards 0. Chosen for repositories that were left out; five times less fits the others better."""
SET_WEIGHT = 0.3
"""Of an issue of `--set`, where one of `--try` has 1: labels of many small projects are less reliable."""
BUG_RECALL = 0.91
"""The bias of bugs is raised until so many bugs of left out repositories are recognized: few may be lost."""
BANDS = (0.0, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.01)
SCALE = 0.001
_STEPS, _MEMORY = 150, 10

Matrix = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Example:
    repository: str
    kind: int
    features: dict[str, float]
    declared: int
    """The kind that the reporter chose, -1 without a choice."""
    tried: bool


@dataclass(frozen=True)
class Rows:
    """A sparse matrix: the features of an example are at `starts[i]` to `starts[i + 1]`."""

    starts: NDArray[np.int64]
    columns: NDArray[np.int64]
    values: NDArray[np.float64]
    width: int

    def multiply(self, weights: Matrix) -> Matrix:
        sums = np.concatenate(
            [np.zeros((1, weights.shape[1])), np.cumsum(self.values[:, None] * weights[self.columns], 0)]
        )
        product: Matrix = sums[self.starts[1:]] - sums[self.starts[:-1]]
        return product

    def multiply_transposed(self, errors: Matrix) -> Matrix:
        spread = np.repeat(errors, np.diff(self.starts), axis=0) * self.values[:, None]
        columns = [np.bincount(self.columns, spread[:, kind], self.width) for kind in range(errors.shape[1])]
        return np.stack(columns, axis=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", type=Path, action="append", default=[], help="JSON lines to learn from")
    parser.add_argument("--try", type=Path, action="append", required=True, dest="tried", help="JSON lines to try")
    parser.add_argument("--cache", type=Path, help="file for the features; delete it after a change to them")
    parser.add_argument("--write", action="store_true", help=f"write {WEIGHTS_FILE.name}, learned from all issues")
    options = parser.parse_args()
    examples = load_examples(options.set, options.tried, options.cache)
    temperature, bug_bias = report(examples)
    if options.write:
        names = select_features(examples)
        weights, bias = fit(examples, names)
        bias[0] += bug_bias
        write(len(examples), names, weights * temperature, bias * temperature)


def load_examples(sets: Sequence[Path], tried: Sequence[Path], cache: Path | None) -> list[Example]:
    if cache and cache.exists():
        return list(pickle.loads(cache.read_bytes()))
    examples = [
        read_example(json.loads(line), path in tried, f"{path.name}:{number}")
        for path in [*tried, *sets]
        for number, line in enumerate(path.read_text("utf-8").splitlines())
    ]
    if cache:
        cache.write_bytes(pickle.dumps(examples))
    return examples


def read_example(record: dict[str, Any], tried: bool, name: str) -> Example:
    parsed = read_issue(Issue(title=record["title"], body=record["body"] or ""))
    kind = {"feature": "feature_request"}.get(record["kind"], record["kind"])
    declared = find_declared_kind(parsed)
    return Example(
        repository=record.get("repo") or name,
        kind=[str(known) for known in KINDS].index(kind),
        features=extract_kind_features(parsed),
        declared=KINDS.index(declared) if declared in KINDS else -1,
        tried=tried,
    )


def select_features(examples: Sequence[Example]) -> list[str]:
    issues: defaultdict[str, int] = defaultdict(int)
    repositories: defaultdict[str, set[str]] = defaultdict(set)
    for example in examples:
        for name in example.features:
            issues[name] += 1
            if len(repositories[name]) < MIN_REPOSITORIES:
                repositories[name].add(example.repository)
    return sorted(
        name for name, count in issues.items() if count >= MIN_ISSUES and len(repositories[name]) >= MIN_REPOSITORIES
    )


def make_rows(examples: Sequence[Example], names: Sequence[str]) -> Rows:
    positions = {name: position for position, name in enumerate(names)}
    starts, columns, values = [0], [], []
    for example in examples:
        for name, value in example.features.items():
            if (position := positions.get(name)) is not None:
                columns.append(position)
                values.append(value)
        starts.append(len(columns))
    return Rows(np.array(starts), np.array(columns, dtype=np.int64), np.array(values), len(names))


def fit(examples: Sequence[Example], names: Sequence[str]) -> tuple[Matrix, Matrix]:
    """One weight per feature and kind, and one bias per kind. All kinds count the same, however frequent they are."""
    rows = make_rows(examples, names)
    kinds = np.array([example.kind for example in examples])
    share = np.array([1.0 if example.tried else SET_WEIGHT for example in examples])
    for kind in range(len(KINDS)):
        share[kinds == kind] /= share[kinds == kind].sum() * len(KINDS)
    right = np.eye(len(KINDS))[kinds]

    def loss(flat: Matrix) -> tuple[float, Matrix]:
        weights, bias = np.split(flat.reshape(-1, len(KINDS)), [rows.width])
        likely = softmax(rows.multiply(weights) + bias)
        errors = (likely - right) * share[:, None]
        surprise = -share @ np.log(likely[np.arange(len(kinds)), kinds] + 1e-12)
        gradient = np.concatenate([rows.multiply_transposed(errors) + RIDGE * weights, errors.sum(axis=0)[None]])
        return float(surprise + RIDGE / 2 * (weights**2).sum()), gradient.ravel()

    best = minimize(loss, np.zeros((rows.width + 1) * len(KINDS))).reshape(-1, len(KINDS))
    return best[:-1], best[-1]


def minimize(loss: Callable[[Matrix], tuple[float, Matrix]], point: Matrix) -> Matrix:
    """L-BFGS (Nocedal and Wright, Numerical Optimization, algorithm 7.4), with a step that is halved until it helps."""
    value, gradient = loss(point)
    pairs: list[tuple[Matrix, Matrix]] = []
    for _ in range(_STEPS):
        direction = _find_direction(gradient, pairs)
        step = 1.0
        while (found := loss(point - step * direction))[0] > value - 1e-4 * step * float(direction @ gradient):
            step /= 2
            if step < 1e-9:
                return point
        moved, turned = -step * direction, found[1] - gradient
        if float(moved @ turned) > 0:
            pairs = [*pairs[1 - _MEMORY :], (moved, turned)]
        point, previous = point + moved, value
        value, gradient = found
        if previous - value < 1e-7:
            break
    return point


def _find_direction(gradient: Matrix, pairs: Sequence[tuple[Matrix, Matrix]]) -> Matrix:
    direction, factors = gradient.copy(), []
    for moved, turned in reversed(pairs):
        factor = (moved @ direction) / (moved @ turned)
        factors.append(factor)
        direction -= factor * turned
    if pairs:
        moved, turned = pairs[-1]
        direction *= (moved @ turned) / (turned @ turned)
    for (moved, turned), factor in zip(pairs, reversed(factors), strict=True):
        direction += (factor - (turned @ direction) / (moved @ turned)) * moved
    return direction


def softmax(logits: Matrix) -> Matrix:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    likely: Matrix = powers / powers.sum(axis=1, keepdims=True)
    return likely


def report(examples: Sequence[Example]) -> tuple[float, float]:
    """Print how left out repositories do. Returns the factor that makes the probabilities right, and the bugs' bias."""
    tried = [example for example in examples if example.tried]
    logits = np.zeros((len(tried), len(KINDS)))
    repositories = np.array([example.repository for example in tried])
    for repository in sorted(set(repositories)):
        learned_from = [example for example in examples if example.repository != repository]
        names = select_features(learned_from)
        weights, bias = fit(learned_from, names)
        held_out = [example for example in tried if example.repository == repository]
        logits[repositories == repository] = make_rows(held_out, names).multiply(weights) + bias
    kinds = np.array([example.kind for example in tried])
    declared = DECLARED_LOGIT * np.array(
        [[example.declared == kind for kind in range(len(KINDS))] for example in tried]
    )
    print_scores("as learned", kinds, softmax(logits + declared))
    temperature, bug_bias = calibrate(kinds, logits, declared)
    logits[:, 0] += bug_bias
    likely = softmax(logits * temperature + declared)
    for repository in sorted(set(repositories)):
        print_scores(repository, kinds[repositories == repository], likely[repositories == repository])
    print_scores("all", kinds, likely)
    print_bands(kinds, likely)
    return temperature, bug_bias


def calibrate(kinds: NDArray[np.int64], logits: Matrix, declared: Matrix) -> tuple[float, float]:
    bugs = kinds == 0

    def surprise(temperature: float) -> float:
        return float(-np.log(softmax(logits * temperature + declared)[np.arange(len(kinds)), kinds] + 1e-12).mean())

    temperature = min(np.arange(0.5, 4.0, 0.1), key=surprise)
    for bias in np.arange(0.0, 2.0, 0.01):
        raised = (logits + np.array([bias, 0.0, 0.0])) * temperature + declared
        if (raised.argmax(axis=1)[bugs] == 0).mean() >= BUG_RECALL:
            break
    return float(temperature), float(bias)


def print_scores(name: str, kinds: NDArray[np.int64], likely: Matrix) -> None:
    said = likely.argmax(axis=1)
    scores, line = [], ""
    for kind, word in enumerate(KINDS):
        right = int(((said == kind) & (kinds == kind)).sum())
        precision, recall = right / max(1, (said == kind).sum()), right / max(1, (kinds == kind).sum())
        scores.append(2 * precision * recall / max(1e-9, precision + recall))
        line += f"  {word} {precision:.2f} {recall:.2f}"
    print(f"{name:24} n={len(kinds):5} macro f1 {np.mean(scores):.3f}  precision, recall:{line}", flush=True)


def print_bands(kinds: NDArray[np.int64], likely: Matrix) -> None:
    highest, said = likely.max(axis=1), likely.argmax(axis=1)
    for low, high in pairwise(BANDS):
        band = (highest >= low) & (highest < high)
        shares = "".join(
            f"  {word} {100 * (kinds[chosen] == kind).mean():3.0f} % of {chosen.sum():3}"
            for kind, word in enumerate(KINDS)
            if (chosen := band & (said == kind)).any()
        )
        print(f"probability {low:.1f} to {min(high, 1.0):.1f}: n={band.sum():4}  right:{shares}")


def write(issues: int, names: Sequence[str], weights: Matrix, bias: Matrix) -> None:
    whole = np.rint(weights / SCALE).astype(int).tolist()
    features = {name: row for name, row in zip(names, whole, strict=True) if any(row)}
    head = json.dumps({"issues": issues, "scale": SCALE, "bias": bias.round(3).tolist()})[:-1]
    lines = (
        f"{json.dumps(name, ensure_ascii=False)}:{json.dumps(row, separators=(',', ':'))}"
        for name, row in features.items()
    )
    WEIGHTS_FILE.write_text(f'{head}, "features": {{\n' + ",\n".join(lines) + "\n}}\n", "utf-8")


if __name__ == "__main__":
    main()
