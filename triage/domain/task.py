"""What the action was asked to do."""

from datetime import datetime
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


class PastRun(Value):
    """A run that an event has started."""

    at: datetime
    """When it happened that started the run, by GitHub's clock, to the second."""
    comment_id: int = 0
    """The comment that asked for it; 0 where none did."""


class TriageIssue(Value):
    """Triage the issue of this number."""

    number: int
    trigger: Trigger
    actor: str = ""
    """Who triggered it; whose permission a command needs."""


class QuietIssue(Value):
    """`/triage quiet`: say nothing more on this issue until `/triage`."""

    number: int
    actor: str


class WarmIndex(Value):
    """Index the commit for triages to come; no issue is looked at."""


class Skip(Value):
    """Nothing to do, and why, in one sentence."""

    reason: str


Task = TriageIssue | QuietIssue | Skip
