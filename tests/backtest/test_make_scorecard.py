"""The scorecard is counted, and the job's page shows it."""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from testing.each_row import each_row
from testing.fakes import FakeOutput
from tests.backtest.sample_issues import ISSUES, START
from tests.jobs.run_harness import RunHarness
from triage.backtest.closed_issues import ScorecardIssues
from triage.backtest.make_scorecard import ScorecardJob, make_scorecard, parse_since
from triage.base.errors import BadInput
from triage.domain.issue import Repository
from triage.domain.past_issues import ClosedIssues
from triage.domain.run import Status

REPOSITORY = Repository(slug="acme/ledger", server_url="https://github.com")
NOW = datetime(2026, 11, 22, 21, 30, tzinfo=UTC)


@dataclass
class FakeIssues(ScorecardIssues):
    """Issues in memory."""

    token: str = ""
    slug: str = REPOSITORY.slug

    def read_closed_issues(self, since: datetime) -> ClosedIssues:
        found = [issue for issue in ISSUES if issue.closed_at >= since]
        return ClosedIssues(closed=len(found) + 5, triaged=found, since=since)


def make_job() -> ScorecardJob:
    return ScorecardJob(FakeIssues(), REPOSITORY, START)


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
