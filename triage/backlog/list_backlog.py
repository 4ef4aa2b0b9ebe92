"""Lists the issues of a backlog with everything that the jobs after it read."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime

from triage.backlog.backlog import MAX_ISSUES, Backlog, LeftOut, ListedIssue, ListedPage
from triage.backlog.backlog_client import check_query, continue_query
from triage.base.errors import TriageError
from triage.domain.issue import Issue
from triage.domain.past_issues import PastIssue
from triage.domain.project_config import ProjectConfig
from triage.domain.task import TriageTask, Trigger
from triage.outside.github.issue_nodes import MAX_TITLE_CHARS
from triage.outside.github.read_past_issues import MAX_BODY_CHARS
from triage.ports import IteratePastIssues, ProgressLog
from triage.read.other_issues import make_visible
from triage.run.may_run.admission import label_skip_reason

BY_BOT = "A bot opened it."
NO_PAST = "Past issues could not be read: the issues of the backlog are compared with each other and what was read."


@dataclass(frozen=True)
class ListServices:
    """What the list asks."""

    iterate: Callable[[str], Iterator[ListedPage]]
    """As `BacklogClient.iterate`."""
    iterate_past: IteratePastIssues | None
    config: ProjectConfig
    progress: ProgressLog
    now: Callable[[], datetime]


def list_backlog(repository: str, server_url: str, query: str, services: ListServices) -> Backlog:
    """Return the newest issues that a search finds, at most `MAX_ISSUES`. Slow: call it in a thread.

    Raises:
        BadInput: The query cannot be used.
        TriageError: GitHub does not answer.
    """
    query, listed_at = check_query(query), services.now()
    found: dict[int, ListedIssue] = {}
    total = 0
    for page, total in services.iterate(query):
        found |= {one.issue.number or 0: one for one in page}
        services.progress.info(f"Listed {len(found):,} of {total:,} issues")
    listed = list(found.values())[:MAX_ISSUES]
    reasons = {number: find_skip_reason(one.issue, services.config) for number, one in found.items()}
    return Backlog(
        repository=repository,
        server_url=server_url,
        query=query,
        listed_at=listed_at,
        issues=[one.issue for one in listed if not reasons[one.issue.number or 0]],
        past=_read_past(services, listed),
        left_out=[
            LeftOut(number=one.issue.number or 0, title=one.issue.title, reason=reason)
            for one in listed
            if (reason := reasons[one.issue.number or 0])
        ],
        next_query=continue_query(query, listed[-1].created_at) if listed and total > MAX_ISSUES else "",
    )


def find_skip_reason(issue: Issue, config: ProjectConfig) -> str:
    """Return why an issue is not triaged; empty if it is."""
    if issue.author_is_bot:
        return BY_BOT
    return label_skip_reason(TriageTask(number=issue.number or 0, trigger=Trigger.REQUESTED), issue, config)


def _read_past(services: ListServices, listed: list[ListedIssue]) -> list[PastIssue]:
    """Return past issues and those of the backlog. What was read as past has more fields, and stays."""
    known = {one.issue.number or 0: to_past_issue(one) for one in listed}
    try:
        for page in services.iterate_past("") if services.iterate_past else ():
            known |= {issue.number: issue for issue in page}
    except TriageError:
        services.progress.info(NO_PAST)
    return [known[number] for number in sorted(known, reverse=True)]


def to_past_issue(listed: ListedIssue) -> PastIssue:
    """Return an issue of the backlog as one that the others are compared with: what a person sees of it.

    Takes about a millisecond.
    """
    issue = listed.issue
    past = PastIssue(
        number=issue.number or 0,
        title=issue.title[:MAX_TITLE_CHARS],
        body=issue.body[:MAX_BODY_CHARS],
        author=issue.author,
        labels=issue.labels,
        state="closed" if issue.state == "closed" else "open",
        created_at=listed.created_at,
    )
    return make_visible(past)
