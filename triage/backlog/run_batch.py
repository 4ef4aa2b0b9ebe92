"""Triages the issues of one batch, one after the other on one index, and records each as it ends."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from triage.backlog.backlog import BacklogPlan, BatchRecord, Caps, ListedIssue
from triage.backlog.backlog_files import BacklogFiles
from triage.backlog.batch_progress import (
    GAVE_UP,
    limit_run,
    measure_progress,
    subtract_caps,
    to_caps,
)
from triage.base.errors import BadInput
from triage.base.threads import OutOfTime, call_with_deadline
from triage.comment.comment import withhold_details
from triage.domain.issue import Issue, Repository
from triage.domain.report import RunReport
from triage.domain.run import Limits
from triage.jobs.export_telemetry import export_telemetry
from triage.ports import ProgressLog, Services
from triage.writes.plan_effects import TrustedFacts, overwrite_with_trusted_facts

RunGraph = Callable[[Issue, Repository, Services, asyncio.Event], Awaitable[RunReport]]
MIN_SECONDS = 10.0
"""With less left, no further triage begins."""
CANCELLED = "The job was cancelled."


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
    if cancelled.is_set() and report.cut:
        return BatchRecord(number=number, spent=spent, reason=CANCELLED, is_final=False)
    facts = TrustedFacts(
        repository=repository.model_copy(update={"commit": services.codebase.commit}), run_url=services.facts.run_url
    )
    report = overwrite_with_trusted_facts(report, facts, number)
    if report.security:
        report = withhold_details(report, plan.labels)
    job.progress.info(f"Issue {number}: {report.status.value} in {report.seconds:.1f} s, engine {report.engine}")
    await export_telemetry(report, services, cancelled)
    return BatchRecord(number=number, spent=spent, report=report)
