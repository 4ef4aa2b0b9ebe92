"""What an agent reads: everything known so far about one issue."""

from pydantic import Field

from triage.domain.findings import AgentFinding, CodebaseFinding, CritiqueFinding, InvestigatorFinding, WebSearchFinding
from triage.domain.issue import Issue, Reading, Repository
from triage.domain.report import Citations
from triage.domain.value import Value


class AgentInput(Value):
    """A snapshot of the run's state."""

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
    """What the critic still misses; empty in the first round."""
    confidence: float = 0.5
    """Overall confidence, with the critic's adjustment."""
    round: int = 1
