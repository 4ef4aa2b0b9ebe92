"""The graph of the fix flow, from an issue (its ticket) to a patch and the branch that a person approved; and one run.

    fetch_ticket -> classify_ticket -> identify_modules -> retrieve_context -> generate_code_changes -> generate_tests
    -> prepare_diff_summary -> human_review_gate -> apply_changes

`human_review_gate` is an interrupt: the same thread is resumed with the decision. In a workflow the run ends there: the
job `store_fix` stores the patch, and `apply_fix` carries out what a person decides in a comment.
"""

import asyncio
import sys
import uuid
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, Protocol

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command, interrupt

from triage.agents.services import Services
from triage.base.errors import TriageError
from triage.base.text import quote_value
from triage.base.threads import in_thread
from triage.domain.proposal import MAX_REVISIONS, ProposalStatus
from triage.domain.report import RunReport
from triage.domain.run import Usage
from triage.fix.check_command import Decision, PersonDecision, parse_decision
from triage.fix.graph.fix_nodes import (
    Update,
    classify_ticket,
    fetch_ticket,
    generate_code_changes,
    generate_tests,
    identify_modules,
    make_patch,
    retrieve_context,
)
from triage.fix.graph.fix_state import FixContext, FixState
from triage.fix.patch.unified_diff import format_diff
from triage.fix.proposal_text import render_patch
from triage.graph.run_graph import run_in_time
from triage.safety.secrets.likely_secrets import redact_likely_secrets

FixGraph = CompiledStateGraph[FixState, FixContext, Any, FixState]


class FixNode(Protocol):
    def __call__(self, state: FixState, runtime: Runtime[FixContext]) -> Awaitable[Update]: ...


MAX_CHECK_FAILURES = 2
"""Times that the project's own check sends the change back."""
STOP_SENDING_BACK = MAX_CHECK_FAILURES + 1


async def prepare_diff_summary(state: FixState, runtime: Runtime[FixContext]) -> Update:
    """Put the patch together, run the project's check if there is one, and describe it as the person reads it."""
    context = runtime.context
    patch = make_patch(state, context.base_files)
    update: Update = {}
    if context.check is not None:
        try:
            verdict = await in_thread(context.check, patch)
        except TriageError as error:
            return {"error": f"The check could not be run: {error}"}
        patch = patch.model_copy(update={"checked": verdict.text})
        # It passed, or the cause need not be the patch: to send that back would cost requests for nothing.
        times = state.failed_checks + 1 if verdict.may_be_fixed else STOP_SENDING_BACK
        update = {"check_output": redact_likely_secrets(verdict.output), "failed_checks": times}
    diff = await in_thread(format_diff, patch, context.base_files)
    summary = await in_thread(render_patch, patch, context.base_files)
    update |= {
        "patch": patch,
        "diff": diff,
        "diff_summary": summary,
        "messages": [f"Proposal of {len(patch.files)} files."],
    }
    if _must_change_again(state.model_copy(update=update)):
        return update
    pending = await in_thread(context.branch.make_commits, patch) if context.branch else None
    return update | {"status": ProposalStatus.AWAITING, "pending_mutation": pending}


def route_after_summary(state: FixState) -> str:
    """Return `human_review_gate`, or the change again while the project's check fails."""
    if state.error:
        return "handle_error"
    return "generate_code_changes" if _must_change_again(state) else "human_review_gate"


def _must_change_again(state: FixState) -> bool:
    return bool(state.check_output) and state.failed_checks <= MAX_CHECK_FAILURES


async def human_review_gate(state: FixState, runtime: Runtime[FixContext]) -> Update:
    """Wait for a person. Nothing is carried out but what passes here.

    Whoever resumes this thread begins this node again: it does nothing before it has the decision.
    """
    made = _wait_for_decision(state)
    if made.decision is Decision.REVISE:
        return {"human_approved": None, "human_feedback": [*state.human_feedback, made.words]}
    if made.decision is Decision.REJECT:
        return {"human_approved": False, "rejection_reason": made.words}
    return {"human_approved": True, "status": ProposalStatus.APPROVED, "messages": ["Approved."]}


def _wait_for_decision(state: FixState) -> PersonDecision:
    """Return a decision that can be carried out: after anything else the person is asked again, which costs nothing."""
    pending, left = state.pending_mutation, MAX_REVISIONS - state.iteration_count
    problem, prompt = "", "Answer approve, reject: why, or revise: what to change"
    prompt += " (for the last time)." if left == 1 else "."
    if left <= 0:
        prompt = f"Answer approve, or reject: why. It was revised {MAX_REVISIONS} times, which is the limit."
    while True:
        question = {
            "prompt": problem + prompt,
            "diff_summary": state.diff_summary,
            "diff": state.diff,
            "checks": {"checked": state.patch.checked if state.patch else "", "output": state.check_output},
            "ticket_key": state.ticket_key,
            "pending_mutation": pending.model_dump() if pending else None,
        }
        made = parse_decision(interrupt(question))
        if made.decision is Decision.UNCLEAR:
            problem = f"{quote_value(made.words)} is none of the answers. "
        elif made.decision is Decision.REVISE and left <= 0:
            problem = "No further revision is possible. "
        else:
            return made


def route_after_review(state: FixState) -> str:
    if state.error:
        return "handle_error"
    if state.human_approved is None:
        return "regenerate_with_feedback"
    return "apply_changes" if state.human_approved else "abort"


async def regenerate_with_feedback(state: FixState, runtime: Runtime[FixContext]) -> Update:
    """Count the revision. What the person said is in the next prompt."""
    return {
        "iteration_count": state.iteration_count + 1,
        "pending_mutation": None,
        "check_output": "",
        "failed_checks": 0,
        "messages": [f"Revision {state.iteration_count + 1} of {MAX_REVISIONS}."],
    }


