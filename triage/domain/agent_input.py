"""What an agent reads: everything known so far about one issue. The state of the graph extends it."""

from pydantic import Field

from triage.domain.code import Excerpt, LookedUp, Place, RegressionWindow, Section
from triage.domain.findings import (
    AgentFinding,
    CodebaseFinding,
    CritiqueFinding,
    InvestigatorFinding,
    Kind,
    MissingInformation,
    RelevantFile,
    WebSearchFinding,
)
from triage.domain.issue import (
    AreaLabel,
    EarlierReport,
    FailingPackage,
    HumanExchange,
    Issue,
    KindReading,
    ParsedIssue,
    Repository,
)
from triage.domain.past_issues import OpenGap, SimilarIssue
from triage.domain.report import Citations
from triage.domain.skill import SkillTier
from triage.domain.task import Subject
from triage.domain.value import Value


class AgentInput(Value):
    issue: Issue
    """Its thread holds the comments of other people as the page shows them, once the issue was read."""
    repository: Repository
    parsed: ParsedIssue = ParsedIssue()
    wrong_subjects: list[Subject] = Field(default_factory=list)
    """What a person called wrong on this issue."""
    kind_reading: KindReading | None = None
    """What kind of issue its labels, its form and its text say it is, before any agent."""
    findings: list[AgentFinding] = Field(default_factory=list)
    investigation: InvestigatorFinding | None = None
    code_finding: CodebaseFinding | None = None
    web: WebSearchFinding | None = None
    critique: CritiqueFinding | None = None
    places: list[Place] = Field(default_factory=list)
    """Where a trace, a message or a name of the issue leads, the surest first."""
    documentation: list[Section] = Field(default_factory=list)
    """Sections that may answer the issue, likeliest first; none where the project does not wish it."""
    regression_window: RegressionWindow | None = None
    """What changed between the versions that the issue names."""
    citations: Citations = Citations()
    """Result of the check of what the codebase finding cites."""
    answered_questions: list[HumanExchange] = Field(default_factory=list)
    """Questions of earlier runs with the reporter's answers, oldest first."""
    earlier_report: EarlierReport | None = None
    """Of an earlier run on this issue."""
    similar_issues: list[SimilarIssue] = Field(default_factory=list)
    """Past issues like this one, likeliest first."""
    area_labels: list[AreaLabel] = Field(default_factory=list)
    """Labels that say what it is about, surest first, without those that it has."""
    form_labels: list[str] = Field(default_factory=list)
    """What the form has put on the issue."""
    searched_by_model: bool = False
    """Whether a model gave the codebase finding."""
    excerpts: list[Excerpt] = Field(default_factory=list)
    """The code that the model was shown, by number."""
    looked_up: list[LookedUp] = Field(default_factory=list)
    """What the codebase search has looked up so far."""
    search_terms: list[str] = Field(default_factory=list)
    """New terms from the critic's gaps; empty in the first round."""
    open_gap: OpenGap | None = None
    """What the last rounds looked for and did not find."""
    gap_questions: list[MissingInformation] = Field(default_factory=list)
    """What nobody looks for any more: a person is asked."""
    dependencies: list[str] = Field(default_factory=list)
    """Names of the packages that the project declares: a query for the web may have them."""
    failing_package: FailingPackage | None = None
    """Of somebody else, in which a trace ends."""
    active_skills: dict[str, SkillTier] = Field(default_factory=dict)
    """The project's skills that apply to the issue: id to tier, see `RunReport.active_skills`."""
    round: int = 1
    """Pass of searches and critic, from 1."""

    @property
    def best_place(self) -> Place | None:
        return self.places[0] if self.places else None

    @property
    def confidence(self) -> float:
        """The overall confidence: the codebase search's, else the investigator's, with the critic's adjustment."""
        finding = self.code_finding or self.investigation
        base = finding.confidence if finding else 0.1
        adjustment = self.critique.confidence_adjustment if self.critique else 0.0
        return round(max(0.0, min(1.0, base + adjustment)), 2)

    @property
    def kind(self) -> Kind | None:
        """What rules say that the issue is, else what a model says; None while that is uncertain."""
        if "kind" in self.wrong_subjects:
            return None
        return self.kind_by_rules or (self.investigation.kind if self.investigation else None)

    @property
    def kind_by_rules(self) -> Kind | None:
        return self.kind_reading.kind if self.kind_reading and "kind" not in self.wrong_subjects else None

    @property
    def may_be_bug_by_rules(self) -> bool:
        return self.kind_by_rules in ("bug", None)

    @property
    def is_security_report(self) -> bool:
        return self.kind_reading is not None and self.kind_reading.security

    @property
    def may_be_bug(self) -> bool:
        """Whether it is looked into as a bug: it is one, or nobody can say what it is."""
        return self.kind in ("bug", None)

    @property
    def may_be_answered(self) -> bool:
        """Whether a question or a request may be answered from code and documentation.

        Where an open issue or pull request is the same, that is the answer.
        """
        is_known = any(one.is_probably_same and one.state == "open" for one in self.similar_issues)
        return self.kind in ("question", "feature_request") and bool(self.documentation) and not is_known

    @property
    def hypothesis(self) -> str:
        """The critic's revised hypothesis, else the investigator's."""
        if self.critique and self.critique.revised_hypothesis:
            return self.critique.revised_hypothesis
        return self.investigation.hypothesis if self.investigation else ""

    @property
    def consecutive_failed_resolves(self) -> int:
        """Number of rounds in a row that did not close the same gap."""
        return self.open_gap.failed_resolves if self.open_gap else 0

    @property
    def missing_information(self) -> list[MissingInformation]:
        asked = self.investigation.missing_information if self.investigation else []
        return [*self.gap_questions, *self.critic_questions, *asked]

    @property
    def critic_questions(self) -> list[MissingInformation]:
        """What only the reporter can answer, and what the verdict depends on."""
        questions = self.critique.questions_for_reporter if self.critique else []
        return [
            MissingInformation(kind="other", question=question, reason="It decides between the possible causes.")
            for question in questions
            if question.strip()
        ]

    @property
    def relevant_files(self) -> list[RelevantFile]:
        return self.code_finding.relevant_files if self.code_finding else []

    @property
    def is_confirmed(self) -> bool:
        return self.critique is not None and self.critique.verdict == "CONFIRMED"
