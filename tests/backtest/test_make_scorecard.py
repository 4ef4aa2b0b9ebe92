"""The scorecard is counted, its weeks are stored, and the job's page shows it."""

import asyncio
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from testing.each_row import each_row
from testing.fakes import FakeOutput
from tests.backtest.sample_issues import ISSUES, START
from tests.jobs.run_harness import RunHarness
from triage.backtest.closed_issues import ScorecardIssues
from triage.backtest.make_scorecard import ScorecardJob, make_scorecard, parse_since
from triage.backtest.weekly_trend import parse_marker, read_week_file
from triage.base.errors import BadInput, CannotPublish, PermissionMissing, TriageError
from triage.domain.issue import Repository
from triage.domain.past_issues import ClosedIssues
from triage.domain.run import Status

REPOSITORY = Repository(slug="acme/ledger", server_url="https://github.com")
SECOND_WEEK = START.replace(day=14)
NOW = datetime(2026, 11, 22, 21, 30, tzinfo=UTC)


@dataclass
class FakeIssues(ScorecardIssues):
    """Issues in memory, and at most one comment with weeks."""

    token: str = ""
    slug: str = REPOSITORY.slug
    trend: dict[int, str] = field(default_factory=dict)
    refusal: TriageError | None = None

    def read_closed_issues(self, since: datetime) -> ClosedIssues:
        found = [issue for issue in ISSUES if issue.closed_at >= since]
        return ClosedIssues(closed=len(found) + 5, triaged=found, since=since)

    def read_trend(self, number: int) -> str:
        return self.trend.get(number, "")

    def write_trend(self, number: int, body: str) -> None:
        if self.refusal:
            raise self.refusal
        self.trend[number] = body


def make_job(**changes: Any) -> ScorecardJob:
    fields: dict[str, Any] = {
        "issues": FakeIssues(),
        "repository": REPOSITORY,
        "now": NOW,
        "since": START,
    }
    return ScorecardJob(**fields | changes)


def test_the_page_is_in_the_summary_of_the_job() -> None:
    harness = RunHarness(output=FakeOutput())
    result = asyncio.run(make_scorecard(make_job(), harness.build_context()))
    assert result.status is Status.COMPLETE
    [summary] = harness.output.summaries
    assert "was edited by the fix: 2 of 4.**" in summary
    assert harness.output.values["status"] == "complete"


def test_a_cancelled_job_says_so() -> None:
    harness = RunHarness(output=FakeOutput())
    context = harness.build_context()
    context.cancelled.set()
    result = asyncio.run(make_scorecard(make_job(), context))
    assert result.status is Status.DEGRADED
    assert "The scorecard is not ready" in harness.output.summaries[0]


@pytest.mark.parametrize("issue_number", [None, 42])
def test_weeks_before_the_time_that_is_read_are_stored(issue_number: int | None, tmp_path: Path) -> None:
    first = make_job(issue_number=issue_number, folder=tmp_path / "cache")
    weeks = first.run().page.weeks
    assert len(weeks) == 4
    later = replace(first, since=SECOND_WEEK, folder=None if issue_number else first.folder)
    page = later.run().page
    assert page.weeks == weeks
    assert page.card.triaged == 8


def test_the_weeks_are_in_the_file_and_in_the_comment(tmp_path: Path) -> None:
    issues = FakeIssues()
    weeks = make_job(issue_number=42, folder=tmp_path, issues=issues).run().page.weeks
    assert read_week_file(tmp_path, REPOSITORY.slug) == weeks
    assert parse_marker(issues.trend[42]) == weeks


def test_without_an_issue_nothing_is_written_to_github() -> None:
    issues = FakeIssues(refusal=CannotPublish("Nothing may be written."))
    assert make_job(issues=issues).run().page.card.triaged == 10
    assert make_job(issue_number=42, issues=issues, dry_run=True).run().problem is None
    assert make_job(issue_number=42, issues=issues).run().problem is issues.refusal


@pytest.mark.parametrize(
    ("error", "status", "level"),
    [
        (CannotPublish("The result could not be written: the issue is locked."), Status.DEGRADED, "warning"),
        (PermissionMissing("The token may not write."), Status.FAILED, "error"),
    ],
)
def test_the_page_is_there_if_the_issue_cannot_be_written(error: TriageError, status: Status, level: str) -> None:
    harness = RunHarness(output=FakeOutput())
    job = make_job(issue_number=42, issues=FakeIssues(refusal=error))
    assert asyncio.run(make_scorecard(job, harness.build_context())).status is status
    assert "was edited by the fix: 2 of 4.**" in harness.output.summaries[0]
    assert harness.output.values["status"] == status.value
    assert [one[0] for one in harness.output.annotations] == [level]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("90d", "2026-08-24"),
        ("1d", "2026-11-21"),
        (" 12w ", "2026-08-30"),
        ("2026-08-01", "2026-08-01"),
        ("104w", "2024-11-24"),
    ],
)
def test_a_day(text: str, day: str) -> None:
    assert parse_since(text, NOW) == datetime.fromisoformat(day).replace(tzinfo=UTC)


@each_row(
    "text",
    [
        "",
        "90",
        "0d",
        "d",
        "-1d",
        "9999w",
        "2026-13-01",
        "2027-01-01",
        "2020-01-01",
        "20260801",
        "٩d",
        "90d\n::error::x",
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="give days such as 90d") as refused:
        parse_since(text, NOW)
    assert "\n" not in str(refused.value)
