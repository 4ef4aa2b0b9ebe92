"""Index the commit that was pushed and keep the index: a triage that starts later finds the work done."""

import asyncio

from triage.domain.code import IndexFacts
from triage.domain.run import Status, Usage
from triage.flows.deadlines import ended_or_cancelled
from triage.flows.flow_context import Desk, Ending
from triage.publish.apply_effects import perform
from triage.publish.plan_effects import indexed, unfinished
from triage.threads import in_daemon_thread


async def warm(desk: Desk, cancelled: asyncio.Event) -> Ending:
    """Index, and say on the job's page what came of it. Nothing is read from GitHub or written to it."""
    working = asyncio.ensure_future(in_daemon_thread(lambda: _indexed(desk)))
    await ended_or_cancelled(working, cancelled, desk.seconds_left())
    if not working.done():
        working.cancel()
        why = "the run was cancelled" if cancelled.is_set() else "the run's time was up"
        perform(unfinished(f"The index is not ready: {why}."), None, desk.runner)
        return Ending(Status.DEGRADED)
    facts, usage = working.result()
    desk.journal.note(facts.told)
    status, effects = indexed(facts, usage)
    perform(effects, None, desk.runner)
    return Ending(status)


def _indexed(desk: Desk) -> tuple[IndexFacts, Usage]:
    services = desk.services()
    facts = services.codebase.index()
    return facts, services.model.usage if services.model else Usage()
