"""What a repository's memory knew at a time: nothing of a backtest may come from later."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from triage.domain.past_issues import PastIssue


def recall_known_then(past: Iterable[PastIssue], at: datetime, limit: int) -> list[PastIssue]:
    """Return the newest issues that were open or closed at a time, at most `limit`, as they were then.

    Labels are today's: GitHub does not list when each was added. They are those of other issues.
    """
    then = [_as_of(issue, at) for issue in past if issue.created_at < at]
    return sorted(then, key=lambda issue: -issue.number)[:limit]


def _as_of(issue: PastIssue, at: datetime) -> PastIssue:
    is_closed = issue.closed_at is not None and issue.closed_at <= at
    changes = {
        "state": "closed" if is_closed else "open",
        "fixes": [fix for fix in issue.fixes if (fix.at or issue.closed_at or at) < at],
        "updated_at": None,
        "suspects": [],  # of our comment, which may be from later
    }
    if not is_closed:
        changes |= {"state_reason": "", "closed_at": None, "milestone": "", "duplicate_of": None}
    return issue.model_copy(update=changes)


def list_groups(past: Sequence[PastIssue]) -> dict[int, int]:
    """Return the number of the first report for each issue, itself without a mark as duplicate."""
    originals = {issue.number: issue.duplicate_of for issue in past}

    def find(number: int) -> int:
        seen = {number}
        while (following := originals.get(number)) is not None and following not in seen:
            seen.add(following)
            number = following
        return number

    return {number: find(number) for number in originals}
