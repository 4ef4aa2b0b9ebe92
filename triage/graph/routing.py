"""The supervisor: which agents run next. A fixed sequence under the law, pure.

The law: investigator first; codebase search before critic; critic before writer; the writer only after approval or
when rounds, iterations, budget or time are spent; codebase and web search side by side; no agent again on unchanged
input; web search once; what is no bug goes straight to the writer.
"""

from datetime import datetime

from triage.domain.findings import AgentName
from triage.domain.run import Limits, PlannerDecision
from triage.graph.state import BugTriageState

MAX_ROUNDS = 3
"""The first pass, then at most two more."""
WRITER_SECONDS = 20.0
"""Kept for the writer: with less than this left, no further agent starts before it."""
LAST_TOKENS = 12_000
"""Kept for the writer's three calls: with less than this left, there is no further round."""


def decide(
    state: BugTriageState, limits: Limits, seconds_left: float, available: frozenset[AgentName], now: datetime
) -> PlannerDecision:
    """The next agents and why. Nothing selected means that the run is over."""
    step = state.iterations + 1
    limit = "" if _answered(state, "writer") else _limit(state, limits, seconds_left)
    if limit:
        return PlannerDecision(step=step, selected=["writer"], reason=limit, timestamp=now, forced=True)
    selected, reason = _next(state, limits, available)
    return PlannerDecision(step=step, selected=list(selected), reason=reason, timestamp=now)


def _limit(state: BugTriageState, limits: Limits, seconds_left: float) -> str:
    if state.iterations + 1 >= limits.iterations:
        return f"iteration limit ({limits.iterations}) reached"
    if seconds_left < WRITER_SECONDS:
        return "time is nearly up"
    return ""


def _next(state: BugTriageState, limits: Limits, available: frozenset[AgentName]) -> tuple[list[AgentName], str]:
    if _answered(state, "writer"):
        return [], "the writer is done"
    if not _answered(state, "investigator"):
        return ["investigator"], "nobody has read the issue yet"
    if state.investigation and state.investigation.kind != "bug":
        return ["writer"], f"not a bug: {state.investigation.kind.replace('_', ' ')}"
    if not _answered_now(state, "codebase_search"):
        return _searches(state, available)
    if not _answered_now(state, "critic"):
        return ["critic"], "the findings have not been challenged yet"
    return _after_critic(state, limits)


def _searches(state: BugTriageState, available: frozenset[AgentName]) -> tuple[list[AgentName], str]:
    if state.round > 1:
        return ["codebase_search"], f"round {state.round}: the critic's gaps give new words to search for"
    if "web_search" in available and not _answered(state, "web_search"):
        return ["codebase_search", "web_search"], "both searches need only the investigator's answer"
    return ["codebase_search"], "the code has not been searched yet"


def _after_critic(state: BugTriageState, limits: Limits) -> tuple[list[AgentName], str]:
    if state.critic_feedback and state.critic_feedback.verdict == "APPROVED":
        return ["writer"], "the critic approved"
    return ["writer"], why_no_round(state, limits) or "the critic gave no answer"


def why_no_round(state: BugTriageState, limits: Limits) -> str:
    """Why the critic's rejection is not followed by a further round; empty when it is."""
    if state.round >= MAX_ROUNDS:
        return f"rejected, but all {MAX_ROUNDS} rounds are spent"
    if not state.gaps:
        return "rejected, but the gaps give nothing new to search for"
    if limits.tokens - state.usage.tokens < LAST_TOKENS:
        return "rejected, but the token budget is nearly spent"
    return ""


def opens_round(state: BugTriageState, limits: Limits) -> bool:
    """The critic rejected in this round and a further one makes sense."""
    rejected = state.critic_feedback is not None and state.critic_feedback.verdict == "REJECTED"
    return rejected and _answered_now(state, "critic") and not why_no_round(state, limits)


def _answered(state: BugTriageState, agent: AgentName) -> bool:
    return agent in state.answered_in_round


def _answered_now(state: BugTriageState, agent: AgentName) -> bool:
    return state.answered_in_round.get(agent, 0) >= state.round
