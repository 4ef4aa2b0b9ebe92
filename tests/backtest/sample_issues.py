"""Closed issues with a comment of ours, for tables and golden files."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from triage.backtest.closed_issues import ClosedIssue, ClosingFix, OurComment
from triage.backtest.judge import IssueResult, judge_issue
from triage.domain.past_issues import PredictedBy
from triage.domain.task import Subject
from triage.say.hidden_state import CommentState, FirstNamed, hash_label

START = datetime(2026, 9, 7, tzinfo=UTC)
"""A Monday."""
READER, DATES, CLI = "src/ledger/reader.py", "src/ledger/dates.py", "src/ledger/cli.py"
TEST, PAGE = "tests/test_dates.py", "docs/dates.md"


def at(day: float) -> datetime:
    return START + timedelta(days=day)


def named(*paths: str, by: PredictedBy = "trace", day: float = 0) -> FirstNamed:
    return FirstNamed(at=int(at(day).timestamp()), by=by, paths=list(paths))


def comment(first: FirstNamed | None = None, said: Sequence[Subject] = (), **remembered: Any) -> OurComment:
    return OurComment(
        posted_at=at(0), is_ours_alone=True, state=CommentState(named=first, **remembered), said=list(said)
    )


def issue(
    number: int = 412, ours: OurComment | None = None, fix: list[str] | None = None, day: float = 3, **fields: Any
) -> ClosedIssue:
    described = {
        "title": "Import crashes on dates like 31.12.2025",
        "opened_at": at(-1),
        "fix": None if fix is None else ClosingFix(files=fix),
    } | fields
    return ClosedIssue(number=number, closed_at=at(day), comment=ours or comment(), **described)


def judge(*issues: ClosedIssue) -> list[IssueResult]:
    return [judge_issue(one, one.comment) for one in issues if one.comment]


BUG = [hash_label("bug")]
ISSUES = [
    issue(401, comment(named(DATES, READER), labels=BUG), [DATES, TEST], 1, labels=["Bug"]),
    issue(402, comment(named(READER, DATES, by="message")), [DATES], 2, title="Wrong year | in `csv`"),
    issue(403, comment(named(CLI, by="name")), [READER, DATES, "src/ledger/api.py"], 9),
    issue(404, comment(asked=["version"]), [READER], 9, reporter_wrote_at=[at(4)]),
    issue(405, comment(asked=["version"]), None, 10),
    issue(406, comment(named(DATES)), [PAGE, TEST], 16),
    issue(407, comment(named(DATES)), fix=None, day=16),
    issue(408, comment(named(DATES, by="model")), [DATES], 23),
    issue(411, comment(said=["known", "place"], wrong=["fixed"]), None, 24, is_duplicate=True),
    issue(409, comment().model_copy(update={"is_ours_alone": False}), [DATES], 23),
    issue(410, comment(named(DATES)), day=24).model_copy(update={"fix": ClosingFix(files=[DATES], is_whole=False)}),
]
