"""What a run did: usage, limits, steps, decisions."""

from datetime import datetime
from enum import StrEnum
from typing import Literal

from pydantic import Field

from triage.domain.findings import AgentName
from triage.domain.value import Value

Engine = Literal["model", "rules"]
StepName = AgentName | Literal["prepare"]


class Status(StrEnum):
    """How a run ended; `failed` is what the workflow's author must mend."""

    COMPLETE = "complete"
    DEGRADED = "degraded"
    SKIPPED = "skipped"
    FAILED = "failed"


class Outcome(StrEnum):
    """How a step or a tool call ended."""

    SUCCESS = "SUCCESS"
    FAILED = "FAILED"
    TIMED_OUT = "TIMED_OUT"
    SKIPPED = "SKIPPED"


class Usage(Value):
    """Tokens and US dollars; `usd` is none when a model without a known price was asked."""

    input_tokens: int = 0
    output_tokens: int = 0
    calls: int = 0
    usd: float | None = 0.0

    @property
    def tokens(self) -> int:
        """Input and output together."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            calls=self.calls + other.calls,
            usd=None if self.usd is None or other.usd is None else self.usd + other.usd,
        )


class RunFacts(Value):
    """What identifies a run."""

    request_id: str
    """Sent to the model's endpoint with every call, printed in log and report."""
    started_at: datetime
    triage_version: str
    run_url: str = ""


class Limits(Value):
    """What a run may spend at most."""

    iterations: int = 12
    """Supervisor decisions."""
    tokens: int = 100_000
    usd: float = 1.0
    run_seconds: float = 300.0
    agent_seconds: float = 60.0
    tool_seconds: float = 30.0

    @property
    def writer_seconds(self) -> float:
        """Kept for the writer: a fifth of the run, at most 20 s."""
        return min(20.0, self.run_seconds / 5)


class ToolExecution(Value):
    """One call of a tool."""

    tool: str
    input_summary: str
    output_summary: str
    ms: int
    outcome: Outcome
    error: str | None = None
    started_at: datetime


class StepRecord(Value):
    """One node's run, or one answer inside it: a model that failed and the twin that took over are two records."""

    step: StepName
    engine: Engine
    model: str | None = None
    """The model that answered (the fallback's name when it took over); none by rules."""
    started_at: datetime
    offset_seconds: float
    """Seconds between the run's start and the step's."""
    seconds: float
    usage: Usage = Usage()
    outcome: Outcome
    error: str | None = None
    """A short named reason, ours; never a message from outside."""
    tools: list[ToolExecution] = Field(default_factory=list)
    round: int = 1
    iteration: int = 0
    """The supervisor's decision that started it; steps of one decision ran side by side."""


class PlannerDecision(Value):
    """What the supervisor chose to run next, and why."""

    step: int
    selected: list[str]
    reason: str
    confidence: float = 1.0
    timestamp: datetime
    origin: Engine = "rules"
    forced: bool = False
    """A limit decided, not what was found."""
