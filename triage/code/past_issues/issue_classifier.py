"""Learns from the repository's own issues, at run time, which of them a new issue resembles.

Regularised logistic regression in its dual form, one class against all others. All classes share one matrix of
similarities, so that many labels cost little more than one.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from triage.code.past_issues.issue_terms import drop_comments
from triage.code.words.tokens import find_words
from triage.issue.kind.kind_cues import PHRASES, describe_title
from triage.safety.clean_text import clean_text

_MAX_TITLE_CHARS, _MAX_BODY_CHARS, _MAX_RAW_CHARS, _MAX_LINE_CHARS = 300, 3_000, 20_000, 80
_MAX_PROSE_CHARS = 800
"""Reporters say early what they want."""
_MIN_ISSUES = 2
"""A feature of fewer issues connects none."""
_MAX_FEATURES = 6_000
"""Of each group, the most frequent ones."""
_RIDGE, _STEPS = 0.2, 100

Matrix = NDArray[np.float64]
Features = Sequence[Sequence[str]]
"""Groups of features: of the title, of the body, lines of the template, and turns of phrase."""


def extract_features(title: str, body: str) -> Features:
    """Take time linear in the text, and at most that of 20,000 characters."""
    title = clean_text(title[:_MAX_TITLE_CHARS])
    text = clean_text(body[:_MAX_RAW_CHARS])
    lines = [line.strip()[:_MAX_LINE_CHARS].lower() for line in text[:_MAX_BODY_CHARS].split("\n")]
    words = find_words(title.lower())
    visible = drop_comments(text)[:_MAX_BODY_CHARS]
    body_words = find_words(visible.lower())
    prose = "\n".join(line for line in visible.split("\n") if not line.startswith("#"))[:_MAX_PROSE_CHARS]
    return [
        [*words, *_join_pairs(["<", *words, ">"]), *["?"] * ("?" in title)],
        body_words,
        [line for line in lines if line],
        [
            *(f"title {fact}" for fact in describe_title(title)),
            *(f"title says {name}" for name, phrase in PHRASES.items() if phrase.search(title)),
            *(name for name, phrase in PHRASES.items() if phrase.search(prose)),
            *["?"] * ("?" in prose),
            *["code"] * ("```" in visible),
            f"length {min(len(prose), _MAX_PROSE_CHARS) // 200}",
        ],
    ]


def _join_pairs(words: Sequence[str]) -> Iterator[str]:
    return (f"{one} {other}" for one, other in pairwise(words))


@dataclass(frozen=True)
class Similarities:
    """Between the issues learned from, and between each new one (a row) and each of them; from 0 to 1."""

    known: Matrix
    new: Matrix


def measure_similarities(known: Sequence[Features], new: Sequence[Features]) -> Similarities:
    """The mean of the cosines of all groups. The rarer a feature is among the known issues, the more it weighs."""
    total = np.zeros((len(known) + len(new), len(known)))
    groups = len(known[0]) if known else 0
    for group in range(groups):
        rows = _weight([issue[group] for issue in known], [issue[group] for issue in new])
        total += rows @ rows[: len(known)].T / groups
    return Similarities(total[: len(known)], total[len(known) :])


def _weight(known: Sequence[Sequence[str]], new: Sequence[Sequence[str]]) -> NDArray[np.float32]:
    """A row of length 1 for each issue."""
    counts = [Counter(features) for features in (*known, *new)]
    frequency = Counter(feature for count in counts[: len(known)] for feature in count)
    shared = [feature for feature, issues in frequency.most_common(_MAX_FEATURES) if issues >= _MIN_ISSUES]
    columns = {feature: column for column, feature in enumerate(shared)}
    idf = np.log(len(known) / np.array([frequency[feature] for feature in shared] or [1], dtype=np.float32))
    rows = np.zeros((len(counts), max(1, len(shared))), dtype=np.float32)
    for row, count in zip(rows, counts, strict=True):
        present = [(columns[feature], times) for feature, times in count.items() if feature in columns]
        if present:
            at, times = (np.array(part) for part in zip(*present, strict=True))
            row[at] = (1 + np.log(times)) * idf[at]
    weighted: NDArray[np.float32] = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.float32(1e-9))
    return weighted


def estimate_logits(similarities: Similarities, classes: NDArray[np.bool_]) -> Matrix:
    """The log-odds that each new issue is of each class. A column of `classes` says which known issues are of one."""
    wanted = classes.astype(np.float64)
    weights = np.zeros_like(wanted)
    bias = np.zeros(wanted.shape[1])
    count = len(wanted)
    # A quarter bounds the curvature of the logistic loss (Böhning and Lindsay, 1988): each step descends.
    step = np.linalg.inv(0.25 * similarities.known + _RIDGE * np.eye(count))
    for _ in range(_STEPS):
        likely = 1 / (1 + np.exp(-(similarities.known @ weights + bias)))
        errors = likely - wanted
        weights -= step @ (errors + _RIDGE * weights)
        bias -= 2 * errors.mean(axis=0)
    logits: Matrix = similarities.new @ weights + bias
    return logits
