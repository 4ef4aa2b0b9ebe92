"""What an agent reads: everything known so far about one issue."""

from pydantic import Field

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
from triage.domain.issue import Issue, Reading, Repository
from triage.domain.report import Citations
from triage.domain.value import Value


class AgentInput(Value):
    issue: Issue
    reading: Reading
    repository: Repository
    findings: list[AgentFinding] = Field(default_factory=list)
    investigation: InvestigatorFinding | None = None
    codebase: CodebaseFinding | None = None
    web: WebSearchFinding | None = None
    critique: CritiqueFinding | None = None
    citations: Citations = Citations()
    """Result of the check of the codebase finding's references."""
    gaps: list[str] = Field(default_factory=list)
    """Search terms from what the critic still misses; empty in the first round."""
    confidence: float = 0.5
    """Overall confidence, with the critic's adjustment."""
    round: int = 1

    @property
    def kind(self) -> Kind:
        """What the issue is; a bug until the investigator says otherwise."""
        return self.investigation.kind if self.investigation else "bug"

    @property
    def missing_information(self) -> list[MissingInformation]:
        return self.investigation.missing_information if self.investigation else []

    @property
    def suspects(self) -> list[RelevantFile]:
        return self.codebase.relevant_files if self.codebase else []

    @property
    def is_confirmed(self) -> bool:
        return self.critique is not None and self.critique.verdict == "CONFIRMED"
