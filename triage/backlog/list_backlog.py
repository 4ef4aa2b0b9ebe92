"""Lists the issues of a backlog with everything that the jobs after it read, and splits them into batches."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from triage.backlog.backlog import DEFAULT_BATCH_SIZE, MAX_BATCHES, BacklogPlan, Caps, Cursor, LeftOut, ListedIssue
from triage.backlog.backlog_ports import BacklogFolder, BacklogSource
from triage.backlog.choose_issues import find_skip_reason, merge_past_issues, split_batches, to_past_issue
from triage.backlog.issue_spool import IssueSpool, open_spool
from triage.backlog.search_query import advance_cursor, check_query, format_cursor, parse_cursor
from triage.base.errors import GitHubUnavailable, TriageError
from triage.domain.past_issues import PastIssue
from triage.domain.project_config import ProjectConfig
from triage.ports import PastIssueSource, ProgressLog
from triage.writes.allowed_labels import select_allowed_labels

UNREADABLE = "GitHub's answer about it cannot be read."
NO_PAST = "Past issues could not be read: the issues of the backlog are compared with each other only."


@dataclass(frozen=True)
class ListRequest:
    repository: str
    server_url: str
    query: str
    caps: Caps
    limit: int | None = None
    """Of issues; none takes as many as one matrix can have."""
    batch_size: int = DEFAULT_BATCH_SIZE
    cursor: str = ""
    """Where an earlier list ended; empty for the newest issue."""
    again: bool = False
    """Whether an issue is triaged although our comment is about its present text."""


@dataclass(frozen=True)
class ListServices:
    """What the list asks. `fetch_labels` returns the names of the repository's labels."""

    source: BacklogSource
    folder: BacklogFolder
    past_issues: PastIssueSource | None
    fetch_labels: Callable[[], list[str]]
    config: ProjectConfig
    progress: ProgressLog
    now: Callable[[], datetime]


@dataclass
class _Listed:
    cursor: Cursor | None
    spool: IssueSpool
    issues: int = 0
    chosen: list[int] = field(default_factory=list)
    """Numbers of the issues in the spool."""
    past: list[PastIssue] = field(default_factory=list)
    """All listed ones, as issues that others are compared with."""
    left_out: list[LeftOut] = field(default_factory=list)
    has_more: bool = False
    note: str = ""


def list_backlog(request: ListRequest, services: ListServices) -> BacklogPlan:
    """List the backlog and write its files. Slow: call it in a thread.

    An error after the first page ends the list where it is, and the plan has a cursor.

    Raises:
        BadInput: The query or the cursor cannot be used, or the files cannot be written.
        TriageError: GitHub answers nothing.
    """
    query = check_query(request.query)
    with open_spool() as spool:
        return _list_and_write(request, query, services, spool)


def _list_and_write(request: ListRequest, query: str, services: ListServices, spool: IssueSpool) -> BacklogPlan:
    listed_at = services.now()
    found = _list_issues(request, query, services, spool)
    notes = [found.note] if found.note else []
    past = _read_past(services, notes)
    plan = BacklogPlan(
        repository=request.repository,
        server_url=request.server_url,
        query=query,
        listed_at=listed_at,
        batches=split_batches(found.chosen, request.batch_size),
        left_out=found.left_out,
        caps=request.caps,
        labels=_fetch_labels(services) if found.chosen else [],
        next_cursor=format_cursor(found.cursor) if found.has_more else "",
        notes=notes,
    )
    issues = spool.read()
    batches = ([next(issues) for _ in numbers] for numbers in plan.batches)
    services.folder.write_list(plan, batches, merge_past_issues(past, found.past))
    return plan


def describe_list(plan: BacklogPlan) -> dict[str, str]:
    """Returns the outputs of a list, for the jobs that follow."""
    return {
        "backlog-matrix": json.dumps({"batch": list(range(1, len(plan.batches) + 1))}),
        "backlog-issues": str(plan.issue_count),
        "backlog-cursor": plan.next_cursor,
    }


def _list_issues(request: ListRequest, query: str, services: ListServices, spool: IssueSpool) -> _Listed:
    most = request.batch_size * MAX_BATCHES
    limit = min(request.limit or most, most)
    found = _Listed(parse_cursor(request.cursor), spool)
    try:
        for issue in _iterate(query, found, services):
            if found.issues == limit:
                found.has_more = True
                break
            _add(issue, request, services.config, found)
            found.cursor = advance_cursor(found.cursor, [issue])
    except GitHubUnavailable as error:
        if not found.issues:
            raise
        found.has_more = True
        found.note = f"The list ended early: {error}"
    return found


def _iterate(query: str, found: _Listed, services: ListServices) -> Iterator[ListedIssue]:
    listed = 0
    for page in services.source.iterate(query, found.cursor):
        found.left_out += [LeftOut(number=number, title="", reason=UNREADABLE) for number in page.unreadable]
        listed += len(page.issues)
        services.progress.info(f"Listed {listed:,} issues")
        yield from page.issues


def _add(listed: ListedIssue, request: ListRequest, config: ProjectConfig, found: _Listed) -> None:
    number = listed.issue.number or 0
    found.issues += 1
    found.past.append(to_past_issue(listed))
    if reason := find_skip_reason(listed.issue, config, again=request.again):
        found.left_out.append(LeftOut(number=number, title=listed.issue.title, reason=reason))
    else:
        found.chosen.append(number)
        found.spool.add(listed)


def _read_past(services: ListServices, notes: list[str]) -> list[PastIssue]:
    read: dict[int, PastIssue] = {}
    try:
        for page in services.past_issues.iterate("") if services.past_issues else ():
            read |= {issue.number: issue for issue in page}
    except TriageError:
        notes.append(NO_PAST)
    return list(read.values())


def _fetch_labels(services: ListServices) -> list[str]:
    try:
        return select_allowed_labels(services.config, services.fetch_labels())
    except GitHubUnavailable as error:  # no label is suggested then
        services.progress.info(str(error))
        return []
