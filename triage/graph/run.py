"""Runs the graph once. Whatever happens, a report comes back."""

import asyncio
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphRecursionError

from triage.domain.issue import Issue, Repository
from triage.domain.report import RunReport
from triage.graph.build import build, recursion_limit
from triage.graph.finish import assemble
from triage.graph.state import BugTriageState
from triage.ports import Services
from triage.reading.read import read

GRACE_SECONDS = 5.0
"""Beyond the run's time: the nodes watch the clock themselves, and the twins need milliseconds."""


async def triage(issue: Issue, repository: Repository, services: Services, cancelled: asyncio.Event) -> RunReport:
    """Work on one issue.

    Args:
        issue: The issue with its thread.
        repository: Where it belongs; the commit is filled in by the index.
        services: Everything that acts.
        cancelled: Set it to end the run early, with a report of what is known by then.
    """
    last = BugTriageState(
        issue_number=issue.number,
        issue_title=issue.title,
        issue_body=issue.body,
        issue_url=issue.url,
        issue_author=issue.author,
        labels=issue.labels,
        human_exchanges=[said for said in issue.thread if not said.ours],
        repository=repository,
    )
    config: RunnableConfig = {"recursion_limit": recursion_limit(services.limits.iterations)}
    graph = build()

    ended: list[dict[str, Any]] = []  # updates of nodes whose neighbours in the superstep still run

    async def follow() -> None:
        nonlocal last
        told: Any
        async for kind, told in graph.astream(last, config, context=services, stream_mode=["values", "updates"]):
            if kind == "values":
                last = BugTriageState.model_validate(told)
                ended.clear()
            else:
                ended.extend(update for update in told.values() if update)

    interrupted = await _until_done(follow, cancelled, services.seconds_left() + GRACE_SECONDS)
    if last.report is not None and not interrupted:
        return last.report
    last = absorbed(last, ended)
    if not last.reading.title:  # cut before it was read
        last = last.model_copy(update={"reading": read(issue)})
    return assemble(last, services, interrupted)


def absorbed(state: BugTriageState, updates: list[dict[str, Any]]) -> BugTriageState:
    """The state with the updates of nodes that ended before the run was cut, reduced as the graph would."""
    for update in updates:
        merged = dict(update)
        for channel in ("findings", "steps", "by_rules", "planner_decisions"):
            if channel in update:
                merged[channel] = [*getattr(state, channel), *update[channel]]
        if "answered_in_round" in update:
            merged["answered_in_round"] = {**state.answered_in_round, **update["answered_in_round"]}
        state = state.model_copy(update=merged)
    return state


async def _until_done(follow: Any, cancelled: asyncio.Event, seconds: float) -> str:
    """Why the run was cut; empty when it ended by itself."""
    running = asyncio.ensure_future(follow())
    stopping = asyncio.ensure_future(cancelled.wait())
    await asyncio.wait({running, stopping}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    if running.done():
        try:
            running.result()
        except GraphRecursionError:
            return "The run was cut: too many steps."
        except Exception as error:  # noqa: BLE001 - a bug between the nodes, where no wrapper reaches, must not cost the report
            return f"The run was cut by a bug of this action ({type(error).__name__})."
        return ""
    running.cancel()
    await asyncio.wait({running}, timeout=1.0)
    return "The run was cancelled." if cancelled.is_set() else "The run was cut: its time was up."
