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
Confidence = Annotated[float, Field(ge=0.0, le=1.0), IfMissing(0.4)]
"""A probability. Missing, it is what the prompts ask for "a fitting suspicion"."""


class Answer(BaseModel):
    """Base of what a model may answer with."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    at_least_one_of: ClassVar[tuple[str, ...]] = ()
    """Fields of which an answer must have at least one."""
    unasked: ClassVar[tuple[str, ...]] = ()
    """Fields that no model is asked for: our program fills them."""


def _put_judgement_last(schema: dict[str, Any]) -> None:
    # A model writes the fields in this order: what it concludes comes after what it has thought.
    properties = schema["properties"]
    schema["properties"] = {
        name: properties[name]
        for name in sorted(properties, key=lambda name: name in ("confidence", "summary", "error"))
    }


class AgentFindingBase(Answer):
    """What every agent returns."""

    model_config = ConfigDict(json_schema_extra=_put_judgement_last)
    unasked: ClassVar[tuple[str, ...]] = ("agent_name",)
    agent_name: OptionalText = ""
    """Which agent answered."""
    reasoning: OptionalText
    """How it came to its answer."""
    confidence: Confidence
    """In its answer, from 0 to 1."""
    summary: OptionalText
    """The answer in a sentence."""
    error: ErrorText = None
    """Set if the agent could not do its work. Its other fields are ignored then."""


class AgentFinding(Answer):
    """An agent's answer as the graph's state stores it."""

    agent_name: str
    """Which agent answered."""
    summary: str
    """The answer in a sentence."""
    confidence: float = Field(ge=0.0, le=1.0)
    """In the answer, from 0 to 1."""
    details: str
    """The answer at length."""
    relevant_files: list[str]
    """What it refers to: paths, addresses of pages, or what the critic misses."""
    reasoning: str = ""
    """How the agent came to it; a model's own words."""


class MissingInformation(Answer):
    """Something the report lacks, and why it is asked for."""

    kind: Annotated[MissingKind, IfMissing("other")]
    """What is missing."""
    question: str
    """The question to the reporter."""
    reason: OptionalText
    """Why it is asked for; may be empty."""


class InvestigatorFinding(AgentFindingBase):
    """What the issue says, before anybody looked at the code."""

    unasked = (*AgentFindingBase.unasked, "affected_areas", "error_messages")
    hypothesis: str
    keywords_for_search: list[str]
    kind: Kind | None
    """None if it is uncertain."""
    missing_information: list[MissingInformation]
    affected_areas: Texts = Field(default_factory=list)
    error_messages: list[str] = Field(default_factory=list)


class RelevantFile(Answer):
    """A place of the indexed commit that has to do with the bug. Lines are 1-based and inclusive."""

    path: str
    relevance_reason: str
    start_line: int | None = None
    end_line: int | None = None
    symbol: str | None = None
    quote: str | None = None


class CitedPlace(Answer):
    """A place as a model cites it: by the number of what it was shown, and lines."""

    cite: str
    """Such as `7:1551-1553`."""
    reason: OptionalText


class CodebaseFinding(AgentFindingBase):
    """Where in the repository the bug lives, best file first, and how it comes about."""

    at_least_one_of = ("places",)
    unasked = (*AgentFindingBase.unasked, "relevant_files", "root_cause_location", "likely_files", "quoted_lines")
    places: list[CitedPlace] = Field(default_factory=list)
    """What a model cites; the program looks it up and fills the next two."""
    relevant_files: list[RelevantFile] = Field(default_factory=list)
    root_cause_location: str | None = None
    documented: list[CitedPlace] = Field(default_factory=list)
    """The line of the documentation that answers a question, or that has what is asked for."""
    quoted_lines: list[RelevantFile] = Field(default_factory=list)
    """These lines, with their text."""
    likely_files: list[RelevantFile] = Field(default_factory=list)
    """By rules, the likeliest first, also where a model answers."""
    why: OptionalText = ""
    """With the next two, the paragraphs of the comment. They cite as `places` do, in brackets."""
    fix_idea: OptionalText = ""
    check: OptionalText = ""
    severity: Severity | None = None
    """None where nothing in the issue says how bad it is."""
    severity_reason: OptionalText = ""


class WebResult(Answer):
    """A page that the search returned."""

    title: OptionalText
    """Its title."""
    url: str
    """Its address."""
    relevance_reason: OptionalText
    """What it has to do with the issue."""


class WebSearchFinding(AgentFindingBase):
    """What is known outside about the symptom."""

    at_least_one_of = ("relevant_results", "external_root_cause", "summary")
    relevant_results: list[WebResult]
    external_root_cause: NullableText


class CritiqueFinding(AgentFindingBase):
    """The critic's judgement of all that was found."""

    unasked = (*AgentFindingBase.unasked, "confidence_adjustment", "ready_for_report")
    verdict: Verdict
    """What it says of the first suspect and the cause."""
    confidence_adjustment: float = Field(0.0, ge=-1.0, le=1.0)
    """By rules: a model has one confidence, that of its verdict."""
    gaps: Texts
    """What only this repository's code can answer: a further round looks it up."""
    questions_for_reporter: Texts
    """What only the reporter can answer."""
    revised_hypothesis: NullableText
    """A better hypothesis; none if it has none."""
    ready_for_report: bool = False
    """Whether no further round is needed."""


class CriticVerdict(Answer):
    """The critique as the supervisor routes on it."""

    verdict: Literal["APPROVED", "REJECTED"]
    gaps: list[str]
    required_evidence: list[str]
    confidence: float = Field(ge=0.0, le=1.0)


class TicketDraft(Answer):
    """What a model would write into an issue tracker."""

    labels: Texts
    assignee: NullableText
    effort: OptionalText
    title: OptionalText
