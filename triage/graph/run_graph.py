"""Builds the graph and runs it once. Whatever happens, a report comes back."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import cache
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphRecursionError
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from triage.agents.services import Services
from triage.base.threads import wait_until_done_or_cancelled
from triage.domain.issue import Issue, Repository
from triage.domain.report import RunReport
from triage.graph.build_report import build_report
from triage.graph.capabilities import AGENTS
from triage.graph.nodes import (
    Node,
    compare_past_issues,
    fetch_past_issues,
    finish,
    make_agent_node,
    read_and_index,
    supervisor,
)
from triage.graph.triage_state import BugTriageState, apply_update
from triage.read.read_issue import read_issue

GRACE_SECONDS = 5.0
"""Beyond the run's time. The nodes watch the clock themselves, and rules need milliseconds."""


async def run_graph(issue: Issue, repository: Repository, services: Services, cancelled: asyncio.Event) -> RunReport:
    """Triage one issue. A run that is cancelled, runs out of time or fails reports what it knows by then."""
    state = BugTriageState(issue=issue, repository=repository)
    config: RunnableConfig = {"recursion_limit": compute_recursion_limit(services.limits.iterations)}

    async def run_nodes() -> None:
        nonlocal state
        # Updates, not values: of nodes that run in parallel, one may end long before the run does.
        updates: dict[str, dict[str, Any] | None]
        async for updates in _compile_graph().astream(state, config, context=services, stream_mode="updates"):
            for update in updates.values():
                state = apply_update(state, update or {})

    ended_early = await run_in_time(run_nodes(), cancelled, services.seconds_left())
    if state.report is not None and not ended_early:
        return state.report
    if not state.parsed.title:  # it ended before that was read
        state = state.model_copy(update={"parsed": read_issue(issue)})
    steps = {"steps": services.unfinished_steps}
    try:
        return build_report(apply_update(state, steps), services, ended_early)
    except Exception as error:  # noqa: BLE001 - a state that cannot be reported must not cost the report
        bug = f"What was found could not be put together, by a bug of this action ({type(error).__name__})."
        empty = BugTriageState(issue=issue, repository=repository)
        return build_report(apply_update(empty, steps), services, ended_early or bug)


async def run_in_time(nodes: Coroutine[Any, Any, None], cancelled: asyncio.Event, seconds: float) -> str:
    """Run the nodes of a graph. Return why they ended early; empty when they did not."""
    running = asyncio.ensure_future(nodes)
    await wait_until_done_or_cancelled(running, cancelled, seconds + GRACE_SECONDS)
    if not running.done():
        running.cancel()
        await asyncio.wait({running}, timeout=1.0)
        return "The run was cancelled." if cancelled.is_set() else "The run ended early: its time was up."
    try:
        running.result()
    except GraphRecursionError:
        return "The run ended early: too many steps."
    except Exception as error:  # noqa: BLE001 - a bug between the nodes, which no wrapper catches, must not cost what was learned
        return f"The run ended early, by a bug of this action ({type(error).__name__})."
    return ""


@cache
def _compile_graph() -> CompiledStateGraph[BugTriageState, Services, BugTriageState, BugTriageState]:
    # One for all issues of a process: compiling takes as long as a small run by rules.
    graph = StateGraph(BugTriageState, context_schema=Services)
    add_nodes(graph)
    return graph.compile()


def add_nodes(
    graph: StateGraph[BugTriageState, Any, Any, Any], wrap: Callable[[Node], Node] = lambda node: node
) -> None:
    """Add all nodes and edges. `wrap` returns what the graph runs for a node."""
    graph.add_node("read_and_index", wrap(read_and_index))
    graph.add_node("fetch_past_issues", wrap(fetch_past_issues))
    graph.add_edge(START, "read_and_index")
    graph.add_edge(START, "fetch_past_issues")  # at the same time
    graph.add_node("compare_past_issues", wrap(compare_past_issues))
    graph.add_edge(["read_and_index", "fetch_past_issues"], "compare_past_issues")
    graph.add_node("supervisor", wrap(supervisor))
    graph.add_edge("compare_past_issues", "supervisor")
    graph.add_conditional_edges("supervisor", lambda state: list(state.planner_decisions[-1].selected), [*AGENTS])
    graph.add_node("finish", wrap(finish))
    graph.add_edge("finish", END)
    for name in AGENTS:
        graph.add_node(str(name), wrap(make_agent_node(name)))
        if name != "writer":
            graph.add_edge(name, "supervisor")
    graph.add_edge("writer", "finish")


SUPERSTEPS_AROUND = 4
"""Before and after the decisions: read, compare, finish, and the one in which LangGraph sees the end (measured)."""


def compute_recursion_limit(iterations: int) -> int:
    """Return how many supersteps a run takes at most: two for each decision, the supervisor's and its agents'."""
    return 2 * iterations + SUPERSTEPS_AROUND
