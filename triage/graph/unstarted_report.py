"""The report of a run that was cancelled before its graph began; LangGraph, a second's load, is not needed for it."""

from triage.domain.issue import Issue, Repository
from triage.domain.report import RunReport
from triage.graph.finish import assemble
from triage.graph.triage_state import opening
from triage.ports import Services
from triage.reading.read_issue import read

CANCELLED = "The run was cancelled before it looked anything up: this is what the issue's text says."


def unstarted(issue: Issue, repository: Repository, services: Services) -> RunReport:
    """What the issue's text alone tells."""
    state = opening(issue, repository).model_copy(update={"reading": read(issue)})
    return assemble(state, services, CANCELLED).model_copy(update={"notes": [CANCELLED]})
