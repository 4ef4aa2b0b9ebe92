"""Puts together what the batches of a backlog have recorded, in the order in which a maintainer looks at it.

Security reports come first, then the most severe ones, then what most people reported, then what has a sure place.
Reports of the same bug stand together.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import get_args

from pydantic import Field

from triage.backlog.backlog import BacklogPlan, BatchRecord, Caps, LeftOut
from triage.backlog.run_batch import sum_spent
from triage.domain.findings import Severity
from triage.domain.report import RunReport
from triage.domain.value import Value

NOT_BEGUN = "Its batch did not get to it. Start the failed jobs again, or list the backlog again."
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
    return report.security or report.kind == "bug"


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

    plan: BacklogPlan
    reports: Sequence[RunReport]
    not_triaged: Sequence[LeftOut] = ()
    spent: Caps = field(default_factory=lambda: Caps(usd=0, tokens=0))
    """Of all jobs, also of triages that did not end."""
    notes: Sequence[str] = ()
    ranked: list[RankedIssue] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "ranked", rank_issues(self.reports))

    @property
    def others(self) -> list[RunReport]:
        """Those that are no bugs, newest first."""
        found = [report for report in self.reports if not is_for_maintainers(report)]
        return sorted(found, key=lambda report: -(report.issue.number or 0))


def collect_results(
    plan: BacklogPlan, records: Mapping[int, Sequence[BatchRecord]], titles: Mapping[int, str]
) -> BacklogResults:
    """Return the results of all batches, whose records are given by number. `titles` are those of the issues."""
    reports: dict[int, RunReport] = {}
    reasons: dict[int, str] = {}
    for batch, numbers in enumerate(plan.batches, 1):
        wanted = set(numbers)
        for record in records.get(batch, []):
            if record.number not in wanted or record.reserved is not None:
                continue
            if record.report is not None:
                reports[record.number] = record.report
            else:
                reasons[record.number] = record.reason
    missing = [
        LeftOut(number=number, title=titles.get(number, ""), reason=reasons.get(number) or NOT_BEGUN)
        for numbers in plan.batches
        for number in numbers
        if number not in reports
    ]
    spent = [sum_spent(one) for one in records.values()]
    return BacklogResults(
        plan,
        list(reports.values()),
        [*missing, *plan.left_out],
        Caps(usd=sum(caps.usd for caps in spent), tokens=sum(caps.tokens for caps in spent)),
    )
