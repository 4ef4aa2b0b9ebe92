"""Indexes the commit that was pushed and caches the index, so that a triage that starts later finds it ready."""

from triage.base.threads import OutOfTime, call_with_deadline
from triage.domain.code import IndexFacts
from triage.domain.run import Status, Usage
from triage.job_page.notices import plan_unfinished
from triage.jobs.flow_context import FlowContext, FlowResult
from triage.writes.apply_local_effects import apply_local_effects
from triage.writes.plan_effects import plan_index_result


async def warm_index(context: FlowContext) -> FlowResult:
    """Index the commit and write the result to the job's page. GitHub is neither read nor written."""

    def index() -> tuple[IndexFacts, Usage]:
        services = context.open_services()
        facts = services.codebase.index()
        return facts, services.model.usage if services.model else Usage()

    try:
        facts, usage = await call_with_deadline(index, context.cancelled, context.seconds_left())
    except OutOfTime as error:
        apply_local_effects(plan_unfinished(f"The index is not ready: {error}."), context.runner)
        return FlowResult(Status.DEGRADED)
    context.progress.info(facts.log_line)
    status, effects = plan_index_result(facts, usage)
    apply_local_effects(effects, context.runner)
    return FlowResult(status)
