"""May a model be asked, or have too many issues come in a day?"""

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any

from triage.domain.task import PastRun, TriageIssue, Trigger
from triage.errors import RateLimited, TriageError
from triage.events.admission import WRITE_ROLES
from triage.events.issue_burst import rules_only_reason
from triage.ports import GitHub, ProgressLog

AskGitHub = Callable[[str, Callable[[], Any]], Awaitable[Any]]
"""Puts a question to GitHub, named as a sentence begins."""


async def check_model_run_cap(
    task: TriageIssue,
    ran: list[PastRun],
    now: datetime,
    most: int,
    github: GitHub,
    journal: ProgressLog,
    ask: AskGitHub,
) -> str:
    """Why rules answer though a model could; empty when it may be asked.

    A request by number, and `/triage` by somebody with write access, are not held back. When GitHub does not tell how
    many issues came, a model is asked; unless it says that it was asked too often: a flood does that.
    """
    if task.trigger is Trigger.REQUESTED:
        return ""
    try:
        opened = await ask("The list of the newest issues", lambda: github.list_recent_issues(most))
    except RateLimited as error:
        reason = f"{error} Too many issues may have come (`max-model-runs-per-day`): rules answered this one."
    except TriageError as error:
        journal.info(f"{error} So `max-model-runs-per-day` could not be kept: a model is asked.")
        return ""
    else:
        reason = rules_only_reason(opened, task.number, ran, now, most)
    if not reason or await _is_requested_by_writer(task, github, ask):
        return ""
    journal.info(reason)
    return reason


async def _is_requested_by_writer(task: TriageIssue, github: GitHub, ask: AskGitHub) -> bool:
    if task.trigger is not Trigger.COMMAND:
        return False
    try:
        return await ask("Who may ask", lambda: github.fetch_role(task.actor)) in WRITE_ROLES
    except TriageError:
        return False
