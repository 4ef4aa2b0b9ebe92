"""Reads a person's answer to a proposal: `approve`, `reject`, or words about what to change."""

from enum import StrEnum

from triage.domain.value import Value
from triage.safety.clean_text import clean_text

MAX_FEEDBACK_CHARS = 4000


class Decision(StrEnum):
    APPROVE = "approve"
    REJECT = "reject"
    FEEDBACK = "feedback"


class PersonAnswer(Value):
    decision: Decision
    feedback: str = ""
    """The person's words, without invisible characters. Empty unless the decision is feedback."""


def parse_answer(answer: object) -> PersonAnswer:
    """Return what a person decided. Only the word `approve` is a yes, and what cannot be read is a no.

    That is anything but text, text without a visible character, and `approve` with invisible characters in it.
    """
    if not isinstance(answer, str):
        return PersonAnswer(decision=Decision.REJECT)
    if answer.strip().lower() == Decision.APPROVE:
        return PersonAnswer(decision=Decision.APPROVE)
    feedback = clean_text(answer).strip()
    if not feedback or feedback.lower() in (Decision.APPROVE, Decision.REJECT):
        return PersonAnswer(decision=Decision.REJECT)
    return PersonAnswer(decision=Decision.FEEDBACK, feedback=feedback[:MAX_FEEDBACK_CHARS].rstrip())
