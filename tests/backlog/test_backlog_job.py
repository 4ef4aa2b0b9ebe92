"""A batch triages each issue once, within its cap, and goes on where it was stopped."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from testing.apps import make_app
from testing.fakes import FakeCodebase, fake_services
from tests.backlog.backlog_values import make_backlog, make_report
from triage.agents.services import Services
from triage.app.settings.inputs import Settings
from triage.backlog.backlog_files import BacklogFiles
from triage.backlog.backlog_job import Batch, triage_batch
from triage.domain.code import Place, Span
from triage.domain.issue import Issue, Repository
from triage.domain.report import RunReport
from triage.domain.run import Usage
from triage.safety.secrets.redactor import SecretRedactor

FOUND = Place(sign="trace", rule="frame", span=Span(path="a.py", start=1, end=2), line=1, probability=0.9)


@dataclass
class Harness:
    """A batch of three issues, and what its triages were given."""

    files: BacklogFiles
    usd: float = 0.0
    seconds: Callable[[], float] = lambda: 1_000.0
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)
    given: list[float] = field(default_factory=list)
    triaged: list[int] = field(default_factory=list)
    make: Callable[[int], RunReport] = make_report

    def open_services(self, usd: float) -> Services:
        self.given.append(usd)
        return fake_services(codebase=FakeCodebase({}))

    async def graph(
        self, issue: Issue, repository: Repository, services: Services, cancelled: asyncio.Event
    ) -> RunReport:
        self.triaged.append(issue.number or 0)
        spent = Usage(input_tokens=900, output_tokens=100, calls=1, usd=self.usd) if self.usd else Usage()
        return self.make(issue.number or 0).model_copy(update={"usage": spent})

    async def run(self) -> int:
        app = make_app(Settings(max_cost_usd=2.0), self.files.folder)
        batch = Batch(app, self.files.folder, make_backlog(3, 2, 1), 1, self.open_services, self.seconds)
        return await triage_batch(batch, self.graph, self.cancelled)

    @property
    def reports(self) -> dict[int | None, RunReport]:
        return {report.issue.number: report for report in self.files.read_reports(1)}


@pytest.fixture
def harness(tmp_path: Path) -> Harness:
    return Harness(BacklogFiles(tmp_path, SecretRedactor([])))


async def test_started_again_it_does_what_is_missing(harness: Harness) -> None:
    harness.files.write_reports(1, [make_report(2)])
    assert await harness.run() == 0
    assert sorted(map(str, harness.reports)) == ["1", "2", "3"]
    assert harness.triaged == [3, 1]


async def test_triages_together_take_no_more_than_the_cap(harness: Harness) -> None:
    harness.usd = 1.25
    await harness.run()
    assert harness.given == [2.0, 0.75, 0.0], "without a rest, no model is asked"


async def test_no_triage_begins_when_time_is_up(harness: Harness) -> None:
    harness.seconds = lambda: 100.0 if len(harness.triaged) < 2 else 0.0
    assert await harness.run() == 1


async def test_a_cancelled_triage_is_no_result(harness: Harness) -> None:
    def cancel(number: int) -> RunReport:
        if number != 2:
            return make_report(number)
        harness.cancelled.set()
        return make_report(number, ended_early="The run was cancelled.")

    harness.make = cancel
    assert await harness.run() == 2
    assert list(harness.reports) == [3]


async def test_of_a_security_report_no_details_are_written(harness: Harness) -> None:
    report = make_report(3, "Steal a token", security=True, best_place=FOUND)
    harness.make = lambda number: report
    await harness.run()
    report = harness.reports[3]
    assert (report.best_place, report.issue.title) == (None, "Possible security report")
