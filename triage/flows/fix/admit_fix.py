"""Asks GitHub whether the person who commands may, before anything else is done. Each job asks again."""

from dataclasses import dataclass

from triage.approval.decide_approval import MORE_WORDS, NO_ID, role_problem
from triage.domain.issue import Issue
from triage.domain.task import FixTask
from triage.errors import TriageError
from triage.events.trigger_snapshot import approval_skip_reason
from triage.flows.fix.fix_flow import FixFlow

NO_WORDS = "say what to change, after the id."


@dataclass(frozen=True)
class AdmittedFix:
    issue: Issue
    """As GitHub shows it now."""
    role: str = ""
    refusal: str = ""
    """Why the command is not carried out, as the end of a sentence; empty if it may be."""

    @property
    def may_ask(self) -> bool:
        """Whether the person has write access, whatever is wrong with the command."""
        return not role_problem(self.role)


async def admit_fix(task: FixTask, flow: FixFlow) -> AdmittedFix:
    """Read the issue and the role of whoever commands.

    Raises:
        TriageError: The issue cannot be read.
    """
    context = flow.context
    what = f"Issue #{task.number}"
    issue = await context.ask_github(what, lambda: context.github.fetch_issue(task.number))
    if issue.is_pull_request or issue.locked:
        return AdmittedFix(issue, refusal="commands do not count on locked issues and on pull requests.")
    if reason := approval_skip_reason(issue, context.event_issue):
        return AdmittedFix(issue, refusal=reason[0].lower() + reason[1:])
    if not task.actor:  # started by hand, which takes write access
        return AdmittedFix(issue, role="write")
    try:
        role = await context.ask_github("The role of whoever asks", lambda: context.github.fetch_role(task.actor))
    except TriageError:
        role = "none"
    return AdmittedFix(issue, role, role_problem(role) or _form_problem(task))


def _form_problem(task: FixTask) -> str:
    if task.command == "fix":
        return ""
    if not task.proposal_id:
        return NO_ID
    if task.command == "revise" and not task.words:
        return NO_WORDS
    return MORE_WORDS if task.command == "approve" and task.words else ""
