"""Triages past issues one after the other, each on the commit before its fix and knowing nothing later."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from langchain_core.embeddings import Embeddings

from triage.agents.services import Services
from triage.app.app import App
from triage.backtest.judge import CaseResult, PastCase, judge_report
from triage.base.errors import SetupError
from triage.domain.issue import Issue, IssueComment, Repository
from triage.domain.past_issues import PastIssue
from triage.find.codebase import Codebase
from triage.find.index_commit import PastCommit
from triage.graph.run_graph import run_graph
from triage.outside.github.issue_tracker import IssueTracker
from triage.outside.github.read_past_issues import MAX_BODY_CHARS as MAX_REMEMBERED_CHARS
from triage.read.other_issues import make_visible
from triage.say.hidden_state import CommentState, render_state

MAX_PAST_ISSUES = 3_000
"""Thirty requests."""
MAX_BODY_CHARS = 65_536
"""GitHub's limit: an issue of a backtest is read whole, as it was written."""
OpenServices = Callable[[PastCase, Sequence[PastIssue]], Services]
"""Opens what a run needs: the code before the fix, and the past issues that were known then."""


def read_past_issues(app: App, last: int) -> list[PastIssue]:
    """Return the repository's newest issues, whole pages, enough to compare `last` fixed ones with those before.

    Raises SetupError if there is no token or GitHub refuses it, GitHubUnavailable if GitHub does not answer.
    """
    if not app.settings.github_token.get_secret_value():
        raise SetupError("--github needs a token: set TRIAGE_GITHUB_TOKEN, for example to the output of gh auth token.")
    found: list[PastIssue] = []
    for page in app.open_github(IssueTracker).iterate_past_issues(MAX_PAST_ISSUES, "", MAX_BODY_CHARS):
        found += page
        if page:
            app.progress.info(f"Read {len(found)} issues of {app.repository}.")
        fixed = sorted((issue.number for issue in found if any(fix.commit for fix in issue.fixes)), reverse=True)
        # Some of them will be left out, and the oldest one is compared with those before it.
        needed = fixed[: last * 2]
        if len(needed) == last * 2 and sum(one.number < needed[-1] for one in found) >= app.config.past_issues:
            break
    return found


def to_memory(past: Sequence[PastIssue]) -> list[PastIssue]:
    """Return the issues as the memory of a run has them: their visible text, cut."""
    return [make_visible(issue.model_copy(update={"body": issue.body[:MAX_REMEMBERED_CHARS]})) for issue in past]


def open_past_services(app: App, case: PastCase, past_issues: Sequence[PastIssue]) -> Services:
    """Return services that know nothing from after the issue was opened, but for code merged before its fix."""

    def build_codebase(app: App, embeddings: Embeddings | None) -> Codebase:
        return Codebase(
            app.root,
            app.repository,
            embeddings,
            app.settings.effective_embedding_model,
            in_chroma=False,
            ignore=app.config.ignore,
            past_commit=PastCommit(case.base, case.opened_at),
        )

    services = replace(app, started=time.monotonic()).open_services(build_codebase)
    # The web knows the fix, and a collector the runs of today.
    return replace(
        services, iterate_past_issues=lambda _: iter([list(past_issues)]), web_tools=None, export_report=None
    )


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
        yield judge_report(case, report)


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


def recall_known_then(past: Iterable[PastIssue], at: datetime, limit: int) -> list[PastIssue]:
    """Return the newest issues that were open or closed at a time, at most `limit`, as they were then.

    Labels are today's: GitHub does not list when each was added. They are those of other issues.
    """
    then = [_as_of(issue, at) for issue in past if issue.created_at < at]
    return sorted(then, key=lambda issue: -issue.number)[:limit]


def _as_of(issue: PastIssue, at: datetime) -> PastIssue:
    """Return the issue as it was at a time, as far as GitHub still tells."""
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
