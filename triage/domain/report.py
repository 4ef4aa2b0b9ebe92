"""The report of a run: what is published, and what `.triage/report.json` contains.

Its JSON schema is `docs/report.schema.json`. `schema_version` changes if a field is removed or changes its meaning.
Fields and values of enumerations may be added at any time.
"""

from datetime import datetime
from typing import Literal

from pydantic import Field

from triage.domain.code import (
    IndexFacts,
    LastChange,
    LaterChange,
    LaterFix,
    Place,
    QuotedLine,
    RegressionWindow,
    Section,
    Span,
    Suspect,
)
from triage.domain.findings import (
    AgentFinding,
    AgentFindingBase,
    CritiqueFinding,
    Effort,
    Kind,
    MissingInformation,
    Severity,
    Verdict,
    WebResult,
)
from triage.domain.issue import AreaLabel, FailingPackage
from triage.domain.past_issues import SimilarIssue
from triage.domain.run import Engine, Limits, PlannerDecision, Status, StepRecord, Usage
from triage.domain.skill import SkillTier, UsedSkill
from triage.domain.statement import Statement
from triage.domain.task import Subject
from triage.domain.value import Value

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
    """A file or lines of the indexed commit that a text names, or another commit."""

    text: str
    """As it is written, such as `b.py:12`."""
    path: str
    """Path of the file in the repository; empty for a commit."""
    span: Span | None = None
    """Lines; none for the whole file."""
    commit: str = ""
    """The commit's id, or its first ten characters; empty for a place."""


class CheckedEvidence(Value):
    """A claim and its place in the code. Evidence that could not be verified has no place."""

    claim: str
    """What it shows."""
    span: Span | None = None
    """Lines that show it; none if the issue itself does, or it could not be verified."""
    quote: str | None = None
    """A line of them, or of the issue."""
    verified: bool
    """Whether it stands there."""


class TriageReport(Value):
    """The writer's report: by rules, from what the agents found."""

    severity: Severity | None
    """None where nothing in the issue says how bad it is."""
    severity_reason: str
    confidence: float
    summary: str
    affected_files: list[Suspect]
    evidence: list[CheckedEvidence]


class WriterOutput(AgentFindingBase):
    """The writer's drafts, merged."""

    report: TriageReport
    github_comment_markdown: str
    """A model's explanation of the cause; empty without one. What is posted is made of statements."""
    ticket_title: str
    ticket_labels: list[str]
    ticket_assignee_suggestion: str
    ticket_effort_estimate: Effort


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
    """Citations that hold."""
    total: int = 0
    """All citations."""
    refused: list[str] = Field(default_factory=list)
    """Citations that do not hold, each with the reason."""


class Ticket(Value):
    """Fields for an issue tracker. The labels exist in the repository."""

    title: str
    """One line of at most 200 characters; words of the issue or of a model."""
    labels: list[str] = Field(default_factory=list)
    """Names of labels, at most five."""
    assignee: str = ""
    """Login or team of an owner; empty if nobody is known."""
    effort: Effort = "M"
    """Estimated effort of a fix."""


class IssueRef(Value):
    """The issue of the report."""

    number: int | None
    """None at a terminal, for a text."""
    title: str
    """As a reader sees it."""
    url: str
    """Its page; empty if there is none."""
    labels: list[str] = Field(default_factory=list)
    """Labels at the start of the run."""
    by_member: bool = False
    """By an owner, a member or a collaborator of the project."""
    edited_since: bool = False
    """Whether the text was edited after the event. The report is about the text before."""


