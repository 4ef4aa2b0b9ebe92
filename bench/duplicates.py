"""How well duplicates are found: each report of a set is compared with all earlier ones.

A line of a set is {"id", "title", "body", "created", "duplicate_of"}, in order of time; `duplicate_of` lists ids of
earlier reports, and `resolution` may be there. `--serve` reads such lines from the standard input, without `duplicate_of`, and answers each with one
line of `[[id, probability], ...]`, likeliest first. `--fit` learns the weights of `triage/find/past_issues/likeness.py`.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triage.domain.issue import Issue
from triage.domain.past_issues import PastIssue
from triage.find.past_issues.likeness import Likeness
from triage.find.past_issues.similar_issues import NAMED_FROM, Compared, PastIssueIndex
from triage.find.words.tokens import find_words
from triage.read.other_issues import make_visible
from triage.read.read_issue import read_issue

_PLACES = (1, 5, 10)
_MAX_BODY_CHARS = 20_000
_NEGATIVES = 5
"""Pairs that are learned from for a report without a duplicate."""
_RIDGE, _STEPS = 1.0, 50
_COPY_FROM = 0.45
"""Of `Likeness.alike`, which is at most 0.5."""
_LEVELS = (0.5, NAMED_FROM, 0.7, 0.8)

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Answer:
    report: dict[str, Any]
    found: list[tuple[str, Compared]]
    """Ids of earlier reports, likeliest first."""

    @property
    def listed(self) -> list[bool]:
        """Which of those found the set lists as duplicates."""
        return [name in self.report["duplicate_of"] for name, _ in self.found]

    @property
    def is_unlisted_duplicate(self) -> bool:
        """Closed as a duplicate, without a word of which report."""
        return not self.report["duplicate_of"] and (self.report.get("resolution") or "").casefold() == "duplicate"


class Reports:
    """Reports in order of time."""

    def __init__(self) -> None:
        self._index = PastIssueIndex()
        self._ids: list[str] = []

    def find(self, report: dict[str, Any]) -> list[tuple[str, Compared]]:
        """Earlier reports like this one, which is then added."""
        created = _parse_time(report["created"])
        title, body = report["title"] or "", (report["body"] or "")[:_MAX_BODY_CHARS]
        compared = self._index.compare_likeliest(read_issue(Issue(title=title, body=body)), created)
        past = PastIssue(number=len(self._ids), title=title, body=body, created_at=created)
        self._index.add(make_visible(past))
        self._ids.append(report["id"])
        return [(self._ids[one.past.number], one) for one in compared]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", type=Path, nargs="*", metavar="SET", help="JSON lines")
    parser.add_argument("--serve", action="store_true", help="answer lines of the standard input")
    parser.add_argument("--fit", action="store_true", help="print weights learned from the sets")
    parser.add_argument("--limit", type=int, help="only the last reports of each set")
    options = parser.parse_args()
    if options.serve:
        serve()
        return
    answers = []
    for path in options.sets:
        started = time.perf_counter()
        reports = [json.loads(line) for line in path.read_text("utf-8").splitlines()][-(options.limit or 0) :]
        answers.append(list(compare_all(reports)))
        milliseconds = 1000 * (time.perf_counter() - started) / max(1, len(reports))
        print(f"{path.name}, {milliseconds:.0f} ms a report: {describe(answers[-1])}", flush=True)
    if options.fit:
        print(fit(answers))


def serve() -> None:
    reports = Reports()
    for line in sys.stdin:
        found = [[name, round(one.probability, 4)] for name, one in reports.find(json.loads(line))]
        print(json.dumps(found), flush=True)


def compare_all(reports: Sequence[dict[str, Any]]) -> Iterator[Answer]:
    earlier = Reports()
    for report in reports:
        yield Answer(report, earlier.find(report))


def describe(answers: Sequence[Answer]) -> str:
    with_duplicate = [one for one in answers if one.report["duplicate_of"]]
    count = max(1, len(with_duplicate))
    recalls = "  ".join(f"@{k} {100 * sum(any(one.listed[:k]) for one in with_duplicate) / count:.1f}" for k in _PLACES)
    shares = "".join(f"\n  named from {least}: {describe_named(answers, least)}" for least in _LEVELS)
    return f"{len(with_duplicate)} of {len(answers)} have an earlier duplicate; recall {recalls}{shares}"


def describe_named(answers: Sequence[Answer], least: float) -> str:
    named = [one for one in answers if one.found and round(one.found[0][1].probability, 2) >= least]
    listed = [one for one in named if one.listed[0]]
    others = [one for one in named if not one.listed[0]]
    copies = [one for one in others if is_copy(one, 0)]
    closed = [one for one in others if not is_copy(one, 0) and one.is_unlisted_duplicate]
    return (
        f"{len(named)}, of which listed {len(listed)}, with the same title and text {len(copies)}, "
        f"closed as some duplicate {len(closed)}"
    )


def is_copy(answer: Answer, position: int) -> bool:
    """Whether the report found has the same title and text. Sets list few of those that somebody sent twice."""
    found = answer.found[position][1]
    same_title = find_words(found.past.title.lower()) == find_words((answer.report["title"] or "").lower())
    return same_title and found.likeness.alike >= _COPY_FROM


def find_groups(answers: Sequence[Answer]) -> dict[str, str]:
    """The first report of each group of duplicates, by id: a duplicate of a duplicate is one too."""
    first: dict[str, str] = {}
    for answer in answers:
        name, others = answer.report["id"], answer.report["duplicate_of"]
        roots = {first.get(other, other) for other in others} or {name}
        root = min(roots)
        first |= {one: root for one, old in first.items() if old in roots} | dict.fromkeys([name, *roots], root)
    return first


def fit(sets: Sequence[Sequence[Answer]]) -> str:
    """Logistic regression by Newton's method. Of a report without a duplicate only its likeliest pairs count."""
    rows, right = [], []
    for answers in sets:
        groups = find_groups(answers)
        for answer in answers:
            if answer.is_unlisted_duplicate:
                continue
            group, has_duplicate = groups[answer.report["id"]], bool(answer.report["duplicate_of"])
            same = [
                is_copy(answer, position) or (has_duplicate and groups.get(name, name) == group)
                for position, (name, _) in enumerate(answer.found)
            ]
            pairs = len(same) if any(same) else _NEGATIVES
            rows += [[*astuple(one.likeness), 1.0] for _, one in answer.found[:pairs]]
            right += [float(is_same) for is_same in same[:pairs]]
    matrix, wanted = np.array(rows), np.array(right)
    weights: Vector = np.zeros(matrix.shape[1])
    ridge = np.diag([_RIDGE] * (matrix.shape[1] - 1) + [0.0])
    for _ in range(_STEPS):
        likely = 1 / (1 + np.exp(-(matrix @ weights)))
        gradient = matrix.T @ (likely - wanted) + ridge @ weights
        weights -= np.linalg.solve((matrix * (likely * (1 - likely))[:, None]).T @ matrix + ridge, gradient)
    names = [*(field.name for field in fields(Likeness)), "bias"]
    return ", ".join(f"{name}={value:.2f}" for name, value in zip(names, weights, strict=True))


def _parse_time(written: str) -> datetime:
    moment = datetime.fromisoformat(written)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


if __name__ == "__main__":
    main()
