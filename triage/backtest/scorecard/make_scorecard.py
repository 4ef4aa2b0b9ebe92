"""Counts what came of our comments on closed issues, and stores the weeks."""

from dataclasses import dataclass
from datetime import datetime

from triage.backtest.scorecard.count_results import count_results
from triage.backtest.scorecard.judge_issue import IsProductCode, judge_issue
from triage.backtest.scorecard.scorecard_page import ScorecardPage, render_scorecard, render_trend_comment
from triage.backtest.scorecard.scorecard_ports import ScorecardIssues, TrendFile
from triage.backtest.scorecard.weekly_trend import count_weeks, dump_weeks, load_weeks, merge_weeks, parse_marker
from triage.base.errors import TriageError
from triage.base.threads import OutOfTime, call_with_deadline
from triage.domain.issue import Repository
from triage.domain.run import Status
from triage.job_page.notices import plan_page, plan_unfinished
from triage.jobs.flow_context import FlowContext, FlowResult
from triage.writes.apply_local_effects import PublishResult, apply_local_effects


@dataclass(frozen=True)
class ScorecardJob:
    """What a scorecard is made from."""

    issues: ScorecardIssues
    file: TrendFile
    is_product_code: IsProductCode
    repository: Repository
    since: datetime
    issue_number: int | None = None
    """A comment on this issue stores the weeks; None for no comment."""
    dry_run: bool = False
    """Whether that issue is only read."""

    def run(self) -> "ScorecardResult":
        """Count, and write the weeks. Raises as `ScorecardIssues.read_closed_issues` and `read_trend`."""
        closed = self.issues.read_closed_issues(self.since)
        results = [judge_issue(issue, self.is_product_code) for issue in closed.triaged]
        comment = self.issues.read_trend(self.issue_number) if self.issue_number else ""
        stored = [*load_weeks(self.file.read()), *parse_marker(comment)]
        weeks = merge_weeks(stored, count_weeks(results), closed.since)
        self.file.write(dump_weeks(weeks))
        page = ScorecardPage(
            repository=self.repository.slug,
            server_url=self.repository.server_url,
            asked_since=self.since,
            since=closed.since,
            closed=closed.closed,
            card=count_results(results),
            results=results,
            weeks=weeks,
        )
        return ScorecardResult(page, self._write_trend(page))

    def _write_trend(self, page: ScorecardPage) -> TriageError | None:
        if self.issue_number and not self.dry_run:
            try:
                self.issues.write_trend(self.issue_number, render_trend_comment(page.weeks))
            except TriageError as error:  # the page was counted, and is worth reading
                return error
        return None


@dataclass(frozen=True)
class ScorecardResult:
    page: ScorecardPage
    problem: TriageError | None = None
    """Why the comment with the weeks could not be written."""


async def make_scorecard(job: ScorecardJob, context: FlowContext) -> FlowResult:
    """Write the page to the summary of the job."""
    try:
        result = await call_with_deadline(job.run, context.cancelled, context.seconds_left())
    except OutOfTime as error:
        apply_local_effects(plan_unfinished(f"The scorecard is not ready: {error}."), context.runner)
        return FlowResult(Status.DEGRADED)
    publishing = PublishResult()
    if result.problem:
        publishing.add_failure(result.problem)
    apply_local_effects(plan_page(render_scorecard(result.page)), context.runner, publishing)
    failed = Status.FAILED if publishing.needs_setup_fix else Status.DEGRADED
    return FlowResult(failed if result.problem else Status.COMPLETE)
