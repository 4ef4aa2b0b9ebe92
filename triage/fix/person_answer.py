"""Reads a person's answer to a proposal: `approve`, `reject: why`, or `revise: what to change`."""

import re
from difflib import get_close_matches
from enum import StrEnum

from triage.domain.value import Value
from triage.safety.clean_text import clean_text

MAX_WORDS_CHARS = 4000
_COMMAND = re.compile(
    r"(?P<name>reject|revise)(?:\s*[:,;.!–—-]\s*(?P<why>.*)|\s+(?P<what>.+))?", re.IGNORECASE | re.DOTALL
)
_SHORT_WORDS = 3
_SHORT_CHARS = 20
"""Of an answer without blanks. Some languages write whole sentences so."""
_MIN_SIMILARITY = 0.8
"""As `difflib` counts it: `aprove` has 0.92 in common with `approve`, `improve` 0.71."""
_YES_OR_NO = re.compile(r"y|ye[aps]\w*|ok\w*|sure|lgtm|fine|good|looks|great|n|nope?|stop|cancel|quit")


class Decision(StrEnum):
    APPROVE = "approve"
    REJECT = "reject"
    REVISE = "revise"
    UNCLEAR = "unclear"


class PersonAnswer(Value):
    decision: Decision
    words: str = ""
    """Why, or what to change, without invisible characters; of an unclear answer, all of it. Empty for a yes."""


def parse_answer(answer: object) -> PersonAnswer:
    """Return what a person decided. Only the word `approve` is a yes, and what cannot be read is a no.

    That is anything but text, text without a visible character, and `approve` with invisible characters in it. Words
    are what to change, unless they may have meant a yes or a no.
    """
    if not isinstance(answer, str):
        return PersonAnswer(decision=Decision.REJECT)
    if answer.strip().lower() == Decision.APPROVE:
        return PersonAnswer(decision=Decision.APPROVE)
    text = clean_text(answer).strip()
    if not text or text.lower() == Decision.APPROVE:
        return PersonAnswer(decision=Decision.REJECT)
    decision, words = _read_decision(text)
    return PersonAnswer(decision=decision, words=words[:MAX_WORDS_CHARS].strip())


def _read_decision(text: str) -> tuple[Decision, str]:
    found = _COMMAND.fullmatch(text)
    if found and found["name"].lower() == Decision.REVISE:
        words = found["why"] or found["what"] or ""
        return (Decision.REVISE, words) if words else (Decision.UNCLEAR, text)
    if found and not found["what"]:
        return Decision.REJECT, found["why"] or ""
    return (Decision.UNCLEAR if _may_be_yes_or_no(text) else Decision.REVISE), text


def _may_be_yes_or_no(text: str) -> bool:
    words = [word.strip(".,:;!?\"'()").lower() for word in text.split()]
    if len(words) == 1:
        return len(text) <= _SHORT_CHARS or _is_like_command(words[0])
    is_short = len(words) <= _SHORT_WORDS
    return any(map(_is_like_command, words if is_short else words[:1])) or (
        is_short and _YES_OR_NO.fullmatch(words[0]) is not None
    )


def _is_like_command(word: str) -> bool:
    return bool(get_close_matches(word[:_SHORT_CHARS], (Decision.APPROVE, Decision.REJECT), cutoff=_MIN_SIMILARITY))
