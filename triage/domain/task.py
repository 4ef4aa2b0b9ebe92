"""What an event asks for."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Literal

from pydantic import Field

from triage.domain.value import Value

RUN_WINDOW = timedelta(hours=24)
"""Runs are limited within it."""


class Trigger(StrEnum):
    OPENED = "opened"
    REOPENED = "reopened"
    EDITED = "edited"
    LABELED = "labeled"
    COMMAND = "command"
    REPORTER_ANSWER = "answer"
    """The issue's author commented. Counts only if our comment has asked something."""
    BY_NUMBER = "requested"
    """By the issue's number: manually, by schedule, or by another workflow."""


class RunKey(Value):
    at: datetime
    """Time of its event by GitHub's clock, in whole seconds."""
    comment_id: int = 0
    """The comment that asked for it; 0 without one."""


class TriageTask(Value):
    number: int
    trigger: Trigger
    actor: str = ""
    """Who triggered it. A command needs this user's permission."""
    is_asked: bool = False
    """Whether a person asked for this run, and waits for an answer."""
    added_label: str = ""
    """The label whose addition is the event."""


Subject = Literal["place", "cause", "known", "fixed", "changed", "documented", "elsewhere", "question", "kind"]
"""What a person can call wrong, as they write it."""


class QuietTask(Value):
    """`/triage quiet`: post nothing more on this issue until `/triage`. Or `/triage wrong`: nothing more of this."""

    number: int
    actor: str
    wrong: list[Subject] = Field(default_factory=list)
    """Empty for everything."""


JobName = Literal[
    "triage",
    "fix-gate",
    "fix-propose",
    "fix-store",
    "fix-report",
    "fix-apply",
    "reproduce-select",
    "reproduce-run",
    "reproduce-report",
    "backlog-list",
    "backlog-run",
    "backlog-merge",
    "scorecard",
    "doctor",
]
"""What a job does. Those of fix, reproduce and backlog run one after the other, each with the permissions it needs."""
BACKLOG_QUERY = "is:open no:assignee"
"""Search for the issues of a backlog, if nobody says which."""
FixCommand = Literal["fix", "revise", "approve", "reject"]


class FixTask(Value):
    """A person wants a fix, or answers one that was proposed."""

    number: int
    actor: str
    """Who commanded; empty if a workflow was started by hand, which takes write access."""
    command: FixCommand = "fix"
    proposal_id: str = ""
    """Empty if the command names none."""
    words: str = ""
    """What to change, or why not."""

    @property
    def makes_proposal(self) -> bool:
        return self.command in ("fix", "revise")


class ReproduceTask(Value):
    """Run the example of a report."""

    number: int | None = None
    """None for all open issues whose example failed when it was run last."""
    trigger: Trigger = Trigger.BY_NUMBER
    """By a command, by an opened issue, or by the workflow itself, as its author decided."""
    actor: str = ""
    """Who commanded."""
    words: str = ""
    """What follows the command: `on VERSION`, and below it perhaps an example."""


class Skip(Value):
    """Nothing to do; the reason is one sentence."""

    reason: str


IssueTask = TriageTask | QuietTask
"""What a workflow that triages does on one issue."""
Task = TriageTask | QuietTask | FixTask | ReproduceTask | Skip
"""What an event asks for, or the reason for skipping it."""
