"""The routing rules: which agents may run next, whoever proposes them. Pure.

- The investigator runs first, codebase search before the critic, the critic before the writer.
- The writer runs when the critic approves, or when rounds, iterations, budget or time are spent.
- Codebase search and web search run in parallel; web search runs once.
- No agent runs twice in a round.
- What is no bug goes straight to the writer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import get_args

from triage.domain.findings import AgentName
from triage.domain.run import DegradationLevel, Limits, PlannerDecision, StepRecord, Usage
from triage.graph.triage_state import BugTriageState

MAX_ROUNDS = 3
LEVELS: tuple[DegradationLevel, ...] = get_args(DegradationLevel)
NO_WEB_SHARE, FAST_MODEL_SHARE, RULES_SHARE = 0.30, 0.20, 0.05
"""When less than this share of tokens or dollars is left, web search, the main model, or all models go.

With the default caps the writer's three calls take 12 to 18 percent, and a web search 5 percent (measured). So the
writer keeps the main model unless the searches were expensive.
"""


@dataclass(frozen=True)
class RemainingBudget:
    limits: Limits
    seconds_left: float
    available: frozenset[AgentName]
    """Agents that have what they need."""
    spent: Usage | None = None
    """By the run so far; None when no model is asked."""


@dataclass(frozen=True)
class Choice:
    """Agents that may run next, in parallel, and why."""

    selected: tuple[AgentName, ...]
    reason: str
    forced: bool = False
    """A limit allows nothing else."""


def list_choices(state: BugTriageState, bounds: RemainingBudget) -> list[Choice]:
    """Return everything that may run now; rules take the first."""
    if state.iterations + 1 >= bounds.limits.iterations:
        return [Choice(("writer",), f"iteration limit ({bounds.limits.iterations}) reached", forced=True)]
    if "investigator" not in state.answered_in_round:
        return [Choice(("investigator",), "nobody has read the issue yet")]
    if state.investigation and state.investigation.kind != "bug":
        return [Choice(("writer",), f"not a bug: {state.investigation.kind.replace('_', ' ')}")]
    if not _has_answered_this_round(state, "codebase_search"):
        return _list_search_choices(state, bounds)
    if not _has_answered_this_round(state, "critic"):
        return [Choice(("critic",), "the findings have not been challenged yet")]
    reason = explain_no_round(state, bounds)
    return [Choice(("writer",), reason, forced=bool(reason) and reason == _explain_spent_limit(state, bounds))]


def _list_search_choices(state: BugTriageState, bounds: RemainingBudget) -> list[Choice]:
    not_searched = "the code has not been searched yet"
    code = Choice(("codebase_search",), not_searched)
    both = Choice(("codebase_search", "web_search"), "both searches need only the investigator's answer")
    web = "web_search" in bounds.available and "web_search" not in state.answered_in_round
    affordable = not has_given_up(current_level(state, bounds), "no web search")
    if state.round == 1:
        if web and not affordable:
            return [Choice(code.selected, f"{not_searched}; no web search, for the budget is low", forced=True)]
        return [both, code] if web else [code]
    again = Choice(code.selected, f"round {state.round}: the critic's gaps give new words to search for")
    reread = Choice(("investigator",), f"round {state.round}: the issue is read again with what was found")
    further = [] if _has_answered_this_round(state, "investigator") else [reread]
    return [again, *([both] if web and affordable else []), *further]


def explain_no_round(state: BugTriageState, bounds: RemainingBudget) -> str:
    """Return why no further round follows the critic's answer; empty when one does."""
    if state.critic_feedback is None:
        return "the critic gave no answer"
    if state.critic_feedback.verdict == "APPROVED":
        return "the critic approved"
    if state.round >= MAX_ROUNDS:
        return f"rejected, but all {MAX_ROUNDS} rounds are spent"
    if not state.gaps:
        return "rejected, but the gaps give nothing new to search for"
    return _explain_spent_limit(state, bounds)


def _explain_spent_limit(state: BugTriageState, bounds: RemainingBudget) -> str:
    if has_given_up(current_level(state, bounds), "no further rounds"):
        return "rejected, but the budget has no room for a further round"
    if bounds.seconds_left < 2 * bounds.limits.writer_seconds:
        return "rejected, but time is nearly up"
    return ""


def should_open_round(state: BugTriageState, bounds: RemainingBudget) -> bool:
    """Whether the critic rejected what this round found, and a further round makes sense."""
    return _has_answered_this_round(state, "critic") and not explain_no_round(state, bounds)


def current_level(state: BugTriageState, bounds: RemainingBudget) -> DegradationLevel:
    """Return the degradation level of the run; `whole` when no model is asked."""
    if bounds.spent is None:
        return "whole"
    last = max((step.round for step in state.steps if step.step == "critic"), default=0)
    steps = [step for step in state.steps if step.step in ("codebase_search", "critic") and step.round == last]
    return choose_level(bounds.spent, sum(map(_usage_without_tools, steps), Usage()), bounds.limits)


def _usage_without_tools(step: StepRecord) -> Usage:
    calls = [call.usage for call in step.calls if call.mode != "tools"]  # looking up is left out when the budget is low
    return sum(calls, Usage()) if calls else step.usage


def compute_share_left(spent: Usage, limits: Limits) -> float:
    """Return the share of tokens or dollars that is left, whichever is less, from 0 to 1."""
    shares = [1 - spent.tokens / limits.tokens if limits.tokens else 0.0]
    shares.append(1 - spent.priced_usd / limits.usd if limits.usd else 0.0)
    return max(0.0, min(shares))


def choose_level(spent: Usage, last_round: Usage, limits: Limits) -> DegradationLevel:
    """Return the degradation level of a run.

    The next round takes about as much as the searches and the critic of the last one, and must leave enough for the
    writer on the main model.
    """
    left = compute_share_left(spent, limits)
    if left < RULES_SHARE:
        return "rules"
    if left < FAST_MODEL_SHARE:
        return "fast model"
    if left < NO_WEB_SHARE:
        return "no web search"
    round_share = 1 - compute_share_left(last_round, limits)
    return "no further rounds" if left - round_share < FAST_MODEL_SHARE else "whole"


def has_given_up(current: DegradationLevel, level: DegradationLevel) -> bool:
    """Whether a run at the current level has given up what goes at `level`."""
    return LEVELS.index(current) >= LEVELS.index(level)


def build_decision(choice: Choice, state: BugTriageState, bounds: RemainingBudget, now: datetime) -> PlannerDecision:
    return PlannerDecision(
        step=state.iterations + 1,
        selected=list(choice.selected),
        reason=choice.reason,
        timestamp=now,
        rung=current_level(state, bounds),
        forced=choice.forced,
    )


def find_choice(selected: Sequence[AgentName], choices: Sequence[Choice]) -> Choice | None:
    """Return the choice of these agents, in any order; None when they may not run now."""
    return next((choice for choice in choices if set(choice.selected) == set(selected)), None)


def _has_answered_this_round(state: BugTriageState, agent: AgentName) -> bool:
    return state.answered_in_round.get(agent, 0) >= state.round
