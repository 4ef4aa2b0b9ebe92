"""The graph of the fix flow: from an issue to a proposal, a person's answer, and a pull request.

    fetch_ticket -> classify_ticket -> identify_modules -> retrieve_context -> generate_code_changes -> generate_tests
    -> prepare_diff_summary -> human_review_gate -> apply_changes -> create_pull_request -> post_comment

The gate is an interrupt. At a terminal the same thread is resumed with the answer. In a workflow the run ends there;
the job that carries out an approval begins at the gate with the stored commits, and is resumed with the command.
"""

from collections.abc import Callable

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from triage.fix.graph.fix_context import FixContext
from triage.fix.graph.fix_gate import (
    abort,
    apply_changes,
    create_pull_request,
    handle_error,
    human_review_gate,
    post_comment,
    prepare_diff_summary,
    regenerate_with_feedback,
    route_after_gate,
    route_after_summary,
)
from triage.fix.graph.fix_generation import generate_code_changes, generate_tests
from triage.fix.graph.fix_nodes import classify_ticket, fetch_ticket, identify_modules, retrieve_context
from triage.fix.graph.fix_state import FixState

FixGraph = CompiledStateGraph[FixState, FixContext, FixState, FixState]

NODES = (
    fetch_ticket,
    classify_ticket,
    identify_modules,
    retrieve_context,
    generate_code_changes,
    generate_tests,
    prepare_diff_summary,
    human_review_gate,
    regenerate_with_feedback,
    apply_changes,
    create_pull_request,
    post_comment,
    abort,
    handle_error,
)
RECURSION_LIMIT = 100
"""Four versions, each changed twice more by a check, take 50 supersteps."""


def build_fix_graph(checkpointer: "BaseCheckpointSaver[str] | None" = None) -> FixGraph:
    """Return the compiled graph. It needs a checkpointer where somebody answers: without one, the gate is the end."""
    graph = StateGraph(FixState, context_schema=FixContext)
    for node in NODES:
        graph.add_node(node.__name__, node)
    graph.add_conditional_edges(START, route_start, ["fetch_ticket", "human_review_gate"])
    for name, following in (
        ("fetch_ticket", "classify_ticket"),
        ("identify_modules", "retrieve_context"),
        ("generate_code_changes", "generate_tests"),
        ("apply_changes", "create_pull_request"),
        ("create_pull_request", "post_comment"),
    ):
        graph.add_conditional_edges(name, route_unless_error(following), [following, "handle_error"])
    for name, following in (
        ("classify_ticket", "identify_modules"),
        ("retrieve_context", "generate_code_changes"),
        ("generate_tests", "prepare_diff_summary"),
        ("regenerate_with_feedback", "generate_code_changes"),
    ):
        graph.add_edge(name, following)
    graph.add_conditional_edges(
        "prepare_diff_summary", route_after_summary, ["generate_code_changes", "human_review_gate", "handle_error"]
    )
    graph.add_conditional_edges(
        "human_review_gate",
        route_after_gate,
        ["apply_changes", "regenerate_with_feedback", "abort", "handle_error"],
    )
    for name in ("post_comment", "abort", "handle_error"):
        graph.add_edge(name, END)
    return graph.compile(checkpointer=checkpointer)


def route_start(state: FixState) -> str:
    return "human_review_gate" if state.pending_mutation else "fetch_ticket"


def route_unless_error(following: str) -> Callable[[FixState], str]:
    def route(state: FixState) -> str:
        return "handle_error" if state.error else following

    return route
