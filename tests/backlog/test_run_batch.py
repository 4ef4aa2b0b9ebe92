"""A batch triages each issue once, within its caps, and goes on where it was stopped."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testing.fake_backlog import FakeBacklogFiles
from testing.fakes import FakeCodebase, FakeProgressLog, fake_services
from tests.backlog.backlog_values import list_issue, make_plan, make_report
from triage.backlog.backlog import BatchRecord, Caps
from triage.backlog.run_batch import (
    GAVE_UP,
    MIN_SECONDS,
    BatchJob,
    BatchResult,
    limit_run,
    measure_progress,
    read_plan,
    run_batch,
    share_caps,
    sum_spent,
    triage_batch,
)
from triage.base.errors import BadInput
from triage.domain.code import BestPlace, Span
from triage.domain.issue import Issue, Repository
from triage.domain.report import RunReport
from triage.domain.run import Limits, Usage
from triage.ports import Services

NOTHING = Caps(usd=0, tokens=0)
FOUND = BestPlace(sign="trace", span=Span(path="a.py", start=1, end=2), line=1, probability=0.9)


@dataclass
class Harness:
    """A batch of three issues, and what its triages were given."""

    folder: FakeBacklogFiles
    usd: float = 0.0
    limits: Limits = field(default_factory=lambda: Limits(usd=1.0, tokens=10_000))
    shared: Caps = NOTHING
    seconds: Callable[[], float] = lambda: 1_000.0
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)
    given: list[Caps] = field(default_factory=list)
    triaged: list[int] = field(default_factory=list)
    make: Callable[[int], RunReport] = make_report

    def job(self) -> BatchJob:
        def open_services(caps: Caps, seconds: float) -> Services:
            self.given.append(caps)
            return fake_services(codebase=FakeCodebase({}))

        return BatchJob(
            plan=self.folder.read_plan(),
            batch=1,
            files=self.folder,
            limits=self.limits,
            shared=self.shared,
            open_services=open_services,
            progress=FakeProgressLog(),
            seconds_left=self.seconds,
        )

    async def graph(
        self, issue: Issue, repository: Repository, services: Services, cancelled: asyncio.Event
    ) -> RunReport:
        self.triaged.append(issue.number or 0)
        spent = Usage(input_tokens=900, output_tokens=100, calls=1, usd=self.usd) if self.usd else Usage()
        return self.make(issue.number or 0).model_copy(update={"usage": spent})

    async def run(self) -> BatchResult:
        return await triage_batch(self.job(), self.folder.read_batch(1), self.graph, self.cancelled)

    @property
    def reports(self) -> dict[int, RunReport]:
        return {record.number: record.report for record in self.folder.records[1] if record.report}


@pytest.fixture
def harness() -> Harness:
    plan = make_plan([[3, 2, 1], [9]], usd=4.0, tokens=40_000)
    issues = [[list_issue(3), list_issue(2), list_issue(1)], [list_issue(9)]]
    return Harness(FakeBacklogFiles(plan, issues))


async def test_every_issue_has_a_report(harness: Harness) -> None:
    assert await harness.run() == BatchResult(done=3, missing=0)
    assert sorted(harness.reports) == [1, 2, 3]
    assert harness.triaged == [3, 2, 1]


async def test_started_again_it_does_what_is_missing(harness: Harness) -> None:
    harness.folder.append(1, BatchRecord(number=2, reserved=NOTHING))
    harness.folder.append(1, BatchRecord(number=2, report=make_report(2)))
    harness.folder.append(1, BatchRecord(number=1, reserved=NOTHING))  # killed then
    assert await harness.run() == BatchResult(done=3, missing=0)
    assert harness.triaged == [3, 1]


async def test_an_issue_that_kills_the_process_is_given_up(harness: Harness) -> None:
    for _ in range(2):
        harness.folder.append(1, BatchRecord(number=3, reserved=NOTHING))
    assert await harness.run() == BatchResult(done=3, missing=0)
    assert harness.triaged == [2, 1]
    assert harness.folder.records[1][2] == BatchRecord(number=3, reason=GAVE_UP)


async def test_triages_together_take_no_more_than_the_share_of_the_batch(harness: Harness) -> None:
    harness.usd = 0.9
    harness.limits = Limits(usd=2.0, tokens=10_000)
    await harness.run()
    assert [round(caps.usd, 2) for caps in harness.given] == [2.0, 2.0, 1.2]
    harness.folder.records.clear()
    harness.usd, harness.given = 2.0, []
    await harness.run()
    assert [round(caps.usd, 2) for caps in harness.given] == [2.0, 1.0, 0.0]
    assert harness.given[-1] == NOTHING, "without a rest, no model is asked"


async def test_vectors_that_all_share_are_reserved_first(harness: Harness) -> None:
    harness.shared = Caps(usd=2.5, tokens=20_000)
    await harness.run()
    assert [caps.usd for caps in harness.given] == [0.5, 0.5, 0.5]


async def test_no_triage_begins_when_time_is_up(harness: Harness) -> None:
    harness.seconds = lambda: 100.0 if len(harness.triaged) < 2 else MIN_SECONDS - 1
    assert await harness.run() == BatchResult(done=2, missing=1)


async def test_a_cancelled_triage_is_no_result(harness: Harness) -> None:
    def cancel(number: int) -> RunReport:
        if number != 2:
            return make_report(number)
        harness.cancelled.set()
        return make_report(number, ended_early="The run was cancelled.")

    harness.make, harness.usd = cancel, 0.25
    assert await harness.run() == BatchResult(done=1, missing=2)
    last = harness.folder.records[1][-1]
    assert (last.number, last.report, last.is_final, last.spent) == (2, None, False, Caps(usd=0.25, tokens=1_000))
    harness.make, harness.cancelled = make_report, asyncio.Event()
    assert await harness.run() == BatchResult(done=3, missing=0)
    assert harness.triaged == [3, 2, 2, 1]


async def test_a_security_report_is_stored_without_its_details(harness: Harness) -> None:
    harness.make = lambda number: make_report(number, "Steal a token", security=True, best_place=FOUND)
    await harness.run()
    assert harness.reports[3].best_place is None
    assert harness.reports[3].issue.title == "Possible security report"


async def test_a_report_has_the_links_of_the_plan(harness: Harness) -> None:
    harness.make = lambda number: make_report(number, repository="evil/x", server_url="https://evil.example")
    await harness.run()
    assert (harness.reports[3].repository, harness.reports[3].server_url) == ("acme/ledger", "https://github.com")


def test_a_batch_that_does_not_exist(harness: Harness) -> None:
    assert read_plan(harness.folder, 2) == harness.folder.plan
    for batch in (0, 3):
        with pytest.raises(BadInput, match="There is no batch"):
            read_plan(harness.folder, batch)


async def test_an_index_that_is_not_ready_in_time(harness: Harness) -> None:
    assert await run_batch(harness.job, harness.cancelled, lambda: 0.0) is None


PLAN = make_plan([[1, 2, 3], [4]], usd=4.0, tokens=40_000)
RESERVED = Caps(usd=1.0, tokens=10_000)


def start(number: int) -> BatchRecord:
    return BatchRecord(number=number, reserved=RESERVED)


def end(number: int, usd: float = 0.25) -> BatchRecord:
    return BatchRecord(number=number, spent=Caps(usd=usd, tokens=1_000), report=make_report(number))


@given(st.lists(st.integers(1, 30), min_size=1, max_size=60), st.integers(0, 10**9), st.floats(0, 1_000))
def test_batches_together_get_at_most_the_caps(sizes: list[int], tokens: int, usd: float) -> None:
    numbers = iter(range(1, 10_000))
    plan = make_plan([[next(numbers) for _ in range(size)] for size in sizes], usd, tokens)
    shares = [share_caps(plan, batch) for batch in range(1, len(sizes) + 1)]
    assert sum(share.tokens for share in shares) <= tokens
    assert sum(share.usd for share in shares) <= usd * (1 + 1e-9)


def test_what_ended_is_finished_and_paid() -> None:
    progress = measure_progress(PLAN, 1, [start(1), end(1)])
    assert progress.finished == {1}
    assert progress.crashed == ()
    assert progress.left == Caps(usd=2.75, tokens=29_000)


def test_a_start_without_an_end_counts_with_all_that_it_could_take() -> None:
    progress = measure_progress(PLAN, 1, [start(1), end(1), start(2)])
    assert progress.finished == {1}
    assert progress.left == Caps(usd=1.75, tokens=19_000)
    assert sum_spent([start(2), start(2), end(2)]) == Caps(usd=1.25, tokens=11_000)


def test_an_issue_that_ends_the_process_twice_is_given_up() -> None:
    assert measure_progress(PLAN, 1, [start(2)]).crashed == ()
    assert measure_progress(PLAN, 1, [start(2), start(2)]).crashed == (2,)
    assert measure_progress(PLAN, 1, [start(2), start(2), end(2)]).crashed == ()


def test_a_cancelled_triage_is_tried_again_and_its_cost_counts() -> None:
    cancelled = BatchRecord(number=2, spent=Caps(usd=0.5, tokens=500), reason="cancelled", is_final=False)
    progress = measure_progress(PLAN, 1, [start(2), cancelled])
    assert progress.finished == frozenset()
    assert progress.left == Caps(usd=2.5, tokens=29_500)


@pytest.mark.parametrize(
    ("left", "expected"),
    [
        (Caps(usd=9.0, tokens=999_999), Caps(usd=1.0, tokens=100_000)),
        (Caps(usd=0.2, tokens=50_000), Caps(usd=0.2, tokens=50_000)),
        (Caps(usd=0.0, tokens=50_000), Caps(usd=0, tokens=0)),
        (Caps(usd=5.0, tokens=999), Caps(usd=0, tokens=0)),
    ],
)
def test_a_triage_takes_no_more_than_is_left(left: Caps, expected: Caps) -> None:
    assert limit_run(Limits(usd=1.0, tokens=100_000), left) == expected
