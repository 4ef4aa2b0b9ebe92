"""Asks a person before a tool changes something, and then runs exactly what they saw.

The question is LangGraph's `interrupt()`, answered with `Command(resume=…)`. Without a checkpointer, as in the action,
nobody can answer, and the answer is no.
"""

from collections.abc import Sequence
from typing import Annotated, Any

from langgraph.runtime import Runtime
from langgraph.types import interrupt
from pydantic import Field

from triage.approval.tool_gate import CHECKPOINT_TYPE, review
from triage.domain.agent_input import AgentInput
from triage.domain.code import LookedUp
from triage.domain.proposal import PendingMutation, ReviewerStrategy
from triage.ports import Services
from triage.safety.secrets.likely_secrets import redact_likely_secrets

NO_CHECKPOINTER = "nobody can approve it in this run"
_Update = dict[str, Any]


def _replace(_: Any, new: Any) -> Any:
    return new


class ToolApprovalState(AgentInput):
    """What waits for a person. Agents that run at the same time may both write it; the last one counts."""

    pending_mutation: Annotated[PendingMutation | None, _replace] = None
    hitl_required: Annotated[bool, _replace] = False
    hitl_checkpoint_type: Annotated[str, _replace] = ""
    hitl_approval_id: Annotated[str | None, _replace] = None
    hitl_reviewer_id: Annotated[str | None, _replace] = None
    """Who answered, where that is known. A server only knows that they may resume the thread."""
    hitl_reviewer_strategy: Annotated[ReviewerStrategy, _replace] = Field("write")


def request_approval(pending: Sequence[PendingMutation], strategy: ReviewerStrategy = "write") -> _Update:
    """Return the state's update that makes the graph ask about the first of the calls; none without a call."""
    if not pending:
        return {}
    return {
        "pending_mutation": pending[0],
        "hitl_required": True,
        "hitl_checkpoint_type": CHECKPOINT_TYPE,
        "hitl_approval_id": pending[0].approval_id,
        "hitl_reviewer_id": None,
        "hitl_reviewer_strategy": strategy,
    }


async def approval(state: ToolApprovalState, runtime: Runtime[Services]) -> _Update:
    """Ask about the pending call, run it if it was approved, and let later prompts see the answer.

    Resumed by another process or by the same one, it starts again from the state, and the interrupt returns the answer.
    """
    pending = state.pending_mutation
    cleared: _Update = {
        "pending_mutation": None,
        "hitl_required": False,
        "hitl_checkpoint_type": "",
        "hitl_approval_id": None,
    }
    if pending is None:
        return cleared
    result = await _decide(pending, state.hitl_approval_id or "", runtime)
    call = f"{pending.name}({pending.args})"
    return cleared | {"looked_up": [*state.looked_up, LookedUp(call=call, answer=result)]}


async def _decide(pending: PendingMutation, approval_id: str, runtime: Runtime[Services]) -> str:
    if runtime.execution_info is None or runtime.execution_info.thread_id is None:
        return f"(Not run: {NO_CHECKPOINTER}.)"
    answer = interrupt(build_question(pending))
    reviewed, verdict = review(pending, answer, runtime.context.now())
    if reviewed.status == "expired":
        return "(Not run: the question was older than seven days.)"
    if reviewed.status != "approved":
        return f"(Not run: a person refused it. Their words: {verdict.feedback or 'none'})"
    for tools in (runtime.context.code_tools, runtime.context.web_tools):
        if tools is not None and any(tool.name == pending.name for tool in tools.tools):
            return (await tools.replay(reviewed, approval_id)).text
    return "(Not run: there is no such tool any more.)"


def build_question(pending: PendingMutation) -> dict[str, str]:
    """Return what a client shows to the person. Likely secrets in the arguments are masked."""
    return {
        "prompt": "An agent asks to run a tool that changes something. Answer approve, reject, or say what is wrong.",
        "checkpoint_type": CHECKPOINT_TYPE,
        "approval_id": pending.approval_id,
        "tool": pending.name,
        "arguments": redact_likely_secrets(pending.args),
        "created_at": pending.created_at.isoformat(),
    }
