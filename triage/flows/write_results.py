"""The end of a run: a last look at the issue, and what is written while there is time."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from triage.domain.effect import Effect
from triage.domain.issue import Issue
from triage.errors import CannotPublish, TriageError
from triage.flows.deadlines import as_long_as_there_is_time
from triage.ports import GitHub, Runner
from triage.publish.apply_effects import OnIssue, Performed, write_out, write_to_issue

LOOK_SHARE = 0.5
"""Of the time that is left, for the last look: the writing must still fit."""


async def looked_again(
    issue: Issue, github: GitHub, seconds_left: Callable[[], float], cancelled: asyncio.Event
) -> Issue | None:
    """The issue as it is now, minutes after it was read, with all comments of ours that stand.

    None when GitHub does not tell: what hinders it is told by the write that follows.
    """
    number = issue.number
    if number is None:
        return None
    looking = await as_long_as_there_is_time(
        lambda: github.again(number), lambda: seconds_left() * LOOK_SHARE, cancelled
    )
    with suppress(TriageError, TimeoutError, asyncio.InvalidStateError):
        now = looking.result()
        read = {said.comment_id: said for said in issue.thread if said.ours}
        return now.model_copy(update={"thread": list((read | {said.comment_id: said for said in now.thread}).values())})
    return None


async def performed(
    effects: Sequence[Effect],
    github: GitHub,
    runner: Runner,
    seconds_left: Callable[[], float],
    cancelled: asyncio.Event,
) -> Performed:
    """Write to the issue as long as there is time; what stays on this machine is written in any case."""
    done = Performed()
    if not any(isinstance(effect, OnIssue) for effect in effects):
        return write_out(effects, runner, done)
    writing = await as_long_as_there_is_time(lambda: write_to_issue(effects, github, done), seconds_left, cancelled)
    if writing.done() and not writing.cancelled() and not isinstance(writing.exception(), TimeoutError):
        writing.result()
    else:
        done = replace(done, failures=list(done.failures), annotations=list(done.annotations))
        why = "the run was cancelled" if cancelled.is_set() else "the run's time was up"
        done.fail(CannotPublish(f"While it was written to the issue, {why}: it may stand there, or not."))
    return write_out(effects, runner, done)