async def abort(state: FixState, runtime: Runtime[FixContext]) -> Update:
    return {"status": ProposalStatus.REJECTED, "messages": ["Rejected."]}


async def apply_changes(state: FixState, runtime: Runtime[FixContext]) -> Update:
    pending, branch = state.pending_mutation, runtime.context.branch
    if pending is None or branch is None or not state.human_approved:
        raise AssertionError("nobody approved it")
    await in_thread(branch.create, pending)
    return {"branch_name": pending.branch, "messages": [f"Branch {pending.branch} at commit {pending.commit}."]}


async def handle_error(state: FixState, runtime: Runtime[FixContext]) -> Update:
    """The end of a flow without a proposal, or of an approval that was not carried out. The error says why."""
    if state.pending_mutation:  # the proposal is still there
        return {"status": ProposalStatus.AWAITING, "messages": ["Not carried out."]}
    return {"status": ProposalStatus.NONE, "messages": ["No proposal."]}


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
    abort,
    handle_error,
)
RECURSION_LIMIT = 100
"""Four versions, each changed twice more by a check, take 50 supersteps."""


def build_fix_graph(
    checkpointer: "BaseCheckpointSaver[str] | None" = None,
    wrap: Callable[[FixNode], FixNode] | None = None,
    input_schema: type[Any] | None = None,
) -> FixGraph:
    """Return the compiled graph. It needs a checkpointer where somebody answers; else `human_review_gate` is the end.

    On a server, `wrap` returns a node that brings its own context, and `input_schema` is what a run may begin with.
    """
    # A server would make the context of what a client sends.
    context_schema = None if wrap else FixContext
    graph: StateGraph[FixState, FixContext, Any, FixState] = StateGraph(
        FixState, context_schema=context_schema, input_schema=input_schema
    )
    for node in NODES:
        graph.add_node(node.__name__, wrap(_keep_error(node)) if wrap else _keep_error(node))
    graph.add_edge(START, "fetch_ticket")
    for name, following in (
        ("fetch_ticket", "classify_ticket"),
        ("classify_ticket", "identify_modules"),
        ("identify_modules", "retrieve_context"),
        ("retrieve_context", "generate_code_changes"),
        ("generate_code_changes", "generate_tests"),
        ("generate_tests", "prepare_diff_summary"),
        ("regenerate_with_feedback", "generate_code_changes"),
    ):
        graph.add_conditional_edges(name, route_unless_error(following), [following, "handle_error"])
    after_summary = ["generate_code_changes", "human_review_gate", "handle_error"]
    graph.add_conditional_edges("prepare_diff_summary", route_after_summary, after_summary)
    after_review = ["apply_changes", "regenerate_with_feedback", "abort", "handle_error"]
    graph.add_conditional_edges("human_review_gate", route_after_review, after_review)
    graph.add_conditional_edges("apply_changes", route_unless_error(END), [END, "handle_error"])
    for name in ("abort", "handle_error"):
        graph.add_edge(name, END)
    return graph.compile(checkpointer=checkpointer)


def _keep_error(node: FixNode) -> FixNode:
    """Return the node with what it raises for a person as its `error`, which leads to `handle_error`."""

    @wraps(node)
    async def run(state: FixState, runtime: Runtime[FixContext]) -> Update:
        try:
            return await node(state, runtime)
        except TriageError as error:
            return {"error": str(error)}

    return run


def route_unless_error(following: str) -> Callable[[FixState], str]:
    def route(state: FixState) -> str:
        return "handle_error" if state.error else following

    return route


AskPerson = Callable[[FixState, str], Awaitable[object]]
"""Shows a person the proposal and the question, and returns the answer."""


async def run_fix(
    state: FixState, context: FixContext, cancelled: asyncio.Event, ask_person: AskPerson | None = None
) -> FixState:
    """Run the flow to its end, or to `human_review_gate` where nobody can be asked.

    With `ask_person`, its interrupt is resumed with the answer.
    """
    graph = build_fix_graph(build_checkpointer() if ask_person else None)
    logged = 0
    config: RunnableConfig = {"recursion_limit": RECURSION_LIMIT, "configurable": {"thread_id": str(uuid.uuid4())}}
    given: FixState | Command[Any] = state
    while True:
        interrupts: list[Any] = []
        current = state

        async def run_nodes() -> None:
            nonlocal current, logged
            async for values in graph.astream(given, config, context=context, stream_mode="values"):  # noqa: B023
                interrupts.extend(values.pop("__interrupt__", ()))  # noqa: B023 -- beside the whole state
                current = FixState.model_validate(values)
                for message in current.messages[logged:]:
                    context.services.progress.detail(message)
                logged = len(current.messages)

        if error := await run_in_time(run_nodes(), cancelled, context.services.seconds_left()):
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
    return state.report.model_copy(
        update={
            "steps": [*state.report.steps, *state.steps],
            "usage": model.usage if model else Usage(),
            "seconds": round(services.clock() - services.started, 1),
        }
    )


def build_checkpointer() -> InMemorySaver:
    """Return a store of threads for this process."""
    # LangGraph warns of every type in a checkpoint that is not named to it.
    rooms = ("triage.domain.", "triage.fix.")
    modules = [module for name, module in list(sys.modules.items()) if name.startswith(rooms)]
    types = [value for module in modules for value in vars(module).values() if isinstance(value, type)]
    return InMemorySaver(serde=JsonPlusSerializer(allowed_msgpack_modules=types))
