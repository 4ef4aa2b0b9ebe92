"""Counts what came of our comments on issues that were closed since a day."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from pydantic import ValidationError

from triage.app.app import App, utc_now
from triage.backtest.closed_issues import ScorecardIssues, read_prediction
from triage.backtest.count import count_issues
from triage.backtest.judge import judge_issue, judge_outcomes
from triage.backtest.scorecard_page import ScorecardPage, render_scorecard
from triage.base.errors import BadInput, WrongUsage
from triage.base.text import quote_value
from triage.base.threads import OutOfTime, call_with_deadline
from triage.domain.past_issues import OurComment
from triage.domain.report import RunReport
from triage.domain.run import Status
from triage.domain.statement import SUBJECTS
from triage.run.run_context import JobContext
from triage.run.write.apply_local_effects import apply_local_effects
from triage.say.hidden_state import CommentState
from triage.say.notices import plan_page, plan_unfinished

DEFAULT_SINCE = "90d"
_MAX_DAYS = 731
_SPAN = re.compile(r"([1-9][0-9]{0,3})([dw])", re.ASCII)
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)


def parse_since(text: str, now: datetime) -> datetime:
    """Return the start of the day in UTC, for `90d`, `12w` or `2026-08-01`.

    Raises:
        WrongUsage: It is none of these, in the future, or more than two years ago.
    """
    today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    day = _parse_day(text.strip(), today)
    if day is None or not today - timedelta(days=_MAX_DAYS) <= day <= today:
        raise WrongUsage(
            f"The time {quote_value(text)} is not one of the last two years: give days such as 90d, weeks such as 12w, "
            "or a day such as 2026-08-01."
        )
    return day


def _parse_day(text: str, today: datetime) -> datetime | None:
    if span := _SPAN.fullmatch(text):
        return today - timedelta(days=int(span[1]) * (7 if span[2] == "w" else 1))
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC) if _DAY.fullmatch(text) else None
    except ValueError:
        return None


def count_closed(app: App, since: str, shadow: Path | None = None) -> ScorecardPage:
    """Return the scorecard of the repository. Slow: call it in a thread.

    `shadow` is a folder with reports of runs that wrote nothing, which are judged in place of comments.

    Raises:
        BadInput: The time, the repository or a report is not as it should be.
        TriageError: As `ScorecardIssues.read_closed_issues`.
    """
    reports = read_reports(shadow, app.repository) if shadow else {}
    start = parse_since(since, utc_now())
    # GraphQL's questions are POST requests, before which PyGithub would wait as before writes.
    closed = app.open_github(ScorecardIssues, shadow=make_comments(reports)).read_closed_issues(start)
    results = [judge_issue(one, one.comment) for one in closed.issues if one.comment]
    silent = [judge_outcomes(one) for one in closed.issues if one.comment is None]
    return ScorecardPage(
        repository=app.repository,
        server_url=app.environment.server_url,
        asked_since=start,
        since=closed.since,
        closed=closed.closed,
        card=count_issues(results, silent),
        results=results,
        shadow={number: report.comment or "" for number, report in reports.items()},
    )


async def make_scorecard(app: App, context: JobContext) -> Status:
    """Write the page to the summary of the job."""
    try:
        page = await call_with_deadline(
            partial(count_closed, app, DEFAULT_SINCE), context.cancelled, context.seconds_left()
        )
    except OutOfTime as error:
        apply_local_effects(plan_unfinished(f"The scorecard is not ready: {error}."), context.output)
        return Status.DEGRADED
    apply_local_effects(plan_page(render_scorecard(page)), context.output)
    return Status.COMPLETE


def read_reports(folder: Path, repository: str) -> dict[int, RunReport]:
    """Return the newest report of each issue of a repository, from all files `report.json` below a folder.

    Raises:
        BadInput: There is none, or one cannot be read.
    """
    newest: dict[int, RunReport] = {}
    paths = sorted(folder.rglob("report.json"))
    for path in paths:
        report = _read_report(path)
        number = report.issue.number
        if number is None or report.repository.casefold() != repository.casefold():
            continue
        if number not in newest or newest[number].started_at < report.started_at:
            newest[number] = report
    if not newest:
        raise BadInput(f"No report of {repository} is below {folder}: {len(paths)} files report.json were read.")
    return dict(sorted(newest.items()))


def _read_report(path: Path) -> RunReport:
    try:
        return RunReport.model_validate_json(path.read_bytes())
    except (OSError, ValueError, ValidationError):
        raise BadInput(f"{path} is not a report of this version. Leave it out.") from None


def make_comments(reports: Mapping[int, RunReport]) -> dict[int, OurComment]:
    """Return the comments that would have been, by issue; none for a run that had nothing to say."""
    return {number: _make_comment(report) for number, report in reports.items() if report.comment_reason}


def _make_comment(report: RunReport) -> OurComment:
    had = {label.casefold() for label in report.issue.labels}
    labels = [one for one in report.ticket.labels if one.casefold() not in had]
    state = CommentState().with_report(report, "").with_labels(labels)
    return OurComment(
        posted_at=report.started_at,
        is_ours_alone=True,
        prediction=read_prediction(state),
        asked=bool(state.asked),
        said=list(dict.fromkeys(SUBJECTS[one.rule] for one in report.statements if one.rule in SUBJECTS)),
        labels=state.labels,
    )
