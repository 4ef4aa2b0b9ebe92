"""What the graph remembers: plain data, no client, no index."""

from collections.abc import Callable, Mapping, Sequence
from operator import add, or_
from typing import Annotated, Any

from pydantic import BaseModel, Field

from triage.domain.agent_input import AgentInput
from triage.domain.code import IndexFacts
from triage.domain.findings import (
    AgentFinding,
    AgentName,
    CodebaseFinding,
    CriticVerdict,
    CritiqueFinding,
    InvestigatorFinding,
    WebSearchFinding,
    WriterOutput,
)
from triage.domain.issue import Issue, IssueComment, Reading, Repository
from triage.domain.report import Citations, Round, RunReport
from triage.domain.run import PlannerDecision, StepRecord, Usage


class BugTriageState(BaseModel):
    """One run. A field that several nodes write in one superstep has a reducer; every other field has one writer."""

    issue_number: int | None = None
    issue_title: str
    issue_body: str = ""
    issue_url: str = ""
    issue_author: str = ""
    labels: list[str] = Field(default_factory=list)
    human_exchanges: list[IssueComment] = Field(default_factory=list)
    repository: Repository

    reading: Reading = Reading()
    index: IndexFacts | None = None

    findings: Annotated[list[AgentFinding], add] = Field(default_factory=list)
    investigation: InvestigatorFinding | None = None
    codebase: CodebaseFinding | None = None
    citations: Citations = Citations()
    web: WebSearchFinding | None = None
    critique: CritiqueFinding | None = None
    critic_feedback: CriticVerdict | None = None
    gaps: list[str] = Field(default_factory=list)
    """Search terms from what the critic misses, for the next round."""
    output: WriterOutput | None = None
    report: RunReport | None = None

    round: int = 1
    """Passes of search and critic, at most three; the supervisor counts."""
    answered_in_round: Annotated[dict[str, int], or_] = Field(default_factory=dict)
    """Agent to the last round that it answered in."""
    by_rules: Annotated[list[AgentName], add] = Field(default_factory=list)
    """Agents whose model answered with `error`: their rules answer next."""

    current_node: str = ""
    iterations: int = 0
    rounds: Annotated[list[Round], add] = Field(default_factory=list)
    planner_decisions: Annotated[list[PlannerDecision], add] = Field(default_factory=list)
    steps: Annotated[list[StepRecord], add] = Field(default_factory=list)

    @property
    def usage(self) -> Usage:
        return sum((step.usage for step in self.steps), Usage())


REDUCERS: Mapping[str, Callable[[Any, Any], Any]] = {
    name: field.metadata[0] for name, field in BugTriageState.model_fields.items() if field.metadata
}


def apply_updates(state: BugTriageState, updates: Sequence[Mapping[str, Any]]) -> BugTriageState:
    """Return the state with the updates of nodes, reduced as the graph would."""
    for update in updates:
        reduced = {name: REDUCERS[name](getattr(state, name), update[name]) for name in update if name in REDUCERS}
        state = state.model_copy(update={**update, **reduced})
    return state


def create_state(issue: Issue, repository: Repository) -> BugTriageState:
    """Return the state before the first node. The index fills in the commit."""
    return BugTriageState(
        issue_number=issue.number,
        issue_title=issue.title,
        issue_body=issue.body,
        issue_url=issue.url,
        issue_author=issue.author,
        labels=issue.labels,
        human_exchanges=[comment for comment in issue.thread if not comment.ours],
        repository=repository,
    )


def build_agent_input(state: BugTriageState) -> AgentInput:
    return AgentInput(
        issue=Issue(
            number=state.issue_number,
            title=state.issue_title,
            body=state.issue_body,
            url=state.issue_url,
            author=state.issue_author,
            labels=state.labels,
            thread=state.human_exchanges,
        ),
        reading=state.reading,
        repository=state.repository,
        findings=state.findings,
        investigation=state.investigation,
        codebase=state.codebase,
        web=state.web,
        critique=state.critique,
        citations=state.citations,
        gaps=state.gaps,
        confidence=compute_confidence(state),
        round=state.round,
    )


def compute_confidence(state: BugTriageState) -> float:
    """Return the overall confidence: the codebase search's, else the investigator's, with the critic's adjustment."""
    finding = state.codebase or state.investigation
    base = finding.confidence if finding else 0.1
    adjustment = state.critique.confidence_adjustment if state.critique else 0.0
    return round(max(0.0, min(1.0, base + adjustment)), 2)
