"""The contracts of the five agents.

Field names follow the agents' specification and are public. A model fills these schemas, so every field is
required on the wire, no field is a free dictionary, and unknown fields are ignored rather than refused.

Models leave fields out, and fill them with words such as "N/A". The metadata here says what stands in.
"""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

AgentName = Literal["investigator", "codebase_search", "web_search", "critic", "writer"]
Kind = Literal["bug", "feature_request", "question", "documentation", "ci", "not_actionable"]
"""An issue whose kind is uncertain has none."""
Verdict = Literal["CONFIRMED", "UNCERTAIN", "CHALLENGED"]
Severity = Literal["CRITICAL", "HIGH", "MEDIUM", "LOW"]
Effort = Literal["XS", "S", "M", "L", "XL"]
MissingKind = Literal[
    "reproduction", "expected", "actual", "version", "environment", "error_output", "configuration", "other"
]


@dataclass(frozen=True)
class IfMissing:
    """What a field is set to when a model leaves it out, or when its value cannot be read."""

    value: str | float | bool


class Exact:
    """Marks a field that is taken as it is written: a text with its white space, a list only if all its items fit."""


def is_blank(value: Any) -> bool:
    """Return whether a value is none, or one of the words that models write for it."""
    return value is None or (
        isinstance(value, str)
        and value.strip(" \t\r\n.\"'`").casefold() in ("", "null", "none", "n/a", "na", "nil", "undefined")
    )


def is_no_error(value: Any) -> bool:
    """Return whether the `error` of an answer says that there was none."""
    words = ("0", "no", "no error", "no errors", "false", "ok", "success")
    return is_blank(value) or value is False or (isinstance(value, str) and value.strip(" .").casefold() in words)


def drop_blank(value: Any) -> Any:
    return None if is_blank(value) else value


def drop_blanks(value: Any) -> Any:
    """Drop the items of a list that say that there is none."""
    return [item for item in value if not is_blank(item)] if isinstance(value, list) else value


NullableText = Annotated[str | None, BeforeValidator(drop_blank)]
ErrorText = Annotated[str | None, BeforeValidator(lambda value: None if is_no_error(value) else value)]
Texts = Annotated[list[str], BeforeValidator(drop_blanks)]
OptionalText = Annotated[str, IfMissing("")]
SkillIds = Annotated[list[str], BeforeValidator(drop_blanks)]
"""Ids of the project's skills whose text the agent asks for."""
Confidence = Annotated[float, Field(ge=0.0, le=1.0), IfMissing(0.4)]
"""A probability. Missing, it is what the prompts ask for "a fitting suspicion"."""


class Answer(BaseModel):
    """Base of what a model may answer with."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    essential: ClassVar[tuple[str, ...]] = ()
    """Fields of which an answer must have at least one."""
    unasked: ClassVar[tuple[str, ...]] = ()
    """Fields that no model is asked for: our program fills them."""


class AgentFindingBase(Answer):
    """What every agent returns."""

    unasked = ("agent_name", "skills")
    agent_name: OptionalText
    summary: OptionalText
    confidence: Confidence
    reasoning: OptionalText
    error: ErrorText
    """Set if the agent could not do its work. Its other fields are ignored then."""


class AgentFinding(Answer):
    """An agent's answer as the graph's state stores it."""

    agent_name: str
    summary: str
    confidence: float = Field(ge=0.0, le=1.0)
    details: str
    relevant_files: list[str]
    reasoning: str = ""
    """How the agent came to it; a model's own words."""


class DeclinedAnswer(Answer):
    """A model that could not do its agent's work, and why in its own words."""

    agent_name: AgentName
    reason: str


class MissingInformation(Answer):
    """Something the report lacks, and why it is asked for."""

    kind: Annotated[MissingKind, IfMissing("other")]
    question: str
    reason: OptionalText


