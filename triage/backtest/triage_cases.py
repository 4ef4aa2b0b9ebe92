"""Triages past issues one after the other, each on the commit before its fix and knowing nothing later."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from datetime import datetime

from triage.backtest.judge import judge_duplicate, judge_report
from triage.backtest.results import CaseResult, DuplicateResult, PastCase
from triage.base.threads import in_thread
from triage.domain.code import SearchQuery
from triage.domain.issue import Issue, IssueComment, Repository
from triage.domain.past_issues import PastIssue
from triage.domain.report import RunReport
from triage.graph.run_graph import run_graph
from triage.ports import Codebase, Services
from triage.read.read_issue import read_issue
from triage.say.hidden_state import CommentState, render_state

LOOKED_AT = 50
"""Ranked files whose chance is looked up."""
OpenServices = Callable[[PastCase, Sequence[PastIssue]], Services]
"""Opens what a run needs: the code before the fix, and the past issues that were known then."""


async def triage_past_issues(
    cases: Sequence[PastCase],
    past: Sequence[PastIssue],
    memory: int,
    repository: Repository,
    open_services: OpenServices,
    cancelled: asyncio.Event,
) -> AsyncGenerator[CaseResult]:
    """Yield each result as soon as it is there; ends early when `cancelled` is set.

    Each issue is compared with at most `memory` past ones.
    """
    for case in cases:
        if cancelled.is_set():
            return
        known = recall_known_then(past, case.opened_at, memory)
        services = open_services(case, known)
        report = await run_graph(to_issue(case), repository, services, cancelled)
        if cancelled.is_set():
            return  # a cut report would count as a wrong one
        yield await in_thread(_judge, case, report, services.codebase)


def _judge(case: PastCase, report: RunReport, codebase: Codebase) -> CaseResult:
    parsed = read_issue(to_issue(case))
    chances = {hit.path: hit.probability for hit in codebase.search(SearchQuery(parsed=parsed), LOOKED_AT)}
    return judge_report(case, report, chances)


def to_issue(case: PastCase) -> Issue:
    """Return the issue as it was when it was opened, without labels, and with what a person called wrong since."""
    state = render_state(CommentState(wrong=case.wrong))
    ours = IssueComment(author="", body=state, created_at=case.opened_at, ours=True, comment_id=1)
    return Issue(
        number=case.number,
        title=case.title,
        body=case.body,
        author=case.author,
        url=case.url,
        thread=[ours] if case.wrong else [],
        snapshot_time=case.opened_at,
    )


def find_duplicates(past: Sequence[PastIssue], last: int, memory: int, codebase: Codebase) -> list[DuplicateResult]:
    """Return what would have been named for the newest issues that somebody marked as duplicates of an earlier one."""
    groups = list_groups(past)
    known = {issue.number: issue for issue in past}
    marked = [issue for issue in known.values() if issue.duplicate_of in known and groups[issue.number] < issue.number]
    results = []
    for past_issue in sorted(marked, key=lambda one: -one.number)[:last]:
        issue = Issue(
            number=past_issue.number,
            title=past_issue.title,
            body=past_issue.body,
            author=past_issue.author,
            snapshot_time=past_issue.created_at,
        )
        then = recall_known_then(past, past_issue.created_at, memory)
        similar = codebase.find_similar_issues(issue, read_issue(issue), then, 5)
        results.append(judge_duplicate(past_issue, similar, groups))
    return results


def recall_known_then(past: Iterable[PastIssue], at: datetime, limit: int) -> list[PastIssue]:
    """Return the newest issues that were open or closed at a time, at most `limit`, as they were then.

    Labels are today's: GitHub does not list when each was added. They are those of other issues.
    """
    then = [_as_of(issue, at) for issue in past if issue.created_at < at]
    return sorted(then, key=lambda issue: -issue.number)[:limit]


def _as_of(issue: PastIssue, at: datetime) -> PastIssue:
    is_closed = issue.closed_at is not None and issue.closed_at <= at
    changes = {
        "state": "closed" if is_closed else "open",
        "fixes": [fix for fix in issue.fixes if (fix.at or issue.closed_at or at) < at],
        "updated_at": None,
        "suspects": [],  # of our comment, which may be from later
    }
    if not is_closed:
        changes |= {"state_reason": "", "closed_at": None, "milestone": "", "duplicate_of": None}
    return issue.model_copy(update=changes)


def list_groups(past: Sequence[PastIssue]) -> dict[int, int]:
    """Return the number of the first report for each issue, itself without a mark as duplicate."""
    originals = {issue.number: issue.duplicate_of for issue in past}

    def find(number: int) -> int:
        seen = {number}
        while (following := originals.get(number)) is not None and following not in seen:
            seen.add(following)
            number = following
        return number

    return {number: find(number) for number in originals}
