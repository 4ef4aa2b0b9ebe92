"""The routing rules: what is left of a run's budget, which agents run next, and what a round leaves open.

- The investigator runs first, codebase search before the critic, the critic before the writer.
- The writer runs when the critic approves, or when rounds, iterations, budget or time are spent.
- Codebase search and web search run in parallel, the latter once.
- No agent runs twice in a round.
- A round is opened only for gaps that somebody can close: new terms for the code.
- A feature request is searched for in the code and not challenged. What rules call a question is not searched for,
  unless a model may find its answer in the documentation.
"""

import re
from dataclasses import dataclass

from triage.agents.critic import extract_search_terms, map_critique_to_verdict
from triage.agents.services import Services
from triage.base.text import truncate
from triage.domain.findings import AgentName, CritiqueFinding, Kind, MissingInformation
from triage.domain.past_issues import OpenGap
from triage.domain.run import ISSUE_SEARCH, Engine
from triage.graph.triage_state import BugTriageState, Update
from triage.read.reporter_language import get_phrases

MAX_FAILED_RESOLVES = 3
"""Then nobody looks for the same gap any more. A person is asked, if nothing else of the report leads on."""
MAX_GAP_CHARS = 100
"""In the question, which is one line of the comment."""
_WORD = re.compile(r"\w{4,}")


def downgrade_unverified(critique: CritiqueFinding, verified: int) -> CritiqueFinding:
    """Return the critique, whose `CONFIRMED` becomes `UNCERTAIN` when no reference into the code was verified."""
    if critique.verdict != "CONFIRMED" or verified:
        return critique
    gap = "No reference into the code could be verified."
    update = {"verdict": "UNCERTAIN", "ready_for_report": False, "gaps": [gap, *critique.gaps]}
    return critique.model_copy(update=update)


def close_round(critique: CritiqueFinding | None, engine: Engine, state: BugTriageState) -> Update:
    """Return the fields on which the supervisor routes after an answer of the critic.

    Without a critique there is no feedback and nothing to search for: an earlier rejection says nothing about what was
    found since.
    """
    gap = _follow_gap(state.open_gap, critique, engine)
    feedback = map_critique_to_verdict(critique) if critique else None
    gaps = feedback.required_evidence if feedback else []
    # Names in the gaps. A gap without any is searched for whole when a model wrote it; rules write fixed sentences.
    terms = extract_search_terms(gaps) or (gaps if engine == "model" else [])
    keywords = state.investigation.keywords_for_search if state.investigation else []
    searched = " ".join([state.parsed.text, *keywords, *state.search_terms]).lower()
    return {
        "critic_feedback": feedback,
        "open_gap": gap,
        "gap_questions": _ask_for_gap(gap, state.parsed.language),
        "search_terms": [term for term in terms if term.lower() not in searched],
    }


def _follow_gap(earlier_gap: OpenGap | None, critique: CritiqueFinding | None, engine: Engine) -> OpenGap | None:
    """Return the gap that the round leaves open, with the number of rounds in a row that failed to close it.

    None after a decisive answer. Rules name no gap that a person could answer.
    """
    if critique is None:
        return earlier_gap
    if critique.verdict == "CONFIRMED" or engine == "rules" or not critique.gaps:
        return None
    if earlier_gap:
        again = next((gap for gap in critique.gaps if _is_same(earlier_gap.text, gap)), None)
        if again:
            return OpenGap(text=again, failed_resolves=earlier_gap.failed_resolves + 1)
    return OpenGap(text=critique.gaps[0], failed_resolves=1)


def _ask_for_gap(gap: OpenGap | None, language: str) -> list[MissingInformation]:
    """Return the question to a person, in the reporter's language; none as long as the search may still close it."""
    if gap is None or gap.failed_resolves < MAX_FAILED_RESOLVES:
        return []
    text = truncate(" ".join(gap.text.split()), MAX_GAP_CHARS)
    question = get_phrases(language).ask_gap.format(gap=text)
    return [MissingInformation(kind="other", question=question, reason="The search did not find it.")]


def _is_same(one: str, other: str) -> bool:
    """Return whether two gaps name the same thing in the code or, where neither does, share half of their words."""
    names, other_names = set(extract_search_terms([one])), set(extract_search_terms([other]))
    if names or other_names:
        return bool(names & other_names)
    words, other_words = (set(_WORD.findall(text.lower())) for text in (one, other))
    return 2 * len(words & other_words) >= max(1, min(len(words), len(other_words)))


