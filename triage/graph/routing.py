"""The law: which agents may run next, whoever proposes them. Pure.

Investigator first; codebase search before critic; critic before writer; the writer only after approval or when rounds,
iterations, budget or time are spent; codebase and web search side by side; no agent again on unchanged input (once a
round); web search once in a run; what is no bug goes straight to the writer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from triage.domain.findings import AgentName
from triage.domain.run import DegradationLevel, Limits, PlannerDecision, StepRecord, Usage
from triage.graph.degradation import choose_level, is_at_least
from triage.graph.triage_state import BugTriageState

MAX_ROUNDS = 3
"""The first pass, then at most two more."""


@dataclass(frozen=True)
class Bounds:
    """What the run may still do."""

    limits: Limits
    seconds_left: float
    available: frozenset[AgentName]
    """Agents that can be selected at all."""
    spent: Usage | None = None
    """By the whole run so far; none when no model is asked."""


@dataclass(frozen=True)
class Choice:
    """Agents that may run next, side by side, and why."""

    selected: tuple[AgentName, ...]
    reason: str
    forced: bool = False
    """A limit leaves this and nothing else."""


def list_choices(state: BugTriageState, bounds: Bounds) -> list[Choice]:
    """Everything that is lawful now; the fixed sequence takes the first."""
    if state.iterations + 1 >= bounds.limits.iterations:
        return [Choice(("writer",), f"iteration limit ({bounds.limits.iterations}) reached", forced=True)]
    if not _has_answered(state, "investigator"):
        return [Choice(("investigator",), "nobody has read the issue yet")]
    if state.investigation and state.investigation.kind != "bug":
        return [Choice(("writer",), f"not a bug: {state.investigation.kind.replace('_', ' ')}")]
    if not _has_answered_this_round(state, "codebase_search"):
        return _list_search_choices(state, bounds)
    if not _has_answered_this_round(state, "critic"):
        return [Choice(("critic",), "the findings have not been challenged yet")]
    reason = explain_no_round(state, bounds)
    return [Choice(("writer",), reason, forced=bool(reason) and reason == explain_spent_limit(state, bounds))]


def _list_search_choices(state: BugTriageState, bounds: Bounds) -> list[Choice]:
    first = "the code has not been searched yet"
    code = Choice(("codebase_search",), first)
    both = Choice(("codebase_search", "web_search"), "both searches need only the investigator's answer")
    web = "web_search" in bounds.available and not _has_answered(state, "web_search")
    affordable = not is_at_least(current_level(state, bounds), "no web search")
    if state.round == 1:
        if web and not affordable:
            return [Choice(code.selected, f"{first}; no web search, for the budget is low", forced=True)]
        return [both, code] if web else [code]
    again = Choice(code.selected, f"round {state.round}: the critic's gaps give new words to search for")
    reread = Choice(("investigator",), f"round {state.round}: the issue is read again with what was found")
    further = [] if _has_answered_this_round(state, "investigator") else [reread]
    return [again, *([both] if web and affordable else []), *further]


def explain_no_round(state: BugTriageState, bounds: Bounds) -> str:
    """Why the critic's word is not followed by a further round; empty when it is."""
    if state.critic_feedback is None:
        return "the critic gave no answer"
    if state.critic_feedback.verdict == "APPROVED":
        return "the critic approved"
    if state.round >= MAX_ROUNDS:
        return f"rejected, but all {MAX_ROUNDS} rounds are spent"
    if not state.gaps:
        return "rejected, but the gaps give nothing new to search for"
    return explain_spent_limit(state, bounds)


def explain_spent_limit(state: BugTriageState, bounds: Bounds) -> str:
    """What leaves no room for a further round; empty when nothing does."""
    if is_at_least(current_level(state, bounds), "no further rounds"):
        return "rejected, but the budget has no room for a further round"
    if bounds.seconds_left < 2 * bounds.limits.writer_seconds:
        return "rejected, but time is nearly up"
    return ""


def should_open_round(state: BugTriageState, bounds: Bounds) -> bool:
    """The critic rejected in this round and a further one makes sense."""
    return _has_answered_this_round(state, "critic") and not explain_no_round(state, bounds)


def current_level(state: BugTriageState, bounds: Bounds) -> DegradationLevel:
    """How far down the budget's ladder the run is."""
    if bounds.spent is None:
        return "whole"
    searches = ("codebase_search", "critic")
    rounds = [step.round for step in state.steps if step.step == "critic"]
    last = [
        _usage_without_tools(one) for one in state.steps if one.step in searches and one.round == max(rounds, default=0)
    ]
    return choose_level(bounds.spent, sum(last, Usage()), bounds.limits)


def _usage_without_tools(step: StepRecord) -> Usage:
    """What the step would have taken without looking anything up, which is done only where there is room for it."""
    calls = [call.usage for call in step.calls if call.mode != "tools"]
    return sum(calls, Usage()) if calls else step.usage


def build_decision(choice: Choice, state: BugTriageState, bounds: Bounds, now: datetime) -> PlannerDecision:
    """A choice as it is recorded."""
    return PlannerDecision(
        step=state.iterations + 1,
        selected=list(choice.selected),
        reason=choice.reason,
        timestamp=now,
        rung=current_level(state, bounds),
        forced=choice.forced,
    )


def find_choice(selected: Sequence[AgentName], options: Sequence[Choice]) -> Choice | None:
    """The choice that a proposal means, in whatever order it names the agents; none when it is against the law."""
    return next((choice for choice in options if set(choice.selected) == set(selected)), None)


def _has_answered(state: BugTriageState, agent: AgentName) -> bool:
    return agent in state.answered_in_round


def _has_answered_this_round(state: BugTriageState, agent: AgentName) -> bool:
    return state.answered_in_round.get(agent, 0) >= state.round
