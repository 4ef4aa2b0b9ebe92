"""Learns from the repository's own issues, at run time, which labels, issue type and kind a new issue gets.

Regularised logistic regression in its dual form, one class against all others. All classes share one matrix of
similarities, so that many labels cost little more than one.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from triage.domain.issue import ParsedIssue
from triage.domain.past_issues import LearnedFromLabels, LearnedLabel, PastIssue
from triage.find.words.tokens import find_words
from triage.read.kind.issue_kind import KINDS, estimate_kind
from triage.read.kind_names import find_labelled_kind

_MAX_TITLE_CHARS, _MAX_BODY_CHARS, _MAX_LINE_CHARS = 300, 3_000, 80
_MIN_ISSUES = 2
"""A feature of fewer issues connects none."""
_MAX_FEATURES = 6_000
"""Of each group, the most frequent ones."""
_RIDGE, _STEPS = 0.2, 100

Matrix = NDArray[np.float64]
Features = Sequence[Sequence[str]]
"""Groups of features: of the title, of the body, and lines of the template."""
MIN_LABELLED = 50
"""With fewer labelled issues nothing is learned."""
MIN_CARRIERS = 10
"""With fewer issues that carry it, a label is not learned."""
MAX_LEARNED = 500
"""The newest: the cost grows with their square."""
MAX_LABELS = 40
"""The most frequent ones."""
SUGGESTED_FROM = 0.5
"""Least probability to suggest a label."""
_MAX_LABELS_OF_ISSUE = 100
_PRIOR_WEIGHT = 0.8
"""Of the log-odds of the model of all repositories: both read the same words."""
_BOT = "[bot]"


def extract_features(title: str, body: str) -> Features:
    """Return the features of a visible text. Takes time linear in it, and at most that of 3,000 characters."""
    title, body = title[:_MAX_TITLE_CHARS], body[:_MAX_BODY_CHARS]
    lines = [line.strip()[:_MAX_LINE_CHARS].lower() for line in body.split("\n")]
    words = find_words(title.lower())
    return [
        [*words, *map(" ".join, pairwise(["<", *words, ">"])), *["?"] * ("?" in title)],
        find_words(body.lower()),
        [line for line in lines if line],
    ]


@dataclass(frozen=True)
class Similarities:
    """Between the issues learned from, and between each new one (a row) and each of them; from 0 to 1."""

    known: Matrix
    new: Matrix


def measure_similarities(known: Sequence[Features], new: Sequence[Features]) -> Similarities:
    """Return the cosines of issues: the mean over title, body and lines. What fewer known issues have weighs more."""
    total = np.zeros((len(known) + len(new), len(known)))
    groups = len(known[0]) if known else 0
    for group in range(groups):
        rows = _weight([issue[group] for issue in known], [issue[group] for issue in new])
        total += rows @ rows[: len(known)].T / groups
    return Similarities(total[: len(known)], total[len(known) :])


def _weight(known: Sequence[Sequence[str]], new: Sequence[Sequence[str]]) -> NDArray[np.float32]:
    """Return a row of length 1 for each issue."""
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
    """Return the log-odds that each new issue is of each class. `classes` has a column for each."""
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


def learn_from_labels(parsed: ParsedIssue, past: Sequence[PastIssue]) -> LearnedFromLabels:
    """Learn from the newest issues of people that have a label or a type, at most 500."""
    labelled = [one for one in past if (one.labels or one.issue_type) and not one.author.endswith(_BOT)]
    newest = sorted(labelled, key=lambda one: -one.number)[:MAX_LEARNED]
    if len(newest) < MIN_LABELLED:
        return LearnedFromLabels()
    known = [extract_features(one.title, one.body) for one in newest]
    similarities = measure_similarities(known, [extract_features(parsed.title, parsed.body)])
    prior = estimate_kind(parsed)
    kinds = learn_kinds(similarities, newest, np.array([[prior[kind] for kind in KINDS]]))
    return LearnedFromLabels(
        labels=_learn_names(similarities, [{*one.labels[:_MAX_LABELS_OF_ISSUE]} for one in newest]),
        kinds={} if kinds is None else dict(zip(KINDS, kinds[0].tolist(), strict=True)),
    )


def learn_kinds(similarities: Similarities, known: Sequence[PastIssue], prior: Matrix) -> Matrix | None:
    """Return the probability of each kind for each new issue; None if fewer than 50 known ones have a label for a kind.

    `prior` has the probabilities without the known issues.
    """
    kinds = [find_labelled_kind([one.issue_type, *one.labels[:_MAX_LABELS_OF_ISSUE]]) for one in known]
    has_kind = np.array([kind in KINDS for kind in kinds])
    if has_kind.sum() < MIN_LABELLED:
        return None
    classes = np.array([[kind == column for column in KINDS] for kind in kinds])[has_kind]
    own = Similarities(similarities.known[np.ix_(has_kind, has_kind)], similarities.new[:, has_kind])
    logits = estimate_logits(own, classes) + _PRIOR_WEIGHT * np.log(np.maximum(prior, 1e-6))
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    likely: Matrix = powers / powers.sum(axis=1, keepdims=True)
    return likely


def _learn_names(similarities: Similarities, known_labels: Sequence[set[str]]) -> list[LearnedLabel]:
    """Return the labels that the new issue probably gets, likeliest first; `known_labels` are those of past ones."""
    carriers = Counter(name for names in known_labels for name in names)
    names = [name for name, count in carriers.most_common(MAX_LABELS) if count >= MIN_CARRIERS]
    if not names:
        return []
    classes = np.array([[name in own for name in names] for own in known_labels])
    likely = 1 / (1 + np.exp(-estimate_logits(similarities, classes)[0]))
    learned = [
        LearnedLabel(name=name, probability=round(float(probability), 2))
        for name, probability in zip(names, likely, strict=True)
        if probability >= SUGGESTED_FROM
    ]
    return sorted(learned, key=lambda one: (-one.probability, one.name))
