"""What a step has requested so far, and the log in which somebody follows it."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Protocol

from triage.domain.run import ModelCall, StepRecord, ToolExecution


@dataclass
class MeasuredStep:
    """What was requested inside one block, also by tasks and threads that it starts."""

    deadline: float
    """When the block must end, in seconds of the run's monotonic clock."""
    calls: list[ModelCall] = field(default_factory=list)
    """Every request, also those that failed."""
    tools: list[ToolExecution] = field(default_factory=list)

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
