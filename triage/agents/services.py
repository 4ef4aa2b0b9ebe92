"""What acts in one run, for its agents and its graph.

The clients are named for type checkers only: importing them takes a second, which a skipped event can save.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from triage.base.progress import ProgressLog
from triage.domain.code import ExecutedCode
from triage.domain.issue import Attachment, Issue
from triage.domain.past_issues import PastIssue
from triage.domain.project_config import ProjectConfig
from triage.domain.report import RunReport
from triage.domain.run import Engine, Limits, RunIdentity, StepRecord

if TYPE_CHECKING:
    from triage.agents.tool_runner import ToolRunner
    from triage.find.codebase import Codebase
    from triage.outside.model.chat_model import ChatModel

IteratePastIssues = Callable[[str], Iterator[list[PastIssue]]]
"""Yields pages of past issues; the same issue may come again, changed.

Takes the words of the new issue that a past one like it would have. Raises TriageError. Slow: call it in a thread.
"""


@dataclass(frozen=True)
class Services:
    """Everything that acts in one run. The graph's context, never part of its state."""

    codebase: Codebase
    progress: ProgressLog
    limits: Limits
    engine: Engine
    identity: RunIdentity
    now: Callable[[], datetime]
    clock: Callable[[], float]
    """Monotonic time in seconds."""
    searches_for_features: bool = False
    """Somebody asked for this run, or wants a comment always: only then a model looks where a feature would go."""
    started: float = 0.0
    """Start of the run, by `clock`."""
    model: ChatModel | None = None
    web_tools: ToolRunner | None = None
    """The web search, of one tool; none if it is off."""
    code_tools: ToolRunner | None = None
    """Tools of the codebase agent; none with the rules engine."""
    read_attachments: Callable[[Issue], list[Attachment]] | None = None
    """Reads what an issue links to on GitHub; raises nothing. None when it is off. Slow: call it in a thread."""
    iterate_past_issues: IteratePastIssues | None = None
    """None without a repository on GitHub, or when it is off."""
    config: ProjectConfig = field(default_factory=ProjectConfig)
    executed: ExecutedCode | None = None
    """What the issue's example executes, if a person says it; else our comment on the issue may remember it."""
    export_report: Callable[[RunReport], None] | None = None
    """Sends spans of a run that ended, within seconds; raises nothing. None without a collector."""

    unfinished_steps: list[StepRecord] = field(default_factory=list)
    """Steps that are cancelled with the run: no node's update will hold them."""

    def seconds_left(self) -> float:
        """Seconds until the run must end."""
        return self.limits.run_seconds - (self.clock() - self.started)

    def share_of_seconds_left(self, share: float) -> float:
        """Seconds for a step that may take this share of what is left; at least one."""
        return max(1.0, self.seconds_left() * share)

    def agent_seconds(self) -> float:
        """Seconds for an agent that starts now; the time of the writer is reserved."""
        return min(self.limits.agent_seconds, self.seconds_left() - self.limits.writer_seconds)
