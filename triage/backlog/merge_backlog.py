"""Puts the results of all batches into one ranked table, and writes what was asked for besides."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from triage.backlog.backlog import TABLE_MARKER, BatchRecord, ListedIssue
from triage.backlog.backlog_page import MAX_ISSUE_BYTES, MAX_SUMMARY_BYTES, BacklogResults, render_backlog
from triage.backlog.backlog_ports import BacklogFolder, TableIssue
from triage.backlog.collect_results import collect_results
from triage.backlog.csv_table import render_csv
from triage.backlog.write_comments import write_comments
from triage.base.errors import TriageError
from triage.base.threads import OutOfTime, call_with_deadline
from triage.jobs.flow_context import FlowContext

TABLE_TITLE = "Bug backlog"


@dataclass(frozen=True)
class MergeJob:
    folder: BacklogFolder
    context: FlowContext
    max_comments: int = 0
    """Comments to write on issues, at most; 0 writes none."""
    table_issue: TableIssue | None = None
    """Shows the table in an issue; none if it is not wanted."""


def read_results(folder: BacklogFolder) -> tuple[BacklogResults, dict[int, ListedIssue]]:
    """Returns the results of all batches, and their issues by number. Raises BadInput without the list's files."""
    plan = folder.read_plan()
    batches = range(1, len(plan.batches) + 1)
    issues = {one.issue.number or 0: one for batch in batches for one in folder.read_batch(batch)}
    records: Mapping[int, list[BatchRecord]] = {batch: folder.read_records(batch) for batch in batches}
    return collect_results(plan, records, {number: one.issue.title for number, one in issues.items()}), issues


async def merge_backlog(job: MergeJob) -> str:
    """Write the table to the folder and the job's summary, and comments and an issue if asked for. Returns its page."""
    results, issues = read_results(job.folder)
    notes: list[str] = []
    if job.max_comments:
        notes.append(await write_comments(results, issues, job.max_comments, job.context))
    if job.table_issue:
        notes.append(await _write_table_issue(job.table_issue, results, job.context))
    results = replace(results, notes=list(filter(None, notes)))
    page = render_backlog(results, MAX_SUMMARY_BYTES)
    groups = {one.number: one.first for one in results.ranked}
    ordered = [*(one.report for one in results.ranked), *results.others]
    job.folder.write_table(page, render_csv(results.plan, ordered, groups, results.not_triaged))
    job.context.runner.write_summary(page)
    return page


async def _write_table_issue(issue: TableIssue, results: BacklogResults, context: FlowContext) -> str:
    body = f"{TABLE_MARKER}\n{render_backlog(results, MAX_ISSUE_BYTES)}"
    try:
        number, _ = await call_with_deadline(
            lambda: issue.write(TABLE_TITLE, body), context.cancelled, context.seconds_left()
        )
    except (TriageError, OutOfTime) as error:
        context.runner.annotate("warning", f"The issue with the table was not written: {error}")
        return f"The issue with the table was not written: {error}"
    context.progress.info(f"The table is in issue {number}.")
    return ""
