"""Puts together what the batches of a backlog found, in the order in which a maintainer looks at it.

Security reports come first, then the most severe ones, then what most people reported, then what has a sure place.
Reports of the same bug stand together.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import get_args

from pydantic import Field

from triage.backlog.backlog import Backlog, LeftOut
from triage.domain.findings import Severity
from triage.domain.report import RunReport
from triage.domain.value import Value

NOT_BEGUN = "Its batch did not get to it."
_SEVERITIES: tuple[Severity, ...] = get_args(Severity)


class RankedIssue(Value):
    report: RunReport
    first: int
    """Number of the issue that stands for all reports of the same bug: the oldest in the backlog."""
    others: list[int] = Field(default_factory=list)
    """Of the issue that stands for them: the other reports."""

    @property
    def number(self) -> int:
        return self.report.issue.number or 0

    @property
    def is_first(self) -> bool:
        return self.number == self.first


def is_for_maintainers(report: RunReport) -> bool:
    """Return whether a report is about a bug or about security, and not a request or a question."""
    return report.security or report.may_be_bug


def rank_issues(reports: Iterable[RunReport]) -> list[RankedIssue]:
    """Return the reports of bugs and security, ranked. Each issue counts once."""
    by_number = {report.issue.number or 0: report for report in reports if is_for_maintainers(report)}
    groups: dict[int, list[int]] = {}
    for number in sorted(by_number):
        groups.setdefault(_find_first(number, by_number), []).append(number)
    ordered = sorted(groups.items(), key=lambda group: _rank([by_number[number] for number in group[1]]))
    return [
        RankedIssue(report=by_number[number], first=first, others=[*members[1:]] if number == first else [])
        for first, members in ordered
        for number in members
    ]


def _find_first(number: int, reports: dict[int, RunReport]) -> int:
    # A duplicate is always younger than what it repeats, so this ends.
    while (same := reports[number].possible_duplicate) and same.number in reports and same.number < number:
        number = same.number
    return number


def _rank(members: Sequence[RunReport]) -> tuple[object, ...]:
    chances = [report.best_place.probability if report.best_place else 0.0 for report in members]
    return (
        not any(report.security for report in members),
        min((_SEVERITIES.index(report.severity) for report in members if report.severity), default=len(_SEVERITIES)),
        -len(members),
        -max(chances),
        -(members[0].issue.number or 0),
    )


@dataclass(frozen=True)
class BacklogResults:
    """Everything that the jobs of a backlog have found."""

    backlog: Backlog
    reports: Sequence[RunReport]

    @property
    def others(self) -> list[RunReport]:
        """Those that are no bugs, newest first."""
        found = [report for report in self.reports if not is_for_maintainers(report)]
        return sorted(found, key=lambda report: -(report.issue.number or 0))

    @property
    def not_triaged(self) -> list[LeftOut]:
        known = {report.issue.number for report in self.reports}
        missing = [
            LeftOut(number=issue.number or 0, title=issue.title, reason=NOT_BEGUN)
            for issue in self.backlog.issues
            if issue.number not in known
        ]
        return [*missing, *self.backlog.left_out]
