"""Lists the issues of a backlog with everything that the jobs after it read, and splits them into batches."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from tempfile import TemporaryFile
from typing import BinaryIO

from triage.backlog.backlog import (
    DEFAULT_BATCH_SIZE,
    MAX_BATCHES,
    BacklogPage,
    BacklogPlan,
    Caps,
    Cursor,
    LeftOut,
    ListedIssue,
)
from triage.backlog.backlog_client import advance_cursor, check_query, format_cursor, parse_cursor
from triage.backlog.backlog_files import BacklogFiles
from triage.base.errors import GitHubUnavailable, TriageError
from triage.comment.hidden_state import hash_text, parse_state
from triage.domain.issue import Issue
from triage.domain.past_issues import PastIssue
from triage.domain.project_config import ProjectConfig
from triage.domain.task import TriageTask, Trigger
from triage.events.admission import label_skip_reason
from triage.issue.other_issues import make_visible
from triage.ports import PastIssueSource, ProgressLog
from triage.writes.allowed_labels import select_allowed_labels
from triage.writes.deduplicate import find_our_comment

MAX_TITLE_CHARS, MAX_BODY_CHARS = 300, 6_000
"""Of an issue that others are compared with. Nine of ten have less than 4,000."""
BY_BOT = "A bot opened it."
QUIET = "`/triage quiet` was said on it."
UP_TO_DATE = "It has a comment of this action about its present text."
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

    iterate: Callable[[str, Cursor | None], Iterator[BacklogPage]]
    """As `BacklogClient.iterate`."""
    files: BacklogFiles
    past_issues: PastIssueSource | None
    fetch_labels: Callable[[], list[str]]
    config: ProjectConfig
    progress: ProgressLog
    now: Callable[[], datetime]


@dataclass
class _IssueSpool:
    """Issues on disk until all are listed: a full list of issues with long threads would take gigabytes of memory."""

    file: BinaryIO

    def add(self, issue: ListedIssue) -> None:
        # With escapes: a lone surrogate cannot be written as it is.
        self.file.write(json.dumps(issue.model_dump(mode="json")).encode() + b"\n")

    def read(self) -> Iterator[ListedIssue]:
        """Yield the issues in the order in which they were added. Nothing may be added meanwhile."""
        self.file.seek(0)
        for line in self.file:
            yield ListedIssue.model_validate(json.loads(line))


@dataclass
class _Listed:
    cursor: Cursor | None
    spool: _IssueSpool
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
    with TemporaryFile() as file:
        return _list_and_write(request, query, services, _IssueSpool(file))


def _list_and_write(request: ListRequest, query: str, services: ListServices, spool: _IssueSpool) -> BacklogPlan:
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
    services.files.write_list(plan, batches, merge_past_issues(past, found.past))
    return plan


def describe_list(plan: BacklogPlan) -> dict[str, str]:
    """Return the outputs of a list, for the jobs that follow."""
    return {
        "backlog-matrix": json.dumps({"batch": list(range(1, len(plan.batches) + 1))}),
        "backlog-issues": str(plan.issue_count),
        "backlog-cursor": plan.next_cursor,
    }


def _list_issues(request: ListRequest, query: str, services: ListServices, spool: _IssueSpool) -> _Listed:
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
    for page in services.iterate(query, found.cursor):
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


def find_skip_reason(issue: Issue, config: ProjectConfig, *, again: bool) -> str:
    """Return why an issue is not triaged; empty if it is.

    With `again`, an issue is triaged although our comment is about its present text.
    """
    if issue.author_is_bot:
        return BY_BOT
    task = TriageTask(number=issue.number or 0, trigger=Trigger.REQUESTED)
    if reason := label_skip_reason(task, issue, config):
        return reason
    comment = find_our_comment(issue)
    state = parse_state(comment.body) if comment else None
    if state is None:
        return ""
    if state.quiet:
        return QUIET
    is_same = bool(state.content_hash) and state.text_hash == hash_text(issue.title, issue.body)
    return UP_TO_DATE if is_same and not again else ""


def split_batches(numbers: Sequence[int], size: int) -> list[list[int]]:
    """Return batches of at most `size` issues, as equal as possible."""
    count = -(-len(numbers) // size)
    return [list(numbers[len(numbers) * k // count : len(numbers) * (k + 1) // count]) for k in range(count)]


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


def merge_past_issues(past: Sequence[PastIssue], listed: Sequence[PastIssue]) -> list[PastIssue]:
    """Return past issues and those of the backlog, newest first. What was read as past has more fields, and stays."""
    known = {issue.number: issue for issue in listed} | {issue.number: issue for issue in past}
    return sorted(known.values(), key=lambda issue: -issue.number)
