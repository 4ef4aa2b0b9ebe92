"""Indexes the commit that was pushed and caches the index, so that a triage that starts later finds it ready."""

import asyncio

from triage.domain.code import IndexFacts
from triage.domain.run import Status, Usage
from triage.flows.flow_context import FlowContext, FlowResult
from triage.publish.apply_effects import apply_effects
from triage.publish.plan_effects import plan_index_result, plan_unfinished
from triage.threads import run_in_daemon_thread, wait_until_done_or_cancelled


async def warm_index(context: FlowContext) -> FlowResult:
    """Index the commit and write the result to the job's page. GitHub is neither read nor written."""

    def index() -> tuple[IndexFacts, Usage]:
        services = context.open_services()
        facts = services.codebase.index()
        return facts, services.model.usage if services.model else Usage()

    indexing = asyncio.ensure_future(run_in_daemon_thread(index))
    await wait_until_done_or_cancelled(indexing, context.cancelled, context.seconds_left())
    if not indexing.done():
        indexing.cancel()
        why = "the run was cancelled" if context.cancelled.is_set() else "the run's time was up"
        apply_effects(plan_unfinished(f"The index is not ready: {why}."), None, context.runner)
        return FlowResult(Status.DEGRADED)
    facts, usage = indexing.result()
    context.progress.info(facts.log_line)
    status, effects = plan_index_result(facts, usage)
    apply_effects(effects, None, context.runner)
    return FlowResult(status)
