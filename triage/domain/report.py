"""The report of a run: what is published, and what `.triage/report.json` contains.

Its JSON schema is `docs/report.schema.json`. `schema_version` changes if a field is removed or changes its meaning.
Fields and values of enumerations may be added at any time.
"""

from datetime import datetime
from typing import Literal

from pydantic import AliasChoices, Field

from triage.domain.code import (
    BestPlace,
    IndexFacts,
    LastChange,
    LaterChange,
    LaterFix,
    NewerRelease,
    QuotedLine,
    RegressionWindow,
    Section,
    Span,
    Suspect,
)
from triage.domain.findings import (
    AgentFinding,
    CritiqueFinding,
    DeclinedAnswer,
    Effort,
    Kind,
    MissingInformation,
    Severity,
    Verdict,
    WebResult,
)
from triage.domain.issue import AreaLabel, FailingPackage
from triage.domain.past_issues import SimilarIssue
from triage.domain.run import Engine, Fault, Limits, PlannerDecision, Status, StepRecord, Usage
from triage.domain.skill import SkillTier, UsedSkill
from triage.domain.statement import Statement
from triage.domain.task import Subject
from triage.domain.value import RENAMED_FIELDS, Value

SCHEMA_VERSION: Literal["2"] = "2"
CommentReason = Literal[
    "security",
    "duplicate",
    "fixed",
    "regression",
    "elsewhere",
    "documented",
    "analysis",
    "found",
    "question",
    "update",
    "asked",
    "always",
]
"""Why a report is worth a comment: the first statement that speaks, else what else there is."""
MAX_LABELS = 5
"""Labels of one report."""


class NamedPlace(Value):
    """A file or lines of the indexed commit that a text names."""

    text: str
    """As it is written, such as `b.py:12`."""
    path: str
    span: Span | None = None


class CheckedEvidence(Value):
    """A claim and its place in the code. Evidence that could not be verified has no place."""

    claim: str
    span: Span | None = None
    quote: str | None = None
    verified: bool


class Explanation(Value):
    """What a model says of the cause: something that it cites was shown to it, and no critic refuses it."""

    summary: str
    why: str
    fix_idea: str = ""
    check: str = ""
    severity: Severity | None = None
    severity_reason: str = ""
    named_places: list[NamedPlace] = Field(default_factory=list)

    def as_text(self) -> str:
        """Return the paragraphs with their labels."""
        parts = {"Why": self.why, "Fix idea": self.fix_idea, "Check": self.check}
        return "\n\n".join(f"{label}: {text}" for label, text in parts.items() if text)


class Citations(Value):
    """Result of the check of what the codebase search cites: numbers and lines that it was shown."""

    verified: int = 0
    total: int = 0
    refused: list[str] = Field(default_factory=list)
    """Citations that do not hold, each with the reason."""


class Ticket(Value):
    """Fields for an issue tracker. The labels exist in the repository."""

    title: str
    labels: list[str] = Field(default_factory=list)
    assignee: str = ""
    effort: Effort = "M"


class IssueRef(Value):
    """The issue of the report."""

    number: int | None
    title: str
    url: str
    labels: list[str] = Field(default_factory=list)
    """Labels at the start of the run."""
    edited_since: bool = False
    """Whether the text was edited after the event. The report is about the text before."""


class Round(Value):
    """One round of search and critic."""

    number: int
    searched_for: list[str] = Field(default_factory=list)
    """Words from the critic's gaps of the previous round; empty in the first."""
    added: list[str] = Field(default_factory=list)
    """Files that no earlier round found."""
    verdict: Verdict | None = None
    """The critic's verdict; none without an answer."""


