"""The weeks of a scorecard: one row each, by the week in which the issues were closed."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

from triage.backtest.count import count_issues
from triage.backtest.results import IssueResult
from triage.domain.value import Value


class Week(Value):
    monday: date
    triaged: int
    named: int
    """Closed by a fix that edits code, and our comment had named a place."""
    first: int
    any: int
    asked: int
    answered: int
    labels: int
    labels_on_issue: int
    hidden: int
    thumbs_up: int
    thumbs_down: int


def find_monday(at: datetime) -> date:
    day = at.astimezone(UTC).date()
    return day - timedelta(days=day.weekday())


def count_weeks(results: Sequence[IssueResult]) -> list[Week]:
    """Return the weeks in which issues with a comment of ours were closed, oldest first. A week begins on Monday."""
    mondays = sorted({find_monday(one.closed_at) for one in results})
    return [_count_week(day, [one for one in results if find_monday(one.closed_at) == day]) for day in mondays]


def _count_week(monday: date, results: Sequence[IssueResult]) -> Week:
    card = count_issues(results)
    return Week(
        monday=monday,
        triaged=card.triaged,
        named=card.first.cases,
        first=card.first.hits,
        any=card.any.hits,
        asked=card.answered.cases,
        answered=card.answered.hits,
        labels=card.labels.cases,
        labels_on_issue=card.labels.hits,
        hidden=card.hidden.hits,
        thumbs_up=card.thumbs_up.hits,
        thumbs_down=card.thumbs_down.hits,
    )
