"""Asks GitHub whether the person who commands may, before anything else is done. Each job asks again."""

from dataclasses import dataclass

from triage.approval.decide_approval import MORE_WORDS, NO_ID, role_problem
from triage.base.errors import TriageError
from triage.base.threads import run_in_daemon_thread
from triage.domain.issue import Issue
from triage.domain.task import FixTask
from triage.events.trigger_snapshot import approval_skip_reason
from triage.fix.jobs.fix_flow import FixFlow

OFF_START = (
    "Commit {commit} is not on the default branch, so a pull request would bring other commits along. Start the "
    "workflow on the default branch."
)
NO_WORDS = "say what to change, after the id."


@dataclass(frozen=True)
class AdmittedFix:
    issue: Issue
    """As GitHub shows it now."""
    role: str
    refusal: str = ""
    """Why the command is not carried out, as the end of a sentence; empty if it may be."""

    @property
    def may_ask(self) -> bool:
        """Whether the person has write access, whatever is wrong with the command. Nothing is written for others."""
        return not role_problem(self.role)


async def admit_fix(task: FixTask, flow: FixFlow) -> AdmittedFix:
    """Read the issue and the role of whoever commands.

    Raises:
        TriageError: The issue cannot be read.
    """
    context = flow.context
    what = f"Issue #{task.number}"
    issue = await context.ask_github(what, lambda: context.github.fetch_issue(task.number))
    role = await _read_role(task, flow)
    return AdmittedFix(issue, role, role_problem(role) or _command_problem(task, issue, flow))


async def _read_role(task: FixTask, flow: FixFlow) -> str:
    if not task.actor:  # started by hand, which takes write access
        return "write"
    context = flow.context
    try:
        return await context.ask_github("The role of whoever asks", lambda: context.github.fetch_role(task.actor))
    except TriageError:
        return "none"


def _command_problem(task: FixTask, issue: Issue, flow: FixFlow) -> str:
    if issue.is_pull_request or issue.locked:
        return "commands do not count on locked issues and on pull requests."
    if reason := approval_skip_reason(issue, flow.context.event_issue):
        return reason[0].lower() + reason[1:]
    if not task.actor or task.command == "fix":
        return ""
    if not task.proposal_id:
        return NO_ID
    if task.command == "revise" and not task.words:
        return NO_WORDS
    return MORE_WORDS if task.command == "approve" and task.words else ""


async def find_start_problem(flow: FixFlow) -> str:
    """Return why no patch may start from the commit of the checkout, as a sentence; empty if one may.

    Raises:
        TriageError: The checkout or GitHub cannot be read.
    """
    commit = (await run_in_daemon_thread(lambda: flow.open_files("HEAD"))).commit
    store = flow.store
    is_on_it = await flow.context.ask_github("The default branch", lambda: store.is_on_default_branch(commit))
    return "" if is_on_it else OFF_START.format(commit=commit[:12])
