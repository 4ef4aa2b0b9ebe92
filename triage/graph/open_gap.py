"""Follows a gap from round to round. What three searches did not close, a person is asked."""

import re

from triage.agents.critic import extract_search_terms
from triage.domain.findings import CritiqueFinding, MissingInformation
from triage.domain.past_issues import OpenGap
from triage.domain.run import Engine
from triage.issue.reporter_language import get_phrases

MAX_FAILED_RESOLVES = 3
"""Then nobody looks for the same gap any more, and a person is asked."""
MAX_GAP_CHARS = 100
"""In the question, which is one line of the comment."""
_WORD = re.compile(r"\w{4,}")


def follow_gap(known: OpenGap | None, critique: CritiqueFinding | None, engine: Engine) -> OpenGap | None:
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


def ask_for_gap(gap: OpenGap | None, language: str) -> list[MissingInformation]:
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
