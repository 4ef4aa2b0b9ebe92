"""The end of a run: a last look at the issue, and what is written while there is time."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from triage.domain.effect import Effect
from triage.domain.issue import Issue
from triage.errors import CannotPublish, TriageError
from triage.flows.deadlines import run_while_time_left
from triage.ports import GitHub, Runner
from triage.publish.apply_effects import IssueEffect, PublishResult, apply_issue_effects, apply_local_effects

REFETCH_SHARE = 0.5
"""Of the time that is left, for the last look: the writing must still fit."""


async def refetch_issue(
    issue: Issue, github: GitHub, seconds_left: Callable[[], float], cancelled: asyncio.Event
) -> Issue | None:
    """The issue as it is now, minutes after it was read, with all comments of ours that stand.

    None when GitHub does not tell: what hinders it is told by the write that follows.
    """
    number = issue.number
    if number is None:
        return None
    looking = await run_while_time_left(
        lambda: github.refetch_issue(number), lambda: seconds_left() * REFETCH_SHARE, cancelled
    )
    with suppress(TriageError, TimeoutError, asyncio.InvalidStateError):
        now = looking.result()
        read = {said.comment_id: said for said in issue.thread if said.ours}
        return now.model_copy(update={"thread": list((read | {said.comment_id: said for said in now.thread}).values())})
    return None


async def write_results(
    effects: Sequence[Effect],
    github: GitHub,
    runner: Runner,
    seconds_left: Callable[[], float],
    cancelled: asyncio.Event,
) -> PublishResult:
    """Write to the issue as long as there is time; what stays on this machine is written in any case."""
    done = PublishResult()
    if not any(isinstance(effect, IssueEffect) for effect in effects):
        return apply_local_effects(effects, runner, done)
    writing = await run_while_time_left(lambda: apply_issue_effects(effects, github, done), seconds_left, cancelled)
    if writing.done() and not writing.cancelled() and not isinstance(writing.exception(), TimeoutError):
        writing.result()
    else:
        done = replace(done, failures=list(done.failures), annotations=list(done.annotations))
        why = "the run was cancelled" if cancelled.is_set() else "the run's time was up"
        done.add_failure(CannotPublish(f"While it was written to the issue, {why}: it may stand there, or not."))
    return apply_local_effects(effects, runner, done)
