"""The scorecard is counted, its weeks are stored, and the job's page shows it."""

import asyncio
from dataclasses import dataclass, field, replace
from datetime import datetime

import pytest

from testing.fakes import FakeRunner
from tests.backtest.scorecard.sample_issues import ISSUES, START, is_product_code
from tests.jobs.flow_harness import FlowHarness
from triage.backtest.scorecard.make_scorecard import ScorecardJob, make_scorecard
from triage.backtest.scorecard.weekly_trend import load_weeks, parse_marker
from triage.base.errors import CannotPublish, PermissionMissing, TriageError
from triage.domain.issue import Repository
from triage.domain.past_issues import ClosedIssues
from triage.domain.run import Status

REPOSITORY = Repository(slug="acme/ledger", server_url="https://github.com")
SECOND_WEEK = START.replace(day=14)


@dataclass
class FakeIssues:
    """Issues in memory, and at most one comment with weeks."""

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


@dataclass
class FakeFile:
    text: str = ""

    def read(self) -> str:
        return self.text

    def write(self, text: str) -> None:
        self.text = text


def make_job(since: datetime = START, issue_number: int | None = None) -> ScorecardJob:
    return ScorecardJob(FakeIssues(), FakeFile(), is_product_code, REPOSITORY, since, issue_number)


def test_the_page_is_in_the_summary_of_the_job() -> None:
    harness = FlowHarness(runner=FakeRunner())
    result = asyncio.run(make_scorecard(make_job(), harness.build_context()))
    assert result.status is Status.COMPLETE
    [summary] = harness.runner.summaries
    assert "was edited by the fix: 2 of 4.**" in summary
    assert harness.runner.values["status"] == "complete"


def test_a_cancelled_job_says_so() -> None:
    harness = FlowHarness(runner=FakeRunner())
    context = harness.build_context()
    context.cancelled.set()
    result = asyncio.run(make_scorecard(make_job(), context))
    assert result.status is Status.DEGRADED
    assert "The scorecard is not ready" in harness.runner.summaries[0]


@pytest.mark.parametrize("issue_number", [None, 42])
def test_weeks_before_the_time_that_is_read_are_stored(issue_number: int | None) -> None:
    first = make_job(issue_number=issue_number)
    weeks = first.run().page.weeks
    assert len(weeks) == 4
    later = replace(first, since=SECOND_WEEK)
    if issue_number:
        later = replace(later, file=FakeFile())  # the cache is gone
    page = later.run().page
    assert page.weeks == weeks
    assert page.card.triaged == 8


def test_the_weeks_are_in_the_file_and_in_the_comment() -> None:
    file, issues = FakeFile(), FakeIssues()
    weeks = replace(make_job(issue_number=42), file=file, issues=issues).run().page.weeks
    assert load_weeks(file.text) == weeks
    assert parse_marker(issues.trend[42]) == weeks


def test_without_an_issue_nothing_is_written_to_github() -> None:
    issues = FakeIssues(refusal=CannotPublish("Nothing may be written."))
    assert replace(make_job(), issues=issues).run().page.card.triaged == 10
    assert replace(make_job(issue_number=42), issues=issues, dry_run=True).run().problem is None
    assert replace(make_job(issue_number=42), issues=issues).run().problem is issues.refusal


@pytest.mark.parametrize(
    ("error", "status", "level"),
    [
        (CannotPublish("The result could not be written: the issue is locked."), Status.DEGRADED, "warning"),
        (PermissionMissing("The token may not write."), Status.FAILED, "error"),
    ],
)
def test_the_page_is_there_if_the_issue_cannot_be_written(error: TriageError, status: Status, level: str) -> None:
    harness = FlowHarness(runner=FakeRunner())
    job = replace(make_job(issue_number=42), issues=FakeIssues(refusal=error))
    assert asyncio.run(make_scorecard(job, harness.build_context())).status is status
    assert "was edited by the fix: 2 of 4.**" in harness.runner.summaries[0]
    assert harness.runner.values["status"] == status.value
    assert [one[0] for one in harness.runner.annotations] == [level]


@pytest.mark.parametrize("text", ["", "[[", "<!-- x -->", '[["2026-09-08",1]]'])
def test_a_damaged_file_counts_as_none(text: str) -> None:
    assert len(replace(make_job(), file=FakeFile(text)).run().page.weeks) == 4
