"""The routing rules: which agents may run next, whoever proposes them. Pure.

- The investigator runs first, codebase search before the critic, the critic before the writer.
- The writer runs when the critic approves, or when rounds, iterations, budget or time are spent.
- Codebase search and web search run in parallel; web search runs once.
- No agent runs twice in a round.
- What is no bug goes straight to the writer.
"""

from dataclasses import dataclass

from triage.domain.findings import AgentName
from triage.graph.degradation import RemainingBudget
from triage.graph.triage_state import BugTriageState

MAX_ROUNDS = 3


@dataclass(frozen=True)
class Choice:
    """Agents that may run next, in parallel, and why."""

    selected: tuple[AgentName, ...]
    reason: str
    forced: bool = False
    """A limit allows nothing else."""


def list_choices(state: BugTriageState, budget: RemainingBudget, *, has_web_search: bool) -> list[Choice]:
    """Return everything that may run now; rules take the first."""
    if state.iterations + 1 >= budget.limits.iterations:
        return [_write(f"iteration limit ({budget.limits.iterations}) reached", forced=True)]
    if "investigator" not in state.answered_in_round:
        return [Choice(("investigator",), "nobody has read the issue yet")]
    if state.kind != "bug":
        return [_write(f"not a bug: {state.kind.replace('_', ' ')}")]
    if not _has_answered_this_round(state, "codebase_search"):
        return _list_searches(state, budget, has_web_search=has_web_search)
    if not _has_answered_this_round(state, "critic"):
        return [Choice(("critic",), "the findings have not been challenged yet")]
    return [end_rounds(state, budget) or _write("the critic has answered")]


def _list_searches(state: BugTriageState, budget: RemainingBudget, *, has_web_search: bool) -> list[Choice]:
    not_searched = "the code has not been searched yet"
    code = Choice(("codebase_search",), not_searched)
    both = Choice(("codebase_search", "web_search"), "both searches need only the investigator's answer")
    web = has_web_search and "web_search" not in state.answered_in_round
    affordable = not budget.has_given_up("no web search")
    if state.round == 1:
        if web and not affordable:
            return [Choice(code.selected, f"{not_searched}; no web search, for the budget is low", forced=True)]
        return [both, code] if web else [code]
    again = Choice(code.selected, f"round {state.round}: the critic's gaps give new words to search for")
    reread = Choice(("investigator",), f"round {state.round}: the issue is read again with what was found")
    further = [] if _has_answered_this_round(state, "investigator") else [reread]
    return [again, *([both] if web and affordable else []), *further]


def end_rounds(state: BugTriageState, budget: RemainingBudget) -> Choice | None:
    """Return the writer, and why no further round follows the critic's answer; None when one follows."""
    if state.critic_feedback is None:
        return _write("the critic gave no answer")
    if state.critic_feedback.verdict == "APPROVED":
        return _write("the critic approved")
    if state.round >= MAX_ROUNDS:
        return _write(f"rejected, but all {MAX_ROUNDS} rounds are spent")
    if not state.search_terms:
        return _write("rejected, but the gaps give nothing new to search for")
    if budget.has_given_up("no further rounds"):
        return _write("rejected, but the budget has no room for a further round", forced=True)
    if budget.seconds_left < 2 * budget.limits.writer_seconds:
        return _write("rejected, but time is nearly up", forced=True)
    return None


def should_open_round(state: BugTriageState, budget: RemainingBudget) -> bool:
    """Whether the critic rejected what this round found, and a further round makes sense."""
    return _has_answered_this_round(state, "critic") and end_rounds(state, budget) is None


def _write(reason: str, *, forced: bool = False) -> Choice:
    return Choice(("writer",), reason, forced)


def _has_answered_this_round(state: BugTriageState, agent: AgentName) -> bool:
    return state.answered_in_round.get(agent, 0) >= state.round
