"""Closes a round: what its critique leaves open, who looks for that next, and when a person is asked."""

import re

from triage.agents.critic import extract_search_terms, map_critique_to_verdict
from triage.domain.findings import CritiqueFinding, MissingInformation
from triage.domain.past_issues import OpenGap
from triage.domain.report import Round
from triage.domain.run import Engine
from triage.graph.triage_state import BugTriageState, Update
from triage.read.reporter_language import get_phrases
from triage.safety.secrets.web_query import restrict_query

MAX_FAILED_RESOLVES = 3
"""Then nobody looks for the same gap any more, and a person is asked."""
MAX_GAP_CHARS = 100
"""In the question, which is one line of the comment."""
_WORD = re.compile(r"\w{4,}")


def require_verified_citation(critique: CritiqueFinding, verified: int) -> CritiqueFinding:
    """Return the critique, whose `CONFIRMED` becomes `UNCERTAIN` when no reference into the code was verified."""
    if critique.verdict != "CONFIRMED" or verified:
        return critique
    gap = "No reference into the code could be verified."
    update = {"verdict": "UNCERTAIN", "ready_for_report": False, "gaps": [gap, *critique.gaps]}
    return critique.model_copy(update=update)


def close_round(critique: CritiqueFinding | None, engine: Engine, state: BugTriageState) -> Update:
    """Return what the supervisor routes on, and the round's record.

    Without a critique both are empty: an earlier rejection says nothing about what was found since.
    """
    searches = [finding.relevant_files for finding in state.findings if finding.agent_name == "codebase_search"]
    if state.answered_in_round.get("codebase_search") == state.round:
        searches = searches[:-1]
    earlier = {path for paths in searches for path in paths}
    found = dict.fromkeys(file.path for file in state.suspects)
    gap = _follow_gap(state.open_gap, critique, engine)
    feedback = map_critique_to_verdict(critique) if critique else None
    record = Round(
        number=state.round,
        searched_for=state.search_terms,
        added=[path for path in found if path not in earlier],
        verdict=critique.verdict if critique else None,
    )
    return {
        "critic_feedback": feedback,
        "open_gap": gap,
        "gap_questions": _ask_for_gap(gap, state.parsed.language),
        "search_terms": _find_new_search_terms(feedback.required_evidence, engine, state) if feedback else [],
        "web_queries": _choose_web_queries(critique, state) if critique else [],
        "rounds": [record],
    }


def _find_new_search_terms(gaps: list[str], engine: Engine, state: BugTriageState) -> list[str]:
    # Names in the gaps. A gap without any is searched for whole when a model wrote it; rules write fixed sentences.
    terms = extract_search_terms(gaps) or (gaps if engine == "model" else [])
    keywords = state.investigation.keywords_for_search if state.investigation else []
    searched = " ".join([state.parsed.text, *keywords, *state.search_terms]).lower()
    return [term for term in terms if term.lower() not in searched]


def _choose_web_queries(critique: CritiqueFinding, state: BugTriageState) -> list[str]:
    # The critic has seen the code, and a query leaves the machine: words of the issue and declared packages stay.
    queries = [restrict_query(gap, [state.parsed.text, *state.dependencies]) for gap in critique.gaps_outside]
    return [query for query in dict.fromkeys(queries) if query and query not in state.web_queries]


def _follow_gap(known: OpenGap | None, critique: CritiqueFinding | None, engine: Engine) -> OpenGap | None:
    """Return the gap that the round leaves open, with the number of rounds in a row that failed to close it.

    None after a decisive answer. Rules name no gap that a person could answer.
    """
    if critique is None:
        return known
    if critique.verdict == "CONFIRMED" or engine == "rules" or not critique.gaps:
        return None
    if known:
        again = next((gap for gap in critique.gaps if _is_same(known.text, gap)), None)
        if again:
            return OpenGap(text=again, failed_resolves=known.failed_resolves + 1)
    return OpenGap(text=critique.gaps[0], failed_resolves=1)


def _ask_for_gap(gap: OpenGap | None, language: str) -> list[MissingInformation]:
    """Return the question to a person, in the reporter's language; none as long as the search may still close it."""
    if gap is None or gap.failed_resolves < MAX_FAILED_RESOLVES:
        return []
    text = " ".join(gap.text.split())
    text = text if len(text) <= MAX_GAP_CHARS else text[: MAX_GAP_CHARS - 1] + "…"
    question = get_phrases(language).ask_gap.format(gap=text)
    return [MissingInformation(kind="other", question=question, reason="The search did not find it.")]


def _is_same(one: str, other: str) -> bool:
    """Return whether two gaps name the same thing in the code or, where neither does, share half of their words."""
    names, other_names = set(extract_search_terms([one])), set(extract_search_terms([other]))
    if names or other_names:
        return bool(names & other_names)
    words, other_words = (set(_WORD.findall(text.lower())) for text in (one, other))
    return 2 * len(words & other_words) >= max(1, min(len(words), len(other_words)))
