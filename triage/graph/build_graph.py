"""The graph, as the picture in the README shows it."""

from collections.abc import Callable
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from triage.agents.registry import AGENTS
from triage.graph.memory_nodes import compare_past_issues, fetch_past_issues
from triage.graph.nodes import Node, finish, make_agent_node, read_and_index, supervisor
from triage.graph.triage_state import BugTriageState
from triage.ports import Services

Graph = CompiledStateGraph[BugTriageState, Services, BugTriageState, BugTriageState]


def build_graph() -> Graph:
    """Return the compiled graph; `Services` is its runtime context."""
    graph = StateGraph(BugTriageState, context_schema=Services)
    add_nodes(graph, START)
    return graph.compile()


def add_nodes(
    graph: StateGraph[BugTriageState, Any, Any, Any], start: str, wrap: Callable[[Node], Node] = lambda node: node
) -> None:
    """Add nodes and edges from the node `start` to the end. `wrap` returns what the graph runs for a node."""
    graph.add_node("prepare", wrap(read_and_index))
    graph.add_node("memory", wrap(fetch_past_issues))
    graph.add_edge(start, "prepare")
    graph.add_edge(start, "memory")  # at the same time
    graph.add_node("recall", wrap(compare_past_issues))
    graph.add_edge(["prepare", "memory"], "recall")
    graph.add_node("supervisor", wrap(supervisor))
    graph.add_edge("recall", "supervisor")
    graph.add_conditional_edges("supervisor", route_to_agents, [*AGENTS])
    graph.add_node("finish", wrap(finish))
    graph.add_edge("finish", END)
    for name in AGENTS:
        graph.add_node(str(name), wrap(make_agent_node(name)))
        if name != "writer":
            graph.add_edge(name, "supervisor")
    graph.add_conditional_edges("writer", route_after_writer, ["supervisor", "finish"])


def route_to_agents(state: BugTriageState) -> list[str]:
    """Return the agents that the supervisor chose."""
    return state.planner_decisions[-1].selected


def route_after_writer(state: BugTriageState) -> str:
    """Return `finish`, or `supervisor` when the writer's model declined."""
    return "finish" if "writer" in state.answered_in_round else "supervisor"


def compute_recursion_limit(iterations: int) -> int:
    """Return the maximum number of supersteps: two for each decision, and a reserve for the other nodes."""
    return 2 * iterations + 10
