"""What acts in one run, for its agents and its graph.

The clients are named for type checkers only: importing them takes a second, which a skipped event can save.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Literal, Protocol

from triage.domain.code import ExecutedCode
from triage.domain.issue import Attachment, Issue
from triage.domain.past_issues import PastIssue
from triage.domain.project_config import ProjectConfig
from triage.domain.report import RunReport
from triage.domain.run import Engine, Limits, ModelCall, RunIdentity, StepRecord, ToolExecution, Usage

if TYPE_CHECKING:
    from triage.find.codebase import Codebase
    from triage.graph.tool_runner import ToolRunner
    from triage.outside.model.chat_model import ChatModel

Tier = Literal["main", "fast"]
ISSUE_SEARCH = "github_search"
"""Name of the web search that needs a package in which the error is raised."""
IteratePastIssues = Callable[[str], Iterator[list[PastIssue]]]
"""Yields pages of past issues; the same issue may come again, changed.

Takes the words of the new issue that a past one like it would have. Raises TriageError. Slow: call it in a thread.
"""


@dataclass
class MeasuredStep:
    """What was requested inside one block, also by tasks and threads that it starts."""

    deadline: float
    """When the block must end, in seconds of the run's monotonic clock."""
    calls: list[ModelCall] = field(default_factory=list)
    """Every request, also those that failed."""
    tools: list[ToolExecution] = field(default_factory=list)

    @property
    def usage(self) -> Usage:
        """Tokens and US dollars of the calls that ended."""
        return sum((call.usage for call in self.calls), Usage())

    @property
    def models(self) -> list[str]:
        """Names of the models that answered, in order, without repeats."""
        return list(dict.fromkeys(call.model for call in self.calls if call.usage.output_tokens))


current_step: ContextVar[MeasuredStep | None] = ContextVar("current_step", default=None)


@contextmanager
def measure_step(deadline: float) -> Iterator[MeasuredStep]:
    """Measure the block, which must end at `deadline`, in seconds of the run's monotonic clock."""
    measured = MeasuredStep(deadline)
    token = current_step.set(measured)
    try:
        yield measured
    finally:
        current_step.reset(token)


class ProgressLog(Protocol):
    """Log lines while the run goes on. Never gets text from outside."""

    def log_start(self, what: str) -> None:
        """A step or a tool starts."""

    def log_end(self, record: StepRecord | ToolExecution) -> None:
        """A step or a tool ended."""

    def info(self, text: str) -> None:
        """One line."""

    def detail(self, text: str) -> None:
        """One line that interests whoever follows every step."""

    def group(self, title: str) -> AbstractContextManager[None]:
        """Put the lines of the block into one group."""


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
    started: float = 0.0
    """Start of the run, by `clock`."""
    model: ChatModel | None = None
    web_tools: ToolRunner | None = None
    """The web search, of one tool; none if it is off."""
    code_tools: ToolRunner | None = None
    """Tools of the codebase agent; none with the rules engine."""
    read_attachments: Callable[[Issue], list[Attachment]] | None = None
    """Reads what an issue links to on GitHub; raises nothing. None when it is off. Slow: call it in a thread."""
    past_issues: IteratePastIssues | None = None
    """None without a repository on GitHub, or when it is off."""
    config: ProjectConfig = field(default_factory=ProjectConfig)
    executed: ExecutedCode | None = None
    """What the issue's example executes, if a person says it; else our comment on the issue may remember it."""
    export_report: Callable[[RunReport], None] | None = None
    """Sends spans of a run that ended, within seconds; raises nothing. None without a collector."""

    cut_steps: list[StepRecord] = field(default_factory=list)
    """Steps that are cancelled with the run: no node's update will hold them."""

    def seconds_left(self) -> float:
        """Seconds until the run must end."""
        return self.limits.run_seconds - (self.clock() - self.started)

    def agent_seconds(self) -> float:
        """Seconds for an agent that starts now; the time of the writer is reserved."""
        return min(self.limits.agent_seconds, self.seconds_left() - self.limits.writer_seconds)