class RunReport(Value):
    """Everything that a run found and did."""

    model_config = RENAMED_FIELDS

    schema_version: Literal["2"] = SCHEMA_VERSION
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
    actor: str = ""
    """Login of who triggered the run; empty at a terminal, by schedule, and where the event names nobody."""
    feature_flags: dict[str, bool] = Field(default_factory=dict)
    """What was on: `model`, `web_search`, `embedding_model`, `memory`, `comment`, `labels`,
    `dry_run`."""
    ended_early: str = Field("", serialization_alias="cut", validation_alias=AliasChoices("cut", "ended_early"))
    """Why the run ended early; empty if it did not."""

    kind: Kind | None
    """None if it is uncertain."""
    kind_by_model: bool = False
    """Whether only a model says so: what rules do with an uncertain kind stays."""
    kind_probability: float | None = None
    """By the text and the labels of the issue; none if they do not say it clearly enough to claim the kind."""
    security: bool = False
    """Whether the issue may report a vulnerability. Then nothing that is published tells more about it."""
    security_policy: str | None = None
    """Path of the repository's SECURITY.md."""
    verdict: Verdict | None
    """None if the issue is not a bug, or the critic gave no answer."""
    severity: Severity | None
    severity_reason: str = ""
    confidence: float
    summary: str
    root_cause: str
    why: str = ""
    """How the cause leads to the symptom, by a model: see `Explanation`."""
    fix_idea: str = ""
    """What to change, in a model's words."""
    check: str = ""
    """What would prove or refute it, in a model's words."""
    named_places: list[NamedPlace] = Field(default_factory=list)
    """What these three texts cite."""
    best_place: BestPlace | None = Field(
        None, serialization_alias="found", validation_alias=AliasChoices("found", "best_place")
    )
    """Where a trace, a message or a name of the issue leads; none if only shared words do."""
    other_places: list[BestPlace] = Field(default_factory=list)
    """Where other facts of the issue lead, in other files."""
    failing_package: FailingPackage | None = None
    """Somebody else's, in which a trace ends."""
    suspects: list[Suspect] = Field(default_factory=list)
    """For a feature request: places where it may go."""
    likely_files: list[Suspect] = Field(default_factory=list)
    """By rules, the likeliest first, whatever a model suspects."""
    documentation: list[Section] = Field(default_factory=list)
    """Of a question or a feature request: sections that may answer it, likeliest first."""
    documented: QuotedLine | None = None
    """The line that answers it, as a model chose it and the commit has it."""
    similar_issues: list[SimilarIssue] = Field(default_factory=list)
    """Past issues like this one, likeliest first."""
    possible_duplicate: SimilarIssue | None = None
    """The past issue that this one is probably the same as; none if that is not likely enough."""
    area_labels: list[AreaLabel] = Field(default_factory=list)
    """Labels that say what it is about, with what says so: those in the ticket, and further ones."""
    past_issues: int = 0
    """Number of past issues that this one was compared with."""
    owners: list[str] = Field(default_factory=list)
    """Of the first suspect, by CODEOWNERS: logins and teams, never a mention."""
    regression_window: RegressionWindow | None = None
    newer_release: NewerRelease | None = None
    later_fix: LaterFix | None = None
    later_change: LaterChange | None = None
    last_change: LastChange | None = None
    evidence: list[CheckedEvidence] = Field(default_factory=list)
    reproduction: list[str] = Field(default_factory=list)
    missing_information: list[MissingInformation] = Field(default_factory=list)
    next_steps: list[str] = Field(default_factory=list)
    suggested_fix: str | None = None
    external_references: list[WebResult] = Field(default_factory=list)
    ticket: Ticket
    statements: list[Statement] = Field(default_factory=list)
    """What is said, in the order in which it is printed, see `say.decide`."""
    withdrawn: list[Subject] = Field(default_factory=list)
    """What a person called wrong on this issue: nothing is said of it."""
    comment_reason: CommentReason | None = Field(
        None, serialization_alias="speaks", validation_alias=AliasChoices("speaks", "comment_reason")
    )
    """Why the issue gets a comment: the first statement that speaks; or an earlier comment must not become stale, a
    person asked for the run, the input `comment` is `always`. None if it gets none."""
    comment: str | None = None
    """The comment as Markdown, without its hidden first line; none if the issue gets none."""

    critique: CritiqueFinding | None = None
    citations: Citations = Citations()
    hidden_fragments: int = 0
    language: str = "en"
    """Of the issue's text: ISO 639-1, for Chinese with its script (`zh-Hans`, `zh-Hant`); English where unsure."""
    declined: list[DeclinedAnswer] = Field(default_factory=list)
    """Models that said they could not do an agent's work, with their reason. Rules answered then."""
    notes: list[str] = Field(default_factory=list)
    """What is missing from this report and why, one sentence each."""

    findings: list[AgentFinding] = Field(default_factory=list)
    rounds: list[Round] = Field(default_factory=list)
    decisions: list[PlannerDecision] = Field(default_factory=list)
    steps: list[StepRecord] = Field(default_factory=list)
    faults: list[Fault] = Field(default_factory=list)
    """Everything in `steps` that failed, and what was done instead."""
    usage: Usage = Usage()
    limits: Limits = Limits()
    index: IndexFacts | None = None
    skills: list[UsedSkill] = Field(default_factory=list)
    """The project's own guidance that applied to the issue."""
    active_skills: dict[str, SkillTier] = Field(default_factory=dict)
    """Id of each of these skills to its tier: 1 if it is only linked, 2 if a model answered with its text, 3 if it had
    files that the text references too."""
    shown_skill_ids: list[str] = Field(
        default_factory=list,
        serialization_alias="injected_skill_ids",
        validation_alias=AliasChoices("injected_skill_ids", "shown_skill_ids"),
    )
    """Those with whose text a model answered."""

    @property
    def may_be_bug(self) -> bool:
        """Whether rules look into it as a bug: it is one, or they cannot say what it is."""
        return self.kind in ("bug", None) or self.kind_by_model