class InvestigatorFinding(AgentFindingBase):
    """What the issue says, before anybody looked at the code."""

    hypothesis: str
    affected_areas: Texts
    keywords_for_search: list[str]
    error_messages: list[str]
    kind: Kind | None
    """None if it is uncertain."""
    missing_information: list[MissingInformation]
    reproduction: Texts
    versions: Texts
    skills: SkillIds = Field(default_factory=list)


class RelevantFile(Answer):
    """A file that has to do with the bug. Lines are 1-based and inclusive."""

    path: str
    relevance_reason: OptionalText
    start_line: int | None
    end_line: int | None
    symbol: NullableText
    quote: NullableText


class CodebaseFinding(AgentFindingBase):
    """Where in the repository the bug lives, best file first."""

    essential = ("relevant_files", "root_cause_location")
    relevant_files: list[RelevantFile]
    root_cause_location: NullableText
    documented: list[RelevantFile] = Field(default_factory=list)
    """The line of the documentation that answers a question, or that has what is asked for."""
    skills: SkillIds = Field(default_factory=list)


class WebResult(Answer):
    """A page that the search returned."""

    title: OptionalText
    url: str
    relevance_reason: OptionalText


class WebSearchFinding(AgentFindingBase):
    """What is known outside about the symptom."""

    essential = ("relevant_results", "external_root_cause", "summary")
    relevant_results: list[WebResult]
    external_root_cause: NullableText


class CritiqueFinding(AgentFindingBase):
    """The critic's judgement of all that was found."""

    verdict: Verdict
    confidence_adjustment: Annotated[float, Field(ge=-1.0, le=1.0), IfMissing(0.0)]
    gaps: Texts
    """What only this repository's code can answer: a further round looks it up."""
    questions_for_reporter: Texts
    """What only the reporter can answer."""
    gaps_outside: Texts
    """What only pages outside of the repository can answer."""
    revised_hypothesis: NullableText
    ready_for_report: Annotated[bool, IfMissing(False)]
    skills: SkillIds = Field(default_factory=list)


class CriticVerdict(Answer):
    """The critique as the supervisor routes on it."""

    verdict: Literal["APPROVED", "REJECTED"]
    gaps: list[str]
    required_evidence: list[str]
    confidence: float = Field(ge=0.0, le=1.0)


class PlannerProposal(Answer):
    """A supervising model's proposal for the next agents. The routing rules decide whether it is accepted."""

    essential = ("selected",)
    selected: list[AgentName]
    reason: OptionalText
    confidence: Confidence


class AffectedFile(Answer):
    """A suspect, as the writer names it."""

    path: str
    start_line: int | None
    end_line: int | None
    symbol: NullableText
    reason: OptionalText


class Evidence(Answer):
    """A claim and the place that shows it; `path` is none for what the issue itself shows."""

    claim: str
    path: NullableText
    start_line: int | None
    end_line: int | None
    quote: NullableText


class TriageReport(Answer):
    """The writer's report, its explanation, and its ticket."""

    unasked = (
        *("confidence", "affected_files", "evidence", "reproduction", "missing_information", "suggested_fix"),
        *("external_references", "skills"),
    )
    severity: Severity | None
    """None where nothing in the issue says how bad it is."""
    severity_reason: OptionalText
    confidence: Confidence
    summary: str
    why: OptionalText = ""
    """Of a bug; with the next two, the paragraphs of the comment."""
    fix_idea: OptionalText = ""
    check: OptionalText = ""
    root_cause: str
    affected_files: list[AffectedFile]
    evidence: list[Evidence]
    reproduction: Texts
    missing_information: list[MissingInformation]
    next_steps: Texts
    suggested_fix: NullableText
    external_references: list[WebResult]
    skills: SkillIds = Field(default_factory=list)
    title: OptionalText = ""
    labels: Texts = Field(default_factory=list)
    assignee: NullableText = None
    effort: OptionalText = ""


class WriterOutput(AgentFindingBase):
    """The writer's drafts, merged."""

    report: TriageReport
    github_comment_markdown: str
    ticket_title: str
    ticket_labels: list[str]
    ticket_assignee_suggestion: str
    ticket_effort_estimate: Effort
