"""Triages the issues of one batch, one after the other on one index, and stores each report as soon as it is there."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from triage.backlog.backlog import Backlog
from triage.backlog.backlog_files import BacklogFiles
from triage.domain.issue import Issue, Repository
from triage.domain.report import RunReport
from triage.ports import ProgressLog, Services
from triage.run.run_context import export_telemetry
from triage.run.write.plan_effects import with_known_repository
from triage.say.comment import withhold_details

RunGraph = Callable[[Issue, Repository, Services, asyncio.Event], Awaitable[RunReport]]


@dataclass(frozen=True)
class BatchJob:
    """What the triages of a batch share."""

    backlog: Backlog
    batch: int
    files: BacklogFiles
    max_usd: float
    """For all of them together."""
    open_services: Callable[[float], Services]
    """Opens a triage that may take so many US dollars."""
    progress: ProgressLog
    seconds_left: Callable[[], float]
    """In which a triage may begin."""


async def triage_batch(job: BatchJob, run_graph: RunGraph, cancelled: asyncio.Event) -> int:
    """Triage what has no report yet, until time is up or the job is cancelled. Return how many issues are left.

    Raises:
        BadInput: A file of the backlog cannot be read or written.
    """
    backlog = job.backlog
    issues = backlog.batches[job.batch - 1]
    reports = {report.issue.number: report for report in job.files.read_reports(job.batch)}
    repository = Repository(slug=backlog.repository, server_url=backlog.server_url)
    for issue in issues:
        if issue.number in reports:
            continue
        if cancelled.is_set() or job.seconds_left() <= 0:
            break
        spent = sum(report.usage.priced_usd for report in reports.values())
        services = job.open_services(max(0.0, job.max_usd - spent))
        report = await run_graph(issue, repository, services, cancelled)
        if cancelled.is_set() and report.ended_early:
            break
        known = repository.model_copy(update={"commit": services.codebase.commit})
        report = with_known_repository(report, known, issue.number)
        report = withhold_details(report) if report.security else report
        reports[issue.number] = report
        job.files.write_reports(job.batch, list(reports.values()))
        job.progress.info(
            f"Issue {issue.number}: {report.status.value} in {report.seconds:.1f} s, engine {report.engine}"
        )
        await export_telemetry(report, services, cancelled)
    return len(issues) - len(reports)
