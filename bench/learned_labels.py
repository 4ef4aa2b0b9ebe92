"""How well the kind of an issue is learned from its repository's other issues.

Each line of a set is {"repo", "title", "body", "kind"}; `kind` is bug, feature or question. The issues of a repository
are split into five parts, and each part is classified by what the other four carry. The model of all repositories,
which comes first, is learned from the set's other repositories; `--shipped` takes that of the package instead, which
may have been learned from the same issues.
"""

import argparse
import json
import time
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from bench.train_kinds import (
    Matrix,
    calibrate,
    fit,
    load_examples,
    make_rows,
    print_scores,
    select_features,
    softmax,
)
from triage.domain.issue import Issue
from triage.domain.past_issues import PastIssue
from triage.find.past_issues.learned_labels import (
    extract_features,
    learn_from_labels,
    learn_kinds,
    measure_similarities,
)
from triage.read.kind.issue_kind import DECLARED_LOGIT, KINDS, estimate_kind
from triage.read.other_issues import make_visible
from triage.read.read_issue import read_issue

_PARTS = 5
_LABELS = {"bug": "bug", "feature": "enhancement", "question": "question"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", type=Path, help="JSON lines")
    parser.add_argument("--shipped", action="store_true", help="start from the package's model of all repositories")
    options = parser.parse_args()
    rows = [json.loads(line) for line in options.set.read_text("utf-8").splitlines()]
    readings = [read_issue(Issue(title=row["title"], body=row["body"] or "")) for row in rows]
    if options.shipped:
        priors = np.array([[estimate_kind(parsed)[kind] for kind in KINDS] for parsed in readings])
    else:
        priors = learn_without_repository(options.set)
    kinds = np.array([list(_LABELS).index(row["kind"]) for row in rows])
    repositories = np.array([row["repo"] for row in rows])
    likely, seconds = np.zeros((len(rows), len(KINDS))), []
    issues = [make_past_issue(number, row) for number, row in enumerate(rows)]
    features = [extract_features(one.title, one.body) for one in issues]
    for repository in sorted(set(repositories)):
        positions = np.flatnonzero(repositories == repository).tolist()
        Random(1).shuffle(positions)
        for part in range(_PARTS):
            held_out = positions[part::_PARTS]
            known = [at for at in positions if at not in held_out]
            past = [issues[at] for at in known]
            similarities = measure_similarities([features[at] for at in known], [features[at] for at in held_out])
            learned = learn_kinds(similarities, past, priors[held_out])
            assert learned is not None
            likely[held_out] = learned
            started = time.process_time()
            learn_from_labels(readings[held_out[0]], past)
            seconds.append(time.process_time() - started)
        print_scores(repository, kinds[repositories == repository], likely[repositories == repository])
    print_scores("all, before", kinds, priors)
    print_scores("all", kinds, likely)
    print(f"{1000 * float(np.median(seconds)):.0f} ms of processor time for an issue, to learn from {len(past)} others")


def make_past_issue(number: int, row: dict[str, Any]) -> PastIssue:
    label = _LABELS[row["kind"]]
    created = datetime(2026, 1, 1, tzinfo=UTC)
    return make_visible(
        PastIssue(number=number, title=row["title"], body=row["body"] or "", labels=[label], created_at=created)
    )


def learn_without_repository(path: Path) -> Matrix:
    """Probabilities of the kinds for each issue, learned from the other repositories."""
    examples = load_examples([], [path], None)
    repositories = np.array([one.repository for one in examples])
    logits = np.zeros((len(examples), len(KINDS)))
    for repository in sorted(set(repositories)):
        others = [one for one in examples if one.repository != repository]
        names = select_features(others)
        weights, bias = fit(others, names)
        held_out = [one for one in examples if one.repository == repository]
        logits[repositories == repository] = make_rows(held_out, names).multiply(weights) + bias
    declared = DECLARED_LOGIT * np.array([[one.declared == kind for kind in range(len(KINDS))] for one in examples])
    temperature, _ = calibrate(np.array([one.kind for one in examples]), logits, declared)
    return softmax(logits * temperature + declared)


if __name__ == "__main__":
    main()