WRITER_SHARE = 0.20
"""When less than this share of tokens or dollars is left, rules search and criticize, and the writer gets the rest.

With the default caps the writer's calls take 12 to 18 percent (measured).
"""


def is_budget_low(services: Services) -> bool:
    """Return whether only the writer may still ask a model."""
    if services.model is None:
        return False
    spent, limits = services.model.usage, services.limits
    share_of_tokens = 1 - spent.tokens / limits.tokens if limits.tokens else 0.0
    share_of_dollars = 1 - spent.priced_usd / limits.usd if limits.usd else 0.0
    return min(share_of_tokens, share_of_dollars) < WRITER_SHARE


MAX_ROUNDS = 3


def searches_code(kind: Kind | None) -> bool:
    """Return whether the code is searched for an issue of this kind."""
    return kind not in ("question", "not_actionable")


@dataclass(frozen=True)
class Choice:
    """Agents that may run next, in parallel, and why."""

    selected: tuple[AgentName, ...]
    reason: str
    forced: bool = False
    """A limit allows nothing else."""
    opens_round: bool = False


def choose_next(state: BugTriageState, services: Services) -> Choice:
    """Return which agents run next."""
    if state.iterations + 1 >= services.limits.iterations:
        return _choose_writer(f"iteration limit ({services.limits.iterations}) reached", forced=True)
    if "investigator" not in state.ran_in_round:
        return Choice(("investigator",), "nobody has read the issue yet")
    kind_words = (state.kind or "").replace("_", " ")
    if _may_be_documented(state, services):
        return Choice(("codebase_search",), "question: does the documentation answer it?")
    if not searches_code(state.kind_by_rules):
        return _choose_writer(f"not a bug: {kind_words}")
    if not state.may_be_bug:
        if "codebase_search" in state.ran_in_round:
            return _choose_writer(f"{kind_words}: there is no cause to challenge")
        return Choice(("codebase_search",), f"{kind_words}: where would it go?")
    if state.ran_in_round.get("critic", 0) >= state.round:
        reason = f"round {state.round + 1}: the critic's gaps give new words to search for"
        return _choose_writer_if_done(state, services) or Choice(("codebase_search",), reason, opens_round=True)
    if state.ran_in_round.get("codebase_search", 0) < state.round:
        if may_search_web(state, services) and "web_search" not in state.ran_in_round:
            return Choice(("codebase_search", "web_search"), "both searches need only the investigator's answer")
        return Choice(("codebase_search",), "the code has not been searched yet")
    return Choice(("critic",), "the findings have not been challenged yet")


def _may_be_documented(state: BugTriageState, services: Services) -> bool:
    """Return whether a model may find the answer to a question; by rules no section is sure enough."""
    is_open = state.kind == "question" and "codebase_search" not in state.ran_in_round
    return is_open and state.may_be_answered and services.model is not None and not is_budget_low(services)


def _choose_writer_if_done(state: BugTriageState, services: Services) -> Choice | None:
    """Return the writer, and why no further round follows the critic's answer; None when one follows."""
    if state.critic_feedback is None:
        return _choose_writer("the critic gave no answer")
    if state.critic_feedback.verdict == "APPROVED":
        return _choose_writer("the critic approved")
    if state.gap_questions:
        return _choose_writer(f"{state.consecutive_failed_resolves} rounds left the same gap open: it stays open")
    if state.round >= MAX_ROUNDS:
        return _choose_writer(f"not approved, and all {MAX_ROUNDS} rounds are spent")
    if not state.search_terms:
        return _choose_writer("not approved, and nothing new to look up")
    if is_budget_low(services):
        return _choose_writer("not approved, and the budget has no room for a further round", forced=True)
    if services.seconds_left() < 2 * services.limits.writer_seconds:
        return _choose_writer("not approved, and time is nearly up", forced=True)
    return None


def may_search_web(state: BugTriageState, services: Services) -> bool:
    """Return whether a web search may help: GitHub's only of a declared package; none for a security report."""
    if services.web_tools is None or state.is_security_report:
        return False
    is_declared = state.failing_package is not None and state.failing_package.is_declared
    return is_declared or services.web_tools.tools[0].name != ISSUE_SEARCH


def _choose_writer(reason: str, *, forced: bool = False) -> Choice:
    return Choice(("writer",), reason, forced)
