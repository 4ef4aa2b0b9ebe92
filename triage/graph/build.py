"""The graph, as the picture in the README shows it."""

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from triage.agents.registry import AGENTS
from triage.graph.nodes import agent_node, finish, prepare, supervisor
from triage.graph.state import BugTriageState
from triage.ports import Services

Graph = CompiledStateGraph[BugTriageState, Services, BugTriageState, BugTriageState]


def build() -> Graph:
    """Nodes and edges."""
    graph = StateGraph(BugTriageState, context_schema=Services)
    graph.add_node("prepare", prepare)
    graph.add_node("supervisor", supervisor)
    graph.add_edge(START, "prepare")
    graph.add_edge("prepare", "supervisor")
    graph.add_conditional_edges("supervisor", selected, [*AGENTS])
    graph.add_node("finish", finish)
    graph.add_edge("finish", END)
    for name in AGENTS:
        graph.add_node(str(name), agent_node(name))
        if name != "writer":
            graph.add_edge(name, "supervisor")
    graph.add_conditional_edges("writer", written, ["supervisor", "finish"])
    return graph.compile()


def selected(state: BugTriageState) -> list[str]:
    """The agents that the last decision named, side by side."""
    return state.planner_decisions[-1].selected


def written(state: BugTriageState) -> str:
    """The finish; back to the supervisor when the writer's model declined."""
    return "finish" if "writer" in state.answered_in_round else "supervisor"


def recursion_limit(iterations: int) -> int:
    """Supersteps that a run may take: two for each decision, and some for the ends (LangGraph's default is 10,007)."""
    return 2 * iterations + 10
