"""What a run did: usage, limits, steps, decisions."""

from datetime import datetime
from enum import StrEnum
from typing import Literal

from pydantic import Field

from triage.domain.findings import AgentName
from triage.domain.value import Value

Engine = Literal["model", "rules"]
StepName = AgentName | Literal["prepare", "supervisor"]
DegradationLevel = Literal["whole", "no further rounds", "no web search", "fast model", "rules"]
"""What the run still does for its budget; each includes those before it."""


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
    known_usd: float | None = None
    """Dollars of those calls whose price is known, where `usd` is none."""

    @property
    def priced_usd(self) -> float:
        """Dollars as far as they are known."""
        return self.usd if self.usd is not None else self.known_usd or 0.0

    @property
    def tokens(self) -> int:
        """Input and output together."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: "Usage") -> "Usage":
        unknown = self.usd is None or other.usd is None
        priced = self.priced_usd + other.priced_usd
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            calls=self.calls + other.calls,
            usd=None if unknown else priced,
            known_usd=priced if unknown else None,
        )


class ModelCall(Value):
    """One request to a model, also one that failed, and one whose reply was found in the cache."""

    model: str
    mode: str
    """How the answer was asked for: `json_schema`, `function_calling`, `json_mode`, `tools`, `plain`; `embeddings`."""
    started_at: datetime
    ms: int
    usage: Usage = Usage()
    estimated: bool = False
    """The endpoint did not say what it billed, or the call was cut off: tokens by our own estimate."""
    outcome: Outcome
    error: str | None = None
    """Our own name for what went wrong."""
    replayed: bool = False
    """Found in the cache: nothing was asked. `usage` is what it took when it was paid for."""


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
    shortfalls: list[str] = Field(default_factory=list)
    """Parts of the answer that came otherwise than planned, each with the reason and what stood in."""
    gate: str | None = None
    """What the gate after the step said: `passed`, or why the result was refused; none when there was no result."""
    tools: list[ToolExecution] = Field(default_factory=list)
    calls: list[ModelCall] = Field(default_factory=list)
    round: int = 1
    iteration: int = 0
    """The supervisor's decision that started it; steps of one decision ran side by side."""

    @property
    def is_refused_by_gate(self) -> bool:
        """Whether there was an answer that could not be used."""
        return self.outcome is not Outcome.SUCCESS and self.gate is not None


class PlannerDecision(Value):
    """What the supervisor chose to run next, and why."""

    step: int
    selected: list[str]
    reason: str
    confidence: float = 1.0
    timestamp: datetime
    origin: Engine = "rules"
    """Whose choice it was. A model's proposal that was not taken leaves a decision by rules."""
    proposed: list[str] = Field(default_factory=list)
    """What the model proposed and the law refused."""
    refused: str = ""
    """Why the model's proposal was not taken, or why there was none, in our words."""
    rung: DegradationLevel = "whole"
    """How far down the budget's ladder the run had come."""
    forced: bool = False
    """A limit decided, not what was found."""

    @property
    def log_line(self) -> str:
        """The decision in a line, in our own words: a model's reason is not among them."""
        who = "a model" if self.origin == "model" else "rules"
        why = "" if self.origin == "model" else f": {self.reason}"
        budget = "" if self.rung == "whole" else f"; budget: {self.rung}"
        return f"Decision {self.step} by {who}: {' + '.join(self.selected)}{why}{budget}"