class RunReport(Value):
    """Everything that a run found and did."""

    schema_version: Literal["2"] = SCHEMA_VERSION
    """Changes if a field is removed or changes its meaning; fields and values may be added at any time."""
    triage_version: str
    """Version of this program."""
    request_id: str
    """A UUID of the run. Each request to a model has it."""
    started_at: datetime
    """When the run began."""
    seconds: float
    """Duration of the run, to a tenth."""
    status: Status
    """How the run ended."""
    engine: Engine
    """Who was to answer: a model, or rules alone."""
    repository: str
    """`owner/name`, or the folder's name at a terminal."""
    server_url: str
    """Scheme and host of the GitHub server; empty if there is nothing to link to."""
    commit: str | None
    """Full SHA of the indexed commit; none for a folder without git."""
    issue: IssueRef
    """The issue of the report."""
    run_url: str = ""
    """The page of the job; empty at a terminal."""
    actor: str = ""
    """Login of who triggered the run; empty at a terminal, by schedule, and where the event names nobody."""
    feature_flags: dict[str, bool] = Field(default_factory=dict)
    """What was on: `model`, `web_search`, `embedding_model`, `memory`, `comment`, `labels`,
    `dry_run`."""
    ended_early: str = Field("", alias="cut")
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
    """None if the issue is no bug, or nothing says how bad it is."""
    severity_reason: str = ""
    """What says so: a sentence of the issue, or a model's reason."""
    confidence: float
    """That the report is right, from 0 to 1: the code search's, corrected by the critic."""
    summary: str
    """One sentence: the issue's first error message or its title, or what a model says of the cause."""
    why: str = ""
    """How the cause leads to the symptom, by a model: see `Explanation`."""
    fix_idea: str = ""
    """What to change, in a model's words."""
    check: str = ""
    """What would prove or refute it, in a model's words."""
    named_places: list[NamedPlace] = Field(default_factory=list)
    """What these three texts cite."""
    best_place: Place | None = Field(None, alias="found")
    """Where a trace, a message or a name of the issue leads; none if only shared words do."""
    other_places: list[Place] = Field(default_factory=list)
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
    past_issue_count: int = Field(0, alias="past_issues")
    """Number of past issues that this one was compared with."""
    owners: list[str] = Field(default_factory=list)
    """Of the first suspect, by CODEOWNERS: logins and teams, never a mention."""
    regression_window: RegressionWindow | None = None
    """The commits between a version that worked and one that does not."""
    later_fix: LaterFix | None = None
    """The commit after the reporter's version that is probably the fix."""
    later_change: LaterChange | None = None
    """The newest commit after the reporter's version that changed the lines of the first place."""
    last_change: LastChange | None = None
    """The commit that changed the lines of the first place last."""
    evidence: list[CheckedEvidence] = Field(default_factory=list)
    """What was checked: messages of the issue, and lines of the suspects."""
    missing_information: list[MissingInformation] = Field(default_factory=list)
    """What the report lacks, whether or not it is asked for."""
    external_references: list[WebResult] = Field(default_factory=list)
    """Pages of the web search that are about the same error."""
    ticket: Ticket
    """Fields for a tracker."""
    statements: list[Statement] = Field(default_factory=list)
    """What is said, in the order in which it is printed, see `say.decide`."""
    wrong_subjects: list[Subject] = Field(default_factory=list, alias="withdrawn")
    """What a person called wrong on this issue: nothing is said of it."""
    comment_reason: CommentReason | None = Field(None, alias="speaks")
    """Why the issue gets a comment: the first statement that speaks; or an earlier comment must not become stale, a
    person asked for the run, the input `comment` is `always`. None if it gets none."""
    comment: str | None = None
    """The comment as Markdown, without its hidden first line; none if the issue gets none."""

    critique: CritiqueFinding | None = None
    """The critic's judgement; none if it gave none, or the issue is no bug."""
    citations: Citations = Citations()
    """How many of the code search's citations hold."""
    hidden_fragments: int = 0
    """Parts of the issue that its readers do not see and that were left out."""
    language: str = "en"
    """Of the issue's text: ISO 639-1, for Chinese with its script (`zh-Hans`, `zh-Hant`); English where unsure."""
    notes: list[str] = Field(default_factory=list)
    """What is missing from this report and why, one sentence each."""

    findings: list[AgentFinding] = Field(default_factory=list)
    """What each agent found, in the order in which they answered."""
    decisions: list[PlannerDecision] = Field(default_factory=list)
    """What the supervisor chose."""
    steps: list[StepRecord] = Field(default_factory=list)
    """Everything that ran."""
    usage: Usage = Usage()
    """Of all calls to models."""
    limits: Limits = Limits()
    """The caps of the run."""
    index: IndexFacts | None = None
    """What was indexed; none if the code was not read."""
    skills: list[UsedSkill] = Field(default_factory=list)
    """The project's own guidance that applied to the issue."""
    active_skills: dict[str, SkillTier] = Field(default_factory=dict)
    """Id of each of these skills to its tier: 1 if it is only linked, 2 if a model answered with its text, 3 if it had
    files that the text references too."""
    shown_skill_ids: list[str] = Field(default_factory=list, alias="injected_skill_ids")
    """Those with whose text a model answered."""

    @property
    def may_be_bug_by_rules(self) -> bool:
        """Whether rules look into it as a bug: it is one, or they cannot say what it is."""
        return self.kind in ("bug", None) or self.kind_by_model
