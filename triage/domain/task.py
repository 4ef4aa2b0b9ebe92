"""What the action was asked to do."""

from enum import StrEnum

from triage.domain.value import Value


class Trigger(StrEnum):
    """Why an issue is triaged."""

    OPENED = "opened"
    REOPENED = "reopened"
    EDITED = "edited"
    LABELED = "labeled"
    """Somebody added the project's opt-in label."""
    COMMAND = "command"
    ANSWER = "answer"
    """The issue's author commented; counts only when we had asked something."""
    REQUESTED = "requested"
    """By hand, by schedule, or by another workflow, with the issue's number."""


class TriageIssue(Value):
    """Triage the issue of this number."""

    number: int
    trigger: Trigger
    actor: str = ""
    """Who triggered it; whose permission a command needs."""


class Quieten(Value):
    """`/triage quiet`: say nothing more on this issue until `/triage`."""

    number: int
    actor: str


class WarmIndex(Value):
    """Index the commit for triages to come; no issue is looked at."""


class Skip(Value):
    """Nothing to do, and why, in one sentence."""

    reason: str


Task = TriageIssue | Quieten | Skip
