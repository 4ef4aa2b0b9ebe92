"""The report of a run that is cancelled before its graph starts. It does not load LangGraph, which takes a second."""

from triage.domain.issue import Issue, Repository
from triage.domain.report import RunReport
from triage.graph.finish import build_report
from triage.graph.triage_state import create_state
from triage.ports import Services
from triage.reading.read_issue import read_issue

CANCELLED = "The run was cancelled before it looked anything up: this is what the issue's text says."


def build_unstarted_report(issue: Issue, repository: Repository, services: Services) -> RunReport:
    """Return the report of what the issue's text says."""
    state = create_state(issue, repository).model_copy(update={"reading": read_issue(issue)})
    return build_report(state, services, CANCELLED).model_copy(update={"notes": [CANCELLED]})
