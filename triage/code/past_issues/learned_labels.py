"""Suggests the labels, the issue type and the kind that similar issues of the repository carry."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from triage.code.past_issues.issue_classifier import (
    Matrix,
    Similarities,
    estimate_logits,
    extract_features,
    measure_similarities,
)
from triage.domain.issue import ParsedIssue
from triage.domain.past_issues import LearnedFromLabels, LearnedLabel, PastIssue
from triage.issue.kind.declared_kind import LearnedKind
from triage.issue.kind.issue_kind import find_labelled_kind
from triage.issue.kind.kind_model import KINDS, estimate_kind

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
_LEAST = 1e-6
_BOT = "[bot]"


def learn_from_labels(parsed: ParsedIssue, past: Sequence[PastIssue]) -> LearnedFromLabels:
    """Take time that does not grow with more than 500 labelled issues."""
    newest = choose_labelled(past)
    if len(newest) < MIN_LABELLED:
        return LearnedFromLabels()
    similarities = measure_similarities(
        [extract_features(one.title, one.body) for one in newest], [extract_features(parsed.title, parsed.body)]
    )
    prior = estimate_kind(parsed)
    kinds = learn_kinds(similarities, newest, np.array([[prior[kind] for kind in KINDS]]))
    types = _learn_names(similarities, [{one.issue_type} - {""} for one in newest])
    return LearnedFromLabels(
        labels=_learn_names(similarities, [{*one.labels[:_MAX_LABELS_OF_ISSUE]} for one in newest]),
        issue_type=types[0] if types else None,
        kinds={} if kinds is None else dict(zip(KINDS, kinds[0].tolist(), strict=True)),
    )


def choose_labelled(past: Sequence[PastIssue]) -> list[PastIssue]:
    """The newest issues of people that have a label or a type, at most 500."""
    labelled = [one for one in past if (one.labels or one.issue_type) and not one.author.endswith(_BOT)]
    return sorted(labelled, key=lambda one: -one.number)[:MAX_LEARNED]


def learn_kinds(similarities: Similarities, known: Sequence[PastIssue], prior: Matrix) -> Matrix | None:
    """The probability of each kind for each new issue; None if fewer than 50 known ones have a label for a kind.

    `prior` has the probabilities without the known issues.
    """
    kinds = [_find_kind(one) for one in known]
    has_kind = np.array([kind is not None for kind in kinds])
    if has_kind.sum() < MIN_LABELLED:
        return None
    classes = np.array([[kind == column for column in KINDS] for kind in kinds])[has_kind]
    own = Similarities(similarities.known[np.ix_(has_kind, has_kind)], similarities.new[:, has_kind])
    logits = estimate_logits(own, classes) + _PRIOR_WEIGHT * np.log(np.maximum(prior, _LEAST))
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    likely: Matrix = powers / powers.sum(axis=1, keepdims=True)
    return likely


def _find_kind(issue: PastIssue) -> LearnedKind | None:
    return find_labelled_kind([issue.issue_type, *issue.labels[:_MAX_LABELS_OF_ISSUE]])


def _learn_names(similarities: Similarities, carried: Sequence[set[str]]) -> list[LearnedLabel]:
    carriers = Counter(name for names in carried for name in names)
    names = [name for name, count in carriers.most_common(MAX_LABELS) if count >= MIN_CARRIERS]
    if not names:
        return []
    classes = np.array([[name in own for name in names] for own in carried])
    likely = 1 / (1 + np.exp(-estimate_logits(similarities, classes)[0]))
    learned = [
        LearnedLabel(name=name, probability=round(float(probability), 2))
        for name, probability in zip(names, likely, strict=True)
        if probability >= SUGGESTED_FROM
    ]
    return sorted(learned, key=lambda one: (-one.probability, one.name))
