"""Index the commit that was pushed and keep the index: a triage that starts later finds the work done."""

import asyncio

from triage.domain.code import IndexFacts
from triage.domain.run import Status, Usage
from triage.flows.flow_context import FlowContext, FlowResult
from triage.publish.apply_effects import apply_effects
from triage.publish.plan_effects import plan_index_result, plan_unfinished
from triage.threads import run_in_daemon_thread, wait_or_cancel


async def warm_index(desk: FlowContext, cancelled: asyncio.Event) -> FlowResult:
    """Index, and say on the job's page what came of it. Nothing is read from GitHub or written to it."""
    working = asyncio.ensure_future(run_in_daemon_thread(lambda: _index(desk)))
    await wait_or_cancel(working, cancelled, desk.seconds_left())
    if not working.done():
        working.cancel()
        why = "the run was cancelled" if cancelled.is_set() else "the run's time was up"
        apply_effects(plan_unfinished(f"The index is not ready: {why}."), None, desk.runner)
        return FlowResult(Status.DEGRADED)
    facts, usage = working.result()
    desk.progress.info(facts.log_line)
    status, effects = plan_index_result(facts, usage)
    apply_effects(effects, None, desk.runner)
    return FlowResult(status)


def _index(desk: FlowContext) -> tuple[IndexFacts, Usage]:
    services = desk.open_services()
    facts = services.codebase.index()
    return facts, services.model.usage if services.model else Usage()
