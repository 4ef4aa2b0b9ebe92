"""Reads a person's decision about a proposal: `approve`, `reject: why`, or `revise: what to change`."""

import re
from enum import StrEnum

from triage.domain.value import Value
from triage.safety.clean_text import clean_text

MAX_WORDS_CHARS = 4000
_COMMAND = re.compile(
    r"(?P<name>reject|revise)(?:\s*[:,;.!–—-]\s*(?P<why>.*)|\s+(?P<what>.+))?", re.IGNORECASE | re.DOTALL
)
MIN_WORDS = 4
"""Of an answer without a command that is what to change: fewer may be meant as a yes or a no."""


class Decision(StrEnum):
    APPROVE = "approve"
    REJECT = "reject"
    REVISE = "revise"
    UNCLEAR = "unclear"


class PersonDecision(Value):
    decision: Decision
    words: str = ""
    """Why, or what to change, without invisible characters; what is unclear, all of it. Empty for a yes."""


def parse_decision(answer: object) -> PersonDecision:
    """Return what a person decided. Only the word `approve` is a yes, and what cannot be read is a no.

    That is anything but text, text without a visible character, and `approve` with invisible characters in it.
    """
    if not isinstance(answer, str):
        return PersonDecision(decision=Decision.REJECT)
    if answer.strip().lower() == Decision.APPROVE:
        return PersonDecision(decision=Decision.APPROVE)
    text = clean_text(answer).strip()
    if not text or text.lower() == Decision.APPROVE:
        return PersonDecision(decision=Decision.REJECT)
    decision, words = _read_decision(text)
    return PersonDecision(decision=decision, words=words[:MAX_WORDS_CHARS].strip())


def _read_decision(text: str) -> tuple[Decision, str]:
    found = _COMMAND.fullmatch(text)
    if found and found["name"].lower() == Decision.REVISE:
        words = found["why"] or found["what"] or ""
        return (Decision.REVISE, words) if words else (Decision.UNCLEAR, text)
    if found and not found["what"]:
        return Decision.REJECT, found["why"] or ""
    return (Decision.REVISE if len(text.split()) >= MIN_WORDS else Decision.UNCLEAR), text
