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
LAST_TOKENS = 12_000
"""Kept for the writer's three calls: with less than this left, there is no further round."""
LAST_SHARE = 0.15
"""Of the dollars, kept in the same way."""


def decide(
    state: BugTriageState, limits: Limits, seconds_left: float, available: frozenset[AgentName], now: datetime
) -> PlannerDecision:
    """The next agents and why."""
    step = state.iterations + 1
    if step >= limits.iterations:
        reason = f"iteration limit ({limits.iterations}) reached"
        return PlannerDecision(step=step, selected=["writer"], reason=reason, timestamp=now, forced=True)
    selected, reason = _next(state, limits, seconds_left, available)
    spent = reason if selected == ["writer"] and reason == nearly_spent(state, limits, seconds_left) else ""
    return PlannerDecision(step=step, selected=list(selected), reason=reason, timestamp=now, forced=bool(spent))


def _next(
    state: BugTriageState, limits: Limits, seconds_left: float, available: frozenset[AgentName]
) -> tuple[list[AgentName], str]:
    if not _answered(state, "investigator"):
        return ["investigator"], "nobody has read the issue yet"
    if state.investigation and state.investigation.kind != "bug":
        return ["writer"], f"not a bug: {state.investigation.kind.replace('_', ' ')}"
    if not _answered_now(state, "codebase_search"):
        return _searches(state, available)
    if not _answered_now(state, "critic"):
        return ["critic"], "the findings have not been challenged yet"
    return ["writer"], why_no_round(state, limits, seconds_left)


def _searches(state: BugTriageState, available: frozenset[AgentName]) -> tuple[list[AgentName], str]:
    if state.round > 1:
        return ["codebase_search"], f"round {state.round}: the critic's gaps give new words to search for"
    if "web_search" in available and not _answered(state, "web_search"):
        return ["codebase_search", "web_search"], "both searches need only the investigator's answer"
    return ["codebase_search"], "the code has not been searched yet"


def why_no_round(state: BugTriageState, limits: Limits, seconds_left: float) -> str:
    """Why the critic's word is not followed by a further round; empty when it is."""
    if state.critic_feedback is None:
        return "the critic gave no answer"
    if state.critic_feedback.verdict == "APPROVED":
        return "the critic approved"
    if state.round >= MAX_ROUNDS:
        return f"rejected, but all {MAX_ROUNDS} rounds are spent"
    if not state.gaps:
        return "rejected, but the gaps give nothing new to search for"
    return nearly_spent(state, limits, seconds_left)


def nearly_spent(state: BugTriageState, limits: Limits, seconds_left: float) -> str:
    """Which cap leaves room for the writer only; empty when none does."""
    if limits.tokens - state.usage.tokens < LAST_TOKENS:
        return "rejected, but the token budget is nearly spent"
    if state.usage.usd is not None and limits.usd - state.usage.usd < limits.usd * LAST_SHARE:
        return "rejected, but the dollar budget is nearly spent"
    if seconds_left < 2 * limits.writer_seconds:
        return "rejected, but time is nearly up"
    return ""


def opens_round(state: BugTriageState, limits: Limits, seconds_left: float) -> bool:
    """The critic rejected in this round and a further one makes sense."""
    return _answered_now(state, "critic") and not why_no_round(state, limits, seconds_left)


def _answered(state: BugTriageState, agent: AgentName) -> bool:
    return agent in state.answered_in_round


def _answered_now(state: BugTriageState, agent: AgentName) -> bool:
    return state.answered_in_round.get(agent, 0) >= state.round
