"""What the graph remembers: plain data, no client, no index."""

from collections.abc import Callable, Mapping
from operator import add, or_
from typing import Annotated, Any

from pydantic import Field

from triage.domain.agent_input import AgentInput
from triage.domain.code import IndexFacts
from triage.domain.findings import AgentFinding, CriticVerdict
from triage.domain.issue import ParsedIssue, Repository
from triage.domain.past_issues import PastIssue
from triage.domain.report import RunReport, WriterOutput
from triage.domain.run import PlannerDecision, StepRecord

Update = dict[str, Any]
"""Fields of the state that a node changes."""


class BugTriageState(AgentInput):
    """One run: what the agents read, and what only the graph needs.

    A field that several nodes write in one superstep has a reducer; every other field has one writer.
    """

    repository: Repository = Repository(slug="")
    """Without a name only where a server has one checkout."""
    opening_post: ParsedIssue = ParsedIssue()
    """The issue without its comments: what it is about, and of which kind, no later word changes."""
    findings: Annotated[list[AgentFinding], add] = Field(default_factory=list)
    index_facts: IndexFacts | None = None
    past_issues: list[PastIssue] = Field(default_factory=list)
    """Between the nodes that fetch and that compare them only."""
    past_issue_count: int = 0
    """Number of past issues that this one was compared with."""
    critic_feedback: CriticVerdict | None = None
    """What the critique means for the next decision: no further round (approved), or one."""
    writer_output: WriterOutput | None = None
    report: RunReport | None = None

    ran_in_round: Annotated[dict[str, int], or_] = Field(default_factory=dict)
    """Agent to the last round that it answered in."""

    shown_skill_ids: list[str] = Field(default_factory=list)
    """The project's skills with whose text a model answered, in the order of the first answer."""
    skill_reasons: dict[str, list[str]] = Field(default_factory=dict)
    """Why each active skill applies. Only agents that see the code write these two, and `active_skills`."""

    iterations: int = 0
    """Decisions of the supervisor so far."""
    planner_decisions: Annotated[list[PlannerDecision], add] = Field(default_factory=list)
    steps: Annotated[list[StepRecord], add] = Field(default_factory=list)


REDUCERS: Mapping[str, Callable[[Any, Any], Any]] = {
    name: field.metadata[0] for name, field in BugTriageState.model_fields.items() if field.metadata
}


def apply_update(state: BugTriageState, update: Mapping[str, Any]) -> BugTriageState:
    """Return the state after a node, reduced as the graph would."""
    reduced = {name: REDUCERS[name](getattr(state, name), update[name]) for name in update if name in REDUCERS}
    return state.model_copy(update={**update, **reduced})
