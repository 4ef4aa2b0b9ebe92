"""Lists the issues of a backlog with everything that the jobs after it read."""

from collections.abc import Callable, Iterator
from datetime import datetime

from triage.agents.services import IteratePastIssues
from triage.app.app import App
from triage.backlog.backlog import MAX_ISSUES, Backlog, LeftOut
from triage.backlog.backlog_client import check_query, continue_query
from triage.base.errors import TriageError
from triage.base.progress import ProgressLog
from triage.domain.issue import Issue
from triage.domain.past_issues import PastIssue
from triage.domain.project_config import ProjectConfig
from triage.domain.task import TriageTask, Trigger
from triage.outside.github.issue_nodes import MAX_TITLE_CHARS
from triage.outside.github.read_past_issues import MAX_BODY_CHARS
from triage.read.other_issues import make_visible
from triage.run.may_run.admission import check_opt_labels

BY_BOT = "A bot opened it."
NO_PAST = "Past issues could not be read: the issues of the backlog are compared with each other and what was read."


def list_backlog(
    app: App,
    query: str,
    iterate: Callable[[str], Iterator[tuple[list[Issue], int]]],
    iterate_past: IteratePastIssues | None,
    now: datetime,
) -> Backlog:
    """Return the newest issues that a search finds, at most `MAX_ISSUES`. Slow: call it in a thread.

    `iterate` is as `BacklogClient.iterate`.

    Raises:
        BadInput: The query cannot be used.
        TriageError: GitHub does not answer.
    """
    query, total = check_query(query), 0
    found: dict[int, Issue] = {}
    for page, total in iterate(query):
        found |= {issue.number or 0: issue for issue in page}
        app.progress.info(f"Listed {len(found):,} of {total:,} issues")
    listed = list(found.values())[:MAX_ISSUES]
    reasons = [check_issue(issue, app.config) for issue in listed]
    last = listed[-1].opened_at if listed and total > MAX_ISSUES else None
    return Backlog(
        repository=app.repository,
        server_url=app.environment.server_url,
        query=query,
        listed_at=now,
        issues=[issue for issue, reason in zip(listed, reasons, strict=True) if not reason],
        past=_read_past(listed, iterate_past, app.progress),
        left_out=[
            LeftOut(number=issue.number or 0, title=issue.title, reason=reason)
            for issue, reason in zip(listed, reasons, strict=True)
            if reason
        ],
        next_query=continue_query(query, last) if last else "",
    )


def check_issue(issue: Issue, config: ProjectConfig) -> str:
    """Return why an issue is not triaged; empty if it is."""
    if issue.author_is_bot:
        return BY_BOT
    return check_opt_labels(TriageTask(number=issue.number or 0, trigger=Trigger.REQUESTED), issue, config)


def _read_past(listed: list[Issue], iterate: IteratePastIssues | None, progress: ProgressLog) -> list[PastIssue]:
    """Return past issues and those of the backlog. What was read as past has more fields, and stays."""
    known = {issue.number or 0: to_past_issue(issue) for issue in listed}
    try:
        for page in iterate("") if iterate else ():
            known |= {issue.number: issue for issue in page}
    except TriageError:
        progress.info(NO_PAST)
    return [known[number] for number in sorted(known, reverse=True)]


def to_past_issue(issue: Issue) -> PastIssue:
    """Return an issue of the backlog as one that the others are compared with: what a person sees of it.

    Takes about a millisecond.
    """
    assert issue.opened_at
    past = PastIssue(
        number=issue.number or 0,
        title=issue.title[:MAX_TITLE_CHARS],
        body=issue.body[:MAX_BODY_CHARS],
        author=issue.author,
        labels=issue.labels,
        state="closed" if issue.state == "closed" else "open",
        created_at=issue.opened_at,
    )
    return make_visible(past)
