"""Triages the issues of one batch, one after the other on one index, and records each as it ends.

The caps of the backlog are split by number of issues, so that jobs that run at the same time cannot exceed them
together. A triage that began and has no end, because the process was killed, counts with all that it could take.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from triage.backlog.backlog import BacklogPlan, BatchRecord, Caps, ListedIssue
from triage.backlog.backlog_files import BacklogFiles
from triage.base.errors import BadInput
from triage.base.threads import OutOfTime, call_with_deadline
from triage.comment.comment import withhold_details
from triage.domain.issue import Issue, Repository
from triage.domain.report import RunReport
from triage.domain.run import Limits, Usage
from triage.jobs.export_telemetry import export_telemetry
from triage.ports import ProgressLog, Services
from triage.writes.plan_effects import with_known_repository

RunGraph = Callable[[Issue, Repository, Services, asyncio.Event], Awaitable[RunReport]]
MIN_SECONDS = 10.0
"""With less left, no further triage begins."""
CANCELLED = "The job was cancelled."
MAX_STARTS = 2
"""Of one triage without an end. An issue that ends the process twice would do so for ever."""
GAVE_UP = "Its triage did not end, twice: the job was killed, or it ran out of memory."
MIN_TOKENS = 1_000
"""With fewer left, no model is asked."""


@dataclass(frozen=True)
class BatchJob:
    """What the triages of a batch share."""

    plan: BacklogPlan
    batch: int
    files: BacklogFiles
    limits: Limits
    """Of one triage."""
    shared: Caps
    """Reserved for the vectors of the index, which all triages share."""
    open_services: Callable[[Caps, float], Services]
    """Opens a triage that may take so much, and so many seconds."""
    progress: ProgressLog
    seconds_left: Callable[[], float]
    """Until the batch must end."""


@dataclass(frozen=True)
class BatchResult:
    done: int
    """Issues with a record that stays, also those of earlier runs of the batch."""
    missing: int


def read_plan(files: BacklogFiles, batch: int) -> BacklogPlan:
    """Return the plan of a backlog that has this batch. Batches count from 1. Raises BadInput."""
    plan = files.read_plan()
    if not 1 <= batch <= len(plan.batches):
        raise BadInput(f"There is no batch {batch}: the list has {len(plan.batches)}.")
    return plan


async def run_batch(
    open_job: Callable[[], BatchJob], cancelled: asyncio.Event, seconds_left: Callable[[], float]
) -> BatchResult | None:
    """Open a job and do it. Returns None if there was no time to open it.

    Raises:
        BadInput: A file of the backlog cannot be read or written.
    """

    def load() -> tuple[RunGraph, BatchJob, list[ListedIssue]]:
        from triage.graph.run_graph import run_graph  # takes a second

        job = open_job()
        return run_graph, job, job.files.read_batch(job.batch)

    try:
        run_graph, job, issues = await call_with_deadline(load, cancelled, seconds_left())
    except OutOfTime:
        return None
    return await triage_batch(job, issues, run_graph, cancelled)


async def triage_batch(
    job: BatchJob, issues: list[ListedIssue], run_graph: RunGraph, cancelled: asyncio.Event
) -> BatchResult:
    """Triage what no earlier run of the batch has finished, until time is up or the job is cancelled."""
    progress = measure_progress(job.plan, job.batch, job.files.read_records(job.batch))
    for number in progress.crashed:
        job.files.append(job.batch, BatchRecord(number=number, reason=GAVE_UP))
    done = len(progress.finished & set(job.plan.batches[job.batch - 1])) + len(progress.crashed)
    left = progress.left
    if job.shared.tokens:
        job.files.append(job.batch, BatchRecord(number=0, reserved=job.shared))
        left = subtract_caps(left, job.shared)
    for listed in issues:
        number = listed.issue.number or 0
        if number in progress.finished or number in progress.crashed:
            continue
        if cancelled.is_set() or job.seconds_left() < MIN_SECONDS:
            break
        record = await _triage(job, listed.issue, limit_run(job.limits, left), run_graph, cancelled)
        job.files.append(job.batch, record)
        left = subtract_caps(left, record.spent or Caps(usd=0, tokens=0))
        done += record.is_final
    return BatchResult(done, len(issues) - done)


async def _triage(
    job: BatchJob, issue: Issue, caps: Caps, run_graph: RunGraph, cancelled: asyncio.Event
) -> BatchRecord:
    number, plan = issue.number or 0, job.plan
    job.files.append(job.batch, BatchRecord(number=number, reserved=caps))
    services = job.open_services(caps, job.seconds_left())
    repository = Repository(slug=plan.repository, server_url=plan.server_url, labels=plan.labels)
    report = await run_graph(issue, repository, services, cancelled)
    spent = to_caps(report.usage)
    if cancelled.is_set() and report.ended_early:
        return BatchRecord(number=number, spent=spent, reason=CANCELLED, is_final=False)
    repository = repository.model_copy(update={"commit": services.codebase.commit})
    report = with_known_repository(report, repository, number)
    if report.security:
        report = withhold_details(report, plan.labels)
    job.progress.info(f"Issue {number}: {report.status.value} in {report.seconds:.1f} s, engine {report.engine}")
    await export_telemetry(report, services, cancelled)
    return BatchRecord(number=number, spent=spent, report=report)


@dataclass(frozen=True)
class BatchProgress:
    finished: frozenset[int]
    """Issues that stay as they are."""
    crashed: tuple[int, ...]
    """Issues that are not tried again."""
    left: Caps
    """What the batch may still spend."""


def measure_progress(plan: BacklogPlan, batch: int, records: Sequence[BatchRecord]) -> BatchProgress:
    """Return the progress of a batch, which counts from 1."""
    finished = {record.number for record in records if record.reserved is None and record.is_final}
    starts = {number: len(caps) for number, caps in _find_open_starts(records).items()}
    crashed = [
        number for number in plan.batches[batch - 1] if starts.get(number, 0) >= MAX_STARTS and number not in finished
    ]
    return BatchProgress(
        frozenset(finished), tuple(crashed), subtract_caps(share_caps(plan, batch), sum_spent(records))
    )


def _find_open_starts(records: Sequence[BatchRecord]) -> dict[int, list[Caps]]:
    """Return what was reserved by triages without an end, by issue."""
    starts: dict[int, list[Caps]] = {}
    for record in records:
        if record.reserved is not None:
            starts.setdefault(record.number, []).append(record.reserved)
        elif starts.get(record.number):
            starts[record.number].pop()
    return starts


def sum_spent(records: Sequence[BatchRecord]) -> Caps:
    """Return what a batch has spent, with everything that triages without an end could take."""
    reserved = [caps for starts in _find_open_starts(records).values() for caps in starts]
    taken = [*(record.spent for record in records if record.spent), *reserved]
    return Caps(usd=sum(caps.usd for caps in taken), tokens=sum(caps.tokens for caps in taken))


def subtract_caps(caps: Caps, taken: Caps) -> Caps:
    return Caps(usd=max(0.0, caps.usd - taken.usd), tokens=max(0, caps.tokens - taken.tokens))


def share_caps(plan: BacklogPlan, batch: int) -> Caps:
    """Return the part of the backlog's caps for one batch. All parts together are at most the caps."""
    size, total = len(plan.batches[batch - 1]), plan.issue_count
    return Caps(usd=plan.caps.usd * size / total, tokens=plan.caps.tokens * size // total)


def limit_run(limits: Limits, left: Caps) -> Caps:
    """Return what the next triage may take: the caps of one run, or what the batch has left. Zero: no model."""
    usd, tokens = min(limits.usd, left.usd), min(limits.tokens, left.tokens)
    return Caps(usd=usd, tokens=tokens) if usd > 0 and tokens >= MIN_TOKENS else Caps(usd=0, tokens=0)


def to_caps(usage: Usage) -> Caps:
    return Caps(usd=usage.priced_usd, tokens=usage.tokens)
