"""The routing rules: what is left of a run's budget, and which agents run next. Pure.

- The investigator runs first, codebase search before the critic, the critic before the writer.
- The writer runs when the critic approves, or when rounds, iterations, budget or time are spent.
- Codebase search and web search run in parallel. Web search runs again only for what the critic misses outside.
- No agent runs twice in a round.
- A round is opened only for gaps that somebody can close: new terms for the code, or a query for the web.
- A feature request is searched for in the code and not challenged. What rules call a question is not searched for,
  unless a model may find its answer in the documentation.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from triage.domain.findings import AgentName, Kind
from triage.domain.run import DegradationLevel, Limits, StepRecord, Usage
from triage.graph.triage_state import BugTriageState
from triage.ports import ISSUE_SEARCH, Services

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
    share_left: float = 1.0
    """Of tokens or dollars, whichever is less, from 0 to 1. All of it when no model is asked."""
    level: DegradationLevel = "whole"
    asks_model: bool = False

    def has_given_up(self, level: DegradationLevel) -> bool:
        """Return whether the run has given up what goes at this level."""
        return LEVELS.index(self.level) >= LEVELS.index(level)


def measure_budget(
    limits: Limits, seconds_left: float, spent: Usage | None, steps: Sequence[StepRecord]
) -> RemainingBudget:
    """Return what is left after these steps. `spent` is None when no model is asked."""
    if spent is None:
        return RemainingBudget(limits, seconds_left)
    last = max((step.round for step in steps if step.step == "critic"), default=0)
    last_round = [step for step in steps if step.step in ("codebase_search", "critic") and step.round == last]
    level = choose_level(spent, sum(map(_usage_without_tools, last_round), Usage()), limits)
    return RemainingBudget(limits, seconds_left, compute_share_left(spent, limits), level, asks_model=level != "rules")


def _usage_without_tools(step: StepRecord) -> Usage:
    # Looking up is left out when the budget is low. The last call answers, in whatever mode.
    calls = [call.usage for call in step.calls[:-1] if call.mode != "tools"]
    return sum([*calls, step.calls[-1].usage], Usage()) if step.calls else step.usage


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


MAX_ROUNDS = 3


def is_searched(kind: Kind | None) -> bool:
    """Return whether the code is searched for an issue of this kind."""
    return kind not in ("question", "not_actionable")


@dataclass(frozen=True)
class Choice:
    """Agents that may run next, in parallel, and why."""

    selected: tuple[AgentName, ...]
    reason: str
    forced: bool = False
    """A limit allows nothing else."""


def choose_next(state: BugTriageState, budget: RemainingBudget, *, has_web_search: bool) -> Choice:
    """Return which agents run next."""
    if state.iterations + 1 >= budget.limits.iterations:
        return _write(f"iteration limit ({budget.limits.iterations}) reached", forced=True)
    if "investigator" not in state.answered_in_round:
        return Choice(("investigator",), "nobody has read the issue yet")
    name = (state.kind or "").replace("_", " ")
    if _may_be_documented(state, budget):
        return Choice(("codebase_search",), "question: does the documentation answer it?")
    if not is_searched(state.kind_by_rules):
        return _write(f"not a bug: {name}")
    if not state.may_be_bug:
        if "codebase_search" in state.answered_in_round:
            return _write(f"{name}: there is no cause to challenge")
        return Choice(("codebase_search",), f"{name}: where would it go?")
    if _has_answered_this_round(state, "critic"):
        return end_rounds(state, budget, has_web_search=has_web_search) or _write("the critic has answered")
    if not _has_searched(state, has_web_search=has_web_search):
        return _choose_search(state, budget, has_web_search=has_web_search)
    if has_web_search and state.has_declined("web_search") and "web_search" not in state.answered_in_round:
        return Choice(("web_search",), "the model declined the web search: rules search")
    return Choice(("critic",), "the findings have not been challenged yet")


def _may_be_documented(state: BugTriageState, budget: RemainingBudget) -> bool:
    """Return whether a model may find the answer to a question; by rules no section is sure enough."""
    is_open = state.kind == "question" and "codebase_search" not in state.answered_in_round
    return is_open and budget.asks_model and bool(state.documentation)


def _has_searched(state: BugTriageState, *, has_web_search: bool) -> bool:
    """Return whether this round's search has answered. A round that only the web can help leaves out the code."""
    if state.round > 1 and not state.search_terms and state.web_queries and has_web_search:
        return _has_answered_this_round(state, "web_search")
    return _has_answered_this_round(state, "codebase_search")


def _choose_search(state: BugTriageState, budget: RemainingBudget, *, has_web_search: bool) -> Choice:
    """Return the searches of a round; after the first, what the critic misses decides which."""
    affordable = not budget.has_given_up("no web search")
    if state.round == 1:
        why = "the code has not been searched yet"
        if not has_web_search or "web_search" in state.answered_in_round:
            return Choice(("codebase_search",), why)
        if not affordable:
            return Choice(("codebase_search",), f"{why}; no web search, for the budget is low", forced=True)
        return Choice(("codebase_search", "web_search"), "both searches need only the investigator's answer")
    if not (state.web_queries and has_web_search and affordable):
        return Choice(("codebase_search",), f"round {state.round}: the critic's gaps give new words to search for")
    if state.search_terms:
        both: tuple[AgentName, ...] = ("codebase_search", "web_search")
        return Choice(both, f"round {state.round}: the critic misses something in both places")
    return Choice(("web_search",), f"round {state.round}: the critic misses something outside of the repository")


def end_rounds(state: BugTriageState, budget: RemainingBudget, *, has_web_search: bool) -> Choice | None:
    """Return the writer, and why no further round follows the critic's answer; None when one follows."""
    if state.critic_feedback is None:
        return _write("the critic gave no answer")
    if state.critic_feedback.verdict == "APPROVED":
        return _write("the critic approved")
    if state.gap_questions:
        return _write(f"{state.consecutive_failed_resolves} rounds left the same gap open: a person is asked")
    if state.round >= MAX_ROUNDS:
        return _write(f"not approved, and all {MAX_ROUNDS} rounds are spent")
    can_search_web = has_web_search and not budget.has_given_up("no web search")
    if not state.search_terms and not (state.web_queries and can_search_web):
        return _write("not approved, and nothing new to look up")
    if budget.has_given_up("no further rounds"):
        return _write("not approved, and the budget has no room for a further round", forced=True)
    if budget.seconds_left < 2 * budget.limits.writer_seconds:
        return _write("not approved, and time is nearly up", forced=True)
    return None


def should_open_round(state: BugTriageState, budget: RemainingBudget, *, has_web_search: bool) -> bool:
    """Return whether the critic rejected what this round found, and a further round makes sense."""
    has_critique = _has_answered_this_round(state, "critic")
    return has_critique and end_rounds(state, budget, has_web_search=has_web_search) is None


def may_search_web(state: BugTriageState, services: Services) -> bool:
    """Return whether there is a web search with somewhere to look. Words of a security report are not sent to one."""
    is_security_report = state.kind_reading is not None and state.kind_reading.security
    if services.web_tools is None or is_security_report:
        return False
    is_declared = state.failing_package is not None and state.failing_package.is_declared
    return is_declared or services.web_tools.tools[0].name != ISSUE_SEARCH


def _write(reason: str, *, forced: bool = False) -> Choice:
    return Choice(("writer",), reason, forced)


def _has_answered_this_round(state: BugTriageState, agent: AgentName) -> bool:
    return state.answered_in_round.get(agent, 0) >= state.round
