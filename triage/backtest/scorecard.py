"""The scorecard: what came of our comments on issues that were closed since a day. Its page, its job, its command."""

import json
import re
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from pydantic import Field

from triage.app.app import App, utc_now
from triage.app.command_line import Json
from triage.app.open_app import open_terminal_app
from triage.backtest.closed_issues import OurComment, ScorecardIssues
from triage.backtest.judge import (
    MIN_CASES_FOR_PERCENT,
    IssueResult,
    Scorecard,
    count_issues,
    judge_issue,
    judge_outcomes,
)
from triage.base.errors import BadInput, WrongUsage
from triage.base.text import quote_value
from triage.base.threads import OutOfTime, call_with_deadline
from triage.domain.report import RunReport
from triage.domain.run import Status
from triage.domain.statement import SUBJECTS
from triage.domain.value import Value
from triage.run.job_context import JobContext
from triage.run.write.apply_job_effects import apply_job_effects
from triage.safety.safe_markdown import format_code_block
from triage.say.hidden_state import CommentState
from triage.say.links import build_reference_url
from triage.say.notices import plan_page, plan_unfinished
from triage.say.report_pages import Fold, Page, render_page
from triage.say.template import MAX_SUMMARY_UNITS, render_block

MAX_LISTED = 100


class ScorecardPage(Value):
    """What the page shows, and what `--json` prints: the comments on issues, or those of a shadow week."""

    repository: str
    server_url: str
    asked_since: datetime
    since: datetime
    """All issues that were closed since then are counted."""
    closed: int
    card: Scorecard
    results: list[IssueResult]
    shadow: dict[int, str] = Field(default_factory=dict)
    """Of a shadow week: the comment that each run would have written, by issue; empty if none."""


def render_scorecard(page: ScorecardPage) -> str:
    """Return the page on what came of the comments on closed issues, as Markdown."""
    card = page.card
    since, comments = page.since.date().isoformat(), {number: text for number, text in page.shadow.items() if text}
    blocks = [render_block("was_it_right", "head", page.repository, since, page.closed, card, page.shadow, comments)]
    if page.since > page.asked_since:
        blocks.append(render_block("was_it_right", "cut", page.since.strftime("%Y-%m-%d %H:%M UTC")))
    if card.triaged:
        blocks.append(render_block("was_it_right", "figures", card))
    listed = sorted((one for one in page.results if one.place), key=_order_by_result)
    links = [build_reference_url(page.server_url, page.repository, f"issues/{one.number}") for one in listed]
    rows = list(zip(listed, links, strict=True))[:MAX_LISTED]
    folds = [
        Fold(f"Issues ({len(listed)})", render_block("was_it_right", "issues", rows, len(listed) - len(rows))),
        Fold("How this is counted", render_block("was_it_right", "method", card, MIN_CASES_FOR_PERCENT)),
    ]
    folds = folds if listed else folds[1:] if card.triaged else []
    shown = list(comments.items())[:MAX_LISTED]
    folds += [Fold(f"#{number}: the comment", format_code_block(text, "markdown")) for number, text in shown]
    markdown = Page(blocks, folds, footer="", links=[link for _, link in rows if link])
    return render_page(markdown, MAX_SUMMARY_UNITS).rstrip() + "\n"


def _order_by_result(result: IssueResult) -> tuple[bool, bool, int]:
    """What was wrong comes first, then the newest."""
    place = result.place
    return bool(place and place.first_right), bool(place and place.any_right), -result.number


DEFAULT_SINCE = "90d"


def parse_since(text: str, now: datetime) -> datetime:
    """Return the start of the day in UTC so many days ago, for `90d`. Raises WrongUsage."""
    days = re.fullmatch(r"([1-9][0-9]{0,2})d", text.strip(), re.ASCII)
    if days is None:
        raise WrongUsage(f"The time {quote_value(text)} is not a number of days such as 90d.")
    return now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=int(days[1]))


def count_closed(app: App, since: str, shadow: Path | None = None) -> ScorecardPage:
    """Return the scorecard of the repository. Slow: call it in a thread.

    `shadow` is a folder with reports of runs that wrote nothing, which are judged in place of comments.

    Raises BadInput if the time, repository or a report cannot be used; else as `ScorecardIssues.read_closed_issues`.
    """
    reports = read_reports(shadow, app.repository) if shadow else {}
    start = parse_since(since, utc_now())
    comments = {number: make_comment(report) for number, report in reports.items() if report.comment_reason}
    closed = app.open_github(ScorecardIssues, shadow=comments).read_closed_issues(start)
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
        count = partial(count_closed, app, DEFAULT_SINCE)
        page = await call_with_deadline(count, context.cancelled, context.seconds_left())
    except OutOfTime as error:
        apply_job_effects(plan_unfinished(f"The scorecard is not ready: {error}."), context.output)
        return Status.DEGRADED
    apply_job_effects(plan_page(render_scorecard(page)), context.output)
    return Status.COMPLETE


def read_reports(folder: Path, repository: str) -> dict[int, RunReport]:
    """Return the newest report of each issue of a repository, from all files `report.json` below a folder.

    Raises BadInput if there is none, or one cannot be read.
    """
    newest: dict[int, RunReport] = {}
    paths = sorted(folder.rglob("report.json"))
    for path in paths:
        try:
            report = RunReport.model_validate_json(path.read_bytes())
        except (OSError, ValueError):
            raise BadInput(f"{path} is not a report of this version. Leave it out.") from None
        number = report.issue.number
        if number is None or report.repository.casefold() != repository.casefold():
            continue
        if number not in newest or newest[number].started_at < report.started_at:
            newest[number] = report
    if not newest:
        raise BadInput(f"No report of {repository} is below {folder}: {len(paths)} files report.json were read.")
    return dict(sorted(newest.items()))


def make_comment(report: RunReport) -> OurComment:
    """Return the comment that a run which wrote nothing would have posted."""
    existing = {label.casefold() for label in report.issue.labels}
    labels = [one for one in report.ticket.labels if one.casefold() not in existing]
    state = CommentState().with_report(report, "").with_labels(labels)
    said = [SUBJECTS[one.rule] for one in report.statements if one.rule in SUBJECTS]
    return OurComment(posted_at=report.started_at, is_ours_alone=True, state=state, said=said)


def scorecard(
    github: Annotated[str, typer.Option(help="owner/name of the repository; by default that of this checkout.")] = "",
    since: Annotated[str, typer.Option(help="For how many days, such as 90d.")] = DEFAULT_SINCE,
    repo: Annotated[Path, typer.Option(help="Checkout whose repository is meant.")] = Path(),
    shadow: Annotated[
        Path | None,
        typer.Option(help="Folder with reports of runs with dry-run: they are judged in place of comments."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Count how often the comments on closed issues were right, by the fixes that closed them."""
    app, _ = open_terminal_app(repo)
    app = replace(app, repository=github or app.repository)
    if not app.settings.github_token.get_secret_value():
        raise BadInput("A scorecard reads GitHub's GraphQL API, which needs a token: set TRIAGE_GITHUB_TOKEN.")
    page = count_closed(app, since, shadow)
    dumped = json.dumps(page.model_dump(mode="json"), indent=2) + "\n"
    sys.stdout.write(dumped if as_json else render_scorecard(page))
