"""Runs the graph once. Whatever happens, a report comes back."""

import asyncio
from typing import Any

from langchain_core.runnables import RunnableConfig

from triage.base.threads import wait_until_done_or_cancelled
from triage.domain.issue import Issue, Repository
from triage.domain.report import RunReport
from triage.graph.build_graph import build_graph, compute_recursion_limit
from triage.graph.build_report import build_report
from triage.graph.cut_run import GRACE_SECONDS, stop_and_explain
from triage.graph.step_runner import collect_cancelled_steps
from triage.graph.triage_state import BugTriageState, apply_update
from triage.issue.read_issue import read_issue
from triage.ports import Services


async def run_graph(issue: Issue, repository: Repository, services: Services, cancelled: asyncio.Event) -> RunReport:
    """Triage one issue.

    A run that is cancelled, runs out of time or fails reports what it knows by then.
    """
    state = BugTriageState(issue=issue, repository=repository)
    config: RunnableConfig = {"recursion_limit": compute_recursion_limit(services.limits.iterations)}

    async def run_nodes() -> None:
        nonlocal state
        # Updates, not values: of nodes that run in parallel, one may end long before the run is cut.
        updates: dict[str, dict[str, Any] | None]
        async for updates in build_graph().astream(state, config, context=services, stream_mode="updates"):
            for update in updates.values():
                state = apply_update(state, update or {})

    with collect_cancelled_steps() as cut_steps:
        running = asyncio.ensure_future(run_nodes())
        await wait_until_done_or_cancelled(running, cancelled, services.seconds_left() + GRACE_SECONDS)
        cut = await stop_and_explain(running, cancelled)
    if state.report is not None and not cut:
        return state.report
    return _report_unfinished(apply_update(state, {"steps": cut_steps}), services, cut)


def _report_unfinished(state: BugTriageState, services: Services, cut: str) -> RunReport:
    try:
        if not state.parsed.title:  # cut before it was read
            state = state.model_copy(update={"parsed": read_issue(state.issue)})
        return build_report(state, services, cut)
    except Exception as error:  # noqa: BLE001 - a state that cannot be reported must not cost the report
        bug = f"What was found could not be put together: a bug of this action ({type(error).__name__})."
        empty = BugTriageState(issue=state.issue, repository=state.repository, steps=state.steps)
        return build_report(empty, services, cut or bug)
