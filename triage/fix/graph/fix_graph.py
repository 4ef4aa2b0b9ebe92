"""The graph of the fix flow, from an issue to a proposal, a person's answer, and a pull request; and one run of it.

    fetch_ticket -> classify_ticket -> identify_modules -> retrieve_context -> generate_code_changes -> generate_tests
    -> prepare_diff_summary -> human_review_gate -> apply_changes -> create_pull_request -> post_comment

The gate is an interrupt. At a terminal the same thread is resumed with the answer. In a workflow the run ends there;
the job that carries out an approval begins at the gate with the stored commits, and is resumed with the command.
"""

import asyncio
import sys
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command

from triage.base.threads import wait_until_done_or_cancelled
from triage.domain.report import RunReport
from triage.domain.run import Usage
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
from triage.fix.graph.fix_nodes import (
    classify_ticket,
    fetch_ticket,
    generate_code_changes,
    generate_tests,
    identify_modules,
    retrieve_context,
)
from triage.fix.graph.fix_state import FixContext, FixState
from triage.graph.report_notes import collect_faults
from triage.graph.run_graph import GRACE_SECONDS, stop_and_explain
from triage.ports import Services

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


AskPerson = Callable[[FixState, str], Awaitable[object]]
"""Shows a person the proposal and the question, and returns the answer."""


async def run_fix(
    state: FixState, context: FixContext, cancelled: asyncio.Event, ask_person: AskPerson | None = None
) -> FixState:
    """Run the flow to its end, or to the gate where nobody can be asked.

    With `ask_person`, the gate's interrupt is resumed with the answer.
    """
    graph = build_fix_graph(_build_checkpointer() if ask_person else None)
    logged = 0
    config: RunnableConfig = {"recursion_limit": RECURSION_LIMIT, "configurable": {"thread_id": str(uuid.uuid4())}}
    given: FixState | Command[Any] = state
    while True:
        interrupts: list[Any] = []
        current = state

        async def run_nodes() -> None:
            nonlocal current, logged
            async for values in graph.astream(given, config, context=context, stream_mode="values"):  # noqa: B023
                interrupts.extend(values.pop("__interrupt__", ()))  # noqa: B023
                current = FixState.model_validate(values)
                for message in current.messages[logged:]:
                    context.services.progress.detail(message)
                logged = len(current.messages)

        running = asyncio.ensure_future(run_nodes())
        await wait_until_done_or_cancelled(running, cancelled, context.services.seconds_left() + GRACE_SECONDS)
        if error := await stop_and_explain(running, cancelled):
            return current.model_copy(update={"error": error})
        if not interrupts or ask_person is None:
            return current
        state = current
        answer = await ask_person(current, interrupts[0].value["prompt"])
        given = Command(resume="" if answer is None else answer)  # LangGraph takes None for no answer at all


def extend_report(state: FixState, services: Services) -> RunReport | None:
    """Return the triage report with the steps of the fix flow, and what both took; None if nothing was triaged."""
    if state.report is None:
        return None
    model = services.model
    faults = [*state.report.faults, *collect_faults(state.steps)]
    return state.report.model_copy(
        update={
            "steps": [*state.report.steps, *state.steps],
            "faults": faults,
            "usage": model.usage if model else Usage(),
            "seconds": round(services.clock() - services.started, 1),
        }
    )


def _build_checkpointer() -> InMemorySaver:
    # LangGraph warns of every type in a checkpoint that is not named to it.
    rooms = ("triage.domain.", "triage.fix.")
    modules = [module for name, module in list(sys.modules.items()) if name.startswith(rooms)]
    types = [value for module in modules for value in vars(module).values() if isinstance(value, type)]
    return InMemorySaver(serde=JsonPlusSerializer(allowed_msgpack_modules=types))
