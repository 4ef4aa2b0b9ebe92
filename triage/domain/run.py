"""What a run did: usage, limits, steps, faults, decisions, and where its telemetry goes."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal, get_args

from pydantic import Field, SecretStr

from triage.domain.findings import AgentName
from triage.domain.value import Value

Engine = Literal["model", "rules"]
Tier = Literal["main", "fast"]
ISSUE_SEARCH = "github_search"
"""Name of the web search that needs a package in which the error is raised."""
ReasoningEffort = Literal["none", "low", "medium", "high"]
"""How long a model thinks before it answers."""
FixStepName = Literal["classify_ticket", "identify_modules", "generate_code_changes", "generate_tests"]
"""The steps of the fix flow that ask a model."""
LookupName = Literal["read_and_index", "fetch_past_issues", "compare_past_issues"]
"""The steps before the first decision. Nobody answers anything in them."""
StepName = AgentName | LookupName | FixStepName


class Status(StrEnum):
    """How a run ended. `degraded`: a part failed, or nothing could be done now; `failed`: a workflow must change."""

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


Count = Annotated[int, Field(ge=0)]
Dollars = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Usage(Value):
    """Tokens and US dollars. `usd` is none if the price of a model is not known.

    A number that is negative, infinite or none at all is a ValueError: in a sum it would lift the caps of the run.
    """

    input_tokens: Count = 0
    """Tokens of the prompts."""
    output_tokens: Count = 0
    """Tokens of the answers, thoughts included."""
    calls: Count = 0
    """Number of requests."""
    usd: Dollars | None = 0.0
    """US dollars; none if the price of a model is not known."""
    known_usd: Dollars | None = None
    """US dollars of the calls with a known price, if `usd` is none."""

    @property
    def priced_usd(self) -> float:
        """US dollars of the calls with a known price."""
        return self.usd if self.usd is not None else self.known_usd or 0.0

    @property
    def tokens(self) -> int:
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
    """One request to a model."""

    model: str
    """Name of the model that was asked."""
    mode: str
    """Form of the request: `json_schema`, `json_mode`, `tools`, `plain`, `embeddings`."""
    started_at: datetime
    """When it began."""
    ms: int
    """Milliseconds until the answer."""
    usage: Usage = Usage()
    """Tokens and cost of this request."""
    estimated: bool = False
    """Whether `usage` is our estimate, because the endpoint reported none or the call was cancelled."""
    outcome: Outcome
    """How it ended."""
    error: str | None = None
    """A short name of ours for the error."""


class RunIdentity(Value):
    request_id: str
    """Sent to the model's endpoint with every call, and shown in log and report."""
    started_at: datetime
    triage_version: str
    run_url: str = ""
    feature_flags: dict[str, bool] = Field(default_factory=dict)
    """What was on, by name."""


READING_SHARE = 0.4
"""Of a run's time. By then GitHub must have answered all questions before the agents start."""
ATTACHMENT_SHARE, INDEX_SHARE, PAST_ISSUES_SHARE = 0.1, 0.6, 0.15
"""Of the time that is left, for each of these. Past issues are read while the index is built, which takes longer as a
rule; what it leaves is for the agents."""
AGENT_SHARE = 0.2
"""Of a run's time, for one agent: 60 of 300 seconds."""


class Limits(Value):
    """Limits of a run."""

    iterations: int = 12
    """Maximum supervisor decisions."""
    tokens: int = 100_000
    """Maximum tokens of all calls, input and output."""
    usd: float = 1.0
    """Maximum US dollars of all calls."""
    run_seconds: float = 300.0
    """Maximum seconds of the run."""
    agent_seconds: float = 60.0
    """Maximum seconds of an agent."""
    tool_seconds: float = 30.0
    """Maximum seconds of a tool call."""

    @property
    def writer_seconds(self) -> float:
        """Reserved for the writer: a fifth of the run, at most 20 s."""
        return min(20.0, self.run_seconds / 5)


class ToolExecution(Value):
    """One tool call."""

    tool: str
    """Name of the tool."""
    arguments: str = ""
    """On one line, without invisible characters and likely secrets, at most 200 characters. Text from outside: not for
    logs and telemetry."""
    output_summary: str
    """Size of the answer; empty without one."""
    ms: int
    """Milliseconds."""
    outcome: Outcome
    """How it ended."""
    error: str | None = None
    """A short name of ours for the error."""
    started_at: datetime
    """When it began."""


class StepRecord(Value):
    """One run of a node, with whatever was tried in it."""

    step: StepName
    """Name of the node."""
    engine: Engine
    """Who was tried last."""
    model: str | None = None
    """The model that answered; none by rules."""
    started_at: datetime
    """When it began."""
    seconds: float
    """Its duration."""
    usage: Usage = Usage()
    """Of its calls to models."""
    outcome: Outcome
    """Of what was tried last."""
    error: str | None = None
    """Why the model did not answer, though rules did, or why nobody did. In short words of ours."""
    shortfalls: list[str] = Field(default_factory=list)
    """Parts of the answer that failed, each with the reason and its replacement."""
    tools: list[ToolExecution] = Field(default_factory=list)
    """Its tool calls, in order."""
    calls: list[ModelCall] = Field(default_factory=list)
    """Its requests to models, in order."""
    round: int = 1
    """Pass of searches and critic, from 1; of a fix the version of the patch."""
    iteration: int = 0
    """Number of the supervisor's decision that started it. Steps of one decision run in parallel."""

    @property
    def is_lookup(self) -> bool:
        return self.step in get_args(LookupName)


class PlannerDecision(Value):
    """What the supervisor chose to run next, and why."""

    number: int = Field(alias="step")
    """1 for the first decision of a run."""
    selected: list[str]
    """Names of the nodes that run next, side by side."""
    reason: str
    """Why, in words of ours."""
    timestamp: datetime
    """When it was made."""
    forced: bool = False
    """Whether a limit forced the decision."""

    @property
    def log_line(self) -> str:
        return f"Decision {self.number}: {' + '.join(self.selected)}: {self.reason}"


class Collector(Value):
    """Where spans go. The SDK reads its other variables itself; in a job these may have a login, and stand in none."""

    endpoint: SecretStr
    headers: SecretStr = SecretStr("")
    """`name=value,name=value`, percent-encoded."""
