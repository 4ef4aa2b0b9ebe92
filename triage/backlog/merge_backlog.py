"""Puts the results of all batches into one ranked table, and writes what was asked for besides.

GitHub lets a job's token send 1,000 requests in an hour for each repository, and create content 80 times in a minute
and 500 times in an hour (docs, rate limits for the REST API). A comment takes seven requests if none fails, and the
client waits a second between writes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from triage.backlog.backlog import BatchRecord, ListedIssue
from triage.backlog.backlog_files import BacklogFiles
from triage.backlog.backlog_page import MAX_SUMMARY_BYTES, render_backlog
from triage.backlog.backlog_results import BacklogResults, collect_results
from triage.backlog.csv_table import render_csv
from triage.comment.comment import decide_comment
from triage.comment.hidden_state import parse_state
from triage.domain.code import Span
from triage.domain.issue import Issue
from triage.domain.report import RunReport
from triage.domain.run import Status
from triage.domain.task import TriageTask, Trigger
from triage.jobs.run_context import Run, TriageRequest
from triage.jobs.write_results import publish_report
from triage.ports import AnnotationLevel
from triage.writes.deduplicate import find_our_comment

MAX_FAILURES = 3
"""Then GitHub does not take any."""


@dataclass(frozen=True)
class MergeJob:
    files: BacklogFiles
    context: Run
    max_comments: int = 0
    """Comments to write on issues, at most; 0 writes none."""


def read_results(files: BacklogFiles) -> tuple[BacklogResults, dict[int, ListedIssue]]:
    """Return the results of all batches, and their issues by number. Raises BadInput without the list's files."""
    plan = files.read_plan()
    batches = range(1, len(plan.batches) + 1)
    issues = {one.issue.number or 0: one for batch in batches for one in files.read_batch(batch)}
    records: Mapping[int, list[BatchRecord]] = {batch: files.read_records(batch) for batch in batches}
    return collect_results(plan, records, {number: one.issue.title for number, one in issues.items()}), issues


async def merge_backlog(job: MergeJob) -> str:
    """Write the table to the folder and the job's summary, and comments if asked for. Returns its page."""
    results, issues = read_results(job.files)
    if job.max_comments:
        results = replace(results, notes=[await write_comments(results, issues, job.max_comments, job.context)])
    page = render_backlog(results, MAX_SUMMARY_BYTES)
    groups = {one.number: one.first for one in results.ranked}
    ordered = [*(one.report for one in results.ranked), *results.others]
    job.files.write_table(page, render_csv(results.plan, ordered, groups, results.not_triaged))
    job.context.output.write_summary(page)
    return page


async def write_comments(results: BacklogResults, issues: Mapping[int, ListedIssue], limit: int, context: Run) -> str:
    """Comment on at most `limit` issues, the first of the table first. Returns a sentence about it."""
    speaking = list_speaking(results, issues)
    written = failed = 0
    context = replace(context, output=_NoPage(context))
    for report in speaking[:limit]:
        if context.cancelled.is_set() or context.seconds_left() <= 0 or failed == MAX_FAILURES:
            break
        request = _make_request(issues[report.issue.number or 0].issue)
        repository = context.repository.model_copy(update={"commit": report.commit, "labels": results.plan.labels})
        result = await publish_report(report, request, repository, [], context)
        if result.status is Status.FAILED:
            break  # the token may not write, on no issue
        is_written = result.status is report.status
        written, failed = written + is_written, failed + (not is_written)
    missing = len(speaking) - written
    rest = f" {missing:,} more have something to say." if missing else ""
    return f"Comments: {written:,} issues were written to, or were up to date.{rest}"


def list_speaking(results: BacklogResults, issues: Mapping[int, ListedIssue]) -> list[RunReport]:
    """Return the reports that are worth a comment, in the order of the table."""
    ordered = [*(one.report for one in results.ranked), *results.others]

    def has_comment(report: RunReport) -> bool:
        issue = issues[report.issue.number or 0].issue
        return (
            bool(decide_comment(report, "auto", has_comment=find_our_comment(issue) is not None)) and not issue.locked
        )

    return [report for report in ordered if report.issue.number in issues and has_comment(report)]


def _make_request(issue: Issue) -> TriageRequest:
    comment = find_our_comment(issue)
    task = TriageTask(number=issue.number or 0, trigger=Trigger.REQUESTED)
    return TriageRequest(task, issue, issue, parse_state(comment.body) if comment else None)


class _NoPage:
    """Results of single issues do not go to the job's page."""

    def __init__(self, context: Run) -> None:
        self._output = context.output

    def write_summary(self, markdown: str) -> None:
        """Writes nothing."""

    def write_outputs(self, values: Mapping[str, str]) -> None:
        """Writes nothing."""

    def annotate(self, level: AnnotationLevel, message: str, at: Span | None = None) -> None:
        self._output.annotate(level, message, at)

    def write_report(self, json_text: str) -> str:
        """Writes nothing."""
        del json_text
        return ""
