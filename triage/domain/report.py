"""The run's report: what is published, and what `.triage/report.json` holds.

Its JSON schema is published as `docs/report.schema.json`; `schema_version` changes when a field is removed or
changes its meaning. Fields, and values of fields that are named in words, may be added at any time.
"""

from datetime import datetime
from typing import Literal

from pydantic import Field

from triage.domain.code import IndexFacts, Span
from triage.domain.fault import Fault
from triage.domain.findings import (
    AgentFinding,
    CritiqueFinding,
    Effort,
    Kind,
    MissingInformation,
    Severity,
    Verdict,
    WebResult,
)
from triage.domain.run import Engine, Limits, PlannerDecision, Status, StepRecord, Usage
from triage.domain.value import Value

SCHEMA_VERSION: Literal["1"] = "1"


class Suspect(Value):
    """A file that was found in the indexed commit; `span` only when its lines were found too."""

    path: str
    span: Span | None = None
    symbol: str | None = None
    reason: str


class CheckedEvidence(Value):
    """A claim with its place. Unverified evidence keeps its words and loses its place."""

    claim: str
    span: Span | None = None
    quote: str | None = None
    verified: bool


class Citations(Value):
    """Outcome of looking up every path, line range and quote that an agent named."""

    verified: int = 0
    total: int = 0
    refused: list[str] = Field(default_factory=list)
    """What could not be verified, each with the reason, in our words and the cited path."""


class Ticket(Value):
    """Fields for whatever tracker the project uses. Labels exist in the repository."""

    title: str
    labels: list[str] = Field(default_factory=list)
    assignee: str = ""
    effort: Effort = "M"


class IssueRef(Value):
    """Which issue the report is about."""

    number: int | None
    title: str
    url: str
    labels: list[str] = Field(default_factory=list)
    """Those that it had when the run began."""
    edited_since: bool = False
    """Its text was edited after what triggered the run; the report is about the text before that."""


class Round(Value):
    """A pass of search and critic, and what it brought."""

    number: int
    searched_for: list[str] = Field(default_factory=list)
    """Words from the critic's gaps that the round before it left; empty in the first."""
    added: list[str] = Field(default_factory=list)
    """Files that no earlier round had named."""
    verdict: Verdict | None = None
    """The critic's at its end; none when the critic gave no answer."""


class RunReport(Value):
    """Everything a run found and did."""

    schema_version: Literal["1"] = SCHEMA_VERSION
    triage_version: str
    request_id: str
    started_at: datetime
    seconds: float
    status: Status
    engine: Engine
    repository: str
    server_url: str
    commit: str | None
    issue: IssueRef
    run_url: str = ""
    cut: str = ""
    """Why the run ended before its end, in our words; empty when it did not."""

    kind: Kind
    verdict: Verdict | None
    """None for what is no bug, and when the critic never answered."""
    severity: Severity | None
    severity_reason: str = ""
    confidence: float
    summary: str
    root_cause: str
    suspects: list[Suspect] = Field(default_factory=list)
    evidence: list[CheckedEvidence] = Field(default_factory=list)
    reproduction: list[str] = Field(default_factory=list)
    missing_information: list[MissingInformation] = Field(default_factory=list)
    next_steps: list[str] = Field(default_factory=list)
    suggested_fix: str | None = None
    external_references: list[WebResult] = Field(default_factory=list)
    ticket: Ticket
    analysis: str = ""
    """The model's own words as inert Markdown; empty by rules."""
    critique: CritiqueFinding | None = None
    citations: Citations = Citations()
    hidden_fragments: int = 0
    notes: list[str] = Field(default_factory=list)
    """What is missing from this report and why, one sentence each."""

    findings: list[AgentFinding] = Field(default_factory=list)
    rounds: list[Round] = Field(default_factory=list)
    decisions: list[PlannerDecision] = Field(default_factory=list)
    steps: list[StepRecord] = Field(default_factory=list)
    faults: list[Fault] = Field(default_factory=list)
    """Everything in `steps` that went wrong, and what was done instead."""
    usage: Usage = Usage()
    """What this run paid for."""
    reused: Usage = Usage()
    """`calls` replies were found in the cache and cost nothing now; the rest is what they took when they were paid."""
    limits: Limits = Limits()
    index: IndexFacts | None = None
