"""The contracts of the five agents.

Field names follow the agents' specification and are public. A model fills these schemas, so every field is
required on the wire, no field is a free dictionary, and unknown fields are ignored rather than refused.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

AgentName = Literal["investigator", "codebase_search", "web_search", "critic", "writer"]
Kind = Literal["bug", "feature_request", "question", "not_actionable"]
Verdict = Literal["CONFIRMED", "UNCERTAIN", "CHALLENGED"]
Severity = Literal["CRITICAL", "HIGH", "MEDIUM", "LOW"]
Effort = Literal["XS", "S", "M", "L", "XL"]
MissingKind = Literal[
    "reproduction", "expected", "actual", "version", "environment", "error_output", "configuration", "other"
]


class Answer(BaseModel):
    """Base of what a model may answer with."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class AgentFindingBase(Answer):
    """What every agent returns."""

    agent_name: str
    summary: str
    confidence: float = Field(ge=0.0, le=1.0)
    reasoning: str
    error: str | None
    """Set if the agent could not do its work. Its other fields are ignored then."""


class AgentFinding(Answer):
    """An agent's answer as the graph's state stores it."""

    agent_name: str
    summary: str
    confidence: float = Field(ge=0.0, le=1.0)
    details: str
    relevant_files: list[str]


class MissingInformation(Answer):
    """Something the report lacks, and why it is asked for."""

    kind: MissingKind
    question: str
    reason: str


class InvestigatorFinding(AgentFindingBase):
    """What the issue says, before anybody looked at the code."""

    hypothesis: str
    affected_areas: list[str]
    keywords_for_search: list[str]
    error_messages: list[str]
    kind: Kind
    missing_information: list[MissingInformation]
    reproduction: list[str]
    versions: list[str]


class RelevantFile(Answer):
    """A file that has to do with the bug. Lines are 1-based and inclusive."""

    path: str
    relevance_reason: str
    start_line: int | None
    end_line: int | None
    symbol: str | None
    quote: str | None


class CodebaseFinding(AgentFindingBase):
    """Where in the repository the bug lives, best file first."""

    relevant_files: list[RelevantFile]
    root_cause_location: str | None


class WebResult(Answer):
    """A page that the search returned."""

    title: str
    url: str
    relevance_reason: str


class WebSearchFinding(AgentFindingBase):
    """What is known outside about the symptom."""

    relevant_results: list[WebResult]
    external_root_cause: str | None


class CritiqueFinding(AgentFindingBase):
    """The critic's judgement of all that was found."""

    verdict: Verdict
    confidence_adjustment: float = Field(ge=-1.0, le=1.0)
    gaps: list[str]
    revised_hypothesis: str | None
    ready_for_report: bool


class CriticVerdict(Answer):
    """The critique as the supervisor routes on it."""

    verdict: Literal["APPROVED", "REJECTED"]
    gaps: list[str]
    required_evidence: list[str]
    confidence: float = Field(ge=0.0, le=1.0)


class PlannerProposal(Answer):
    """A supervising model's proposal for the next agents. The routing rules decide whether it is accepted."""

    selected: list[AgentName]
    reason: str
    confidence: float = Field(ge=0.0, le=1.0)


class AffectedFile(Answer):
    """A suspect, as the writer names it."""

    path: str
    start_line: int | None
    end_line: int | None
    symbol: str | None
    reason: str


class Evidence(Answer):
    """A claim and the place that shows it; `path` is none for what the issue itself shows."""

    claim: str
    path: str | None
    start_line: int | None
    end_line: int | None
    quote: str | None


class TriageReport(Answer):
    """The writer's report."""

    severity: Severity | None
    """None where nothing in the issue says how bad it is."""
    severity_reason: str
    confidence: float = Field(ge=0.0, le=1.0)
    summary: str
    root_cause: str
    affected_files: list[AffectedFile]
    evidence: list[Evidence]
    reproduction: list[str]
    missing_information: list[MissingInformation]
    next_steps: list[str]
    suggested_fix: str | None
    external_references: list[WebResult]


class WriterOutput(AgentFindingBase):
    """The writer's three drafts, merged."""

    report: TriageReport
    github_comment_markdown: str
    ticket_title: str
    ticket_labels: list[str]
    ticket_assignee_suggestion: str
    ticket_effort_estimate: Effort
