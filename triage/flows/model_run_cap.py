"""May a model be asked, or have too many issues come in a day?"""

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any

from triage.domain.task import Ran, TriageIssue, Trigger
from triage.errors import RateLimited, TriageError
from triage.events.admission import WRITERS
from triage.events.issue_burst import flooded
from triage.ports import GitHub, Journal

Ask = Callable[[str, Callable[[], Any]], Awaitable[Any]]
"""Puts a question to GitHub, named as a sentence begins."""


async def why_rules(
    task: TriageIssue, ran: list[Ran], now: datetime, most: int, github: GitHub, journal: Journal, ask: Ask
) -> str:
    """Why rules answer though a model could; empty when it may be asked.

    A request by number, and `/triage` by somebody with write access, are not held back. When GitHub does not tell how
    many issues came, a model is asked; unless it says that it was asked too often: a flood does that.
    """
    if task.trigger is Trigger.REQUESTED:
        return ""
    try:
        opened = await ask("The list of the newest issues", lambda: github.opened_lately(most))
    except RateLimited as error:
        reason = f"{error} Too many issues may have come (`max-model-runs-per-day`): rules answered this one."
    except TriageError as error:
        journal.note(f"{error} So `max-model-runs-per-day` could not be kept: a model is asked.")
        return ""
    else:
        reason = flooded(opened, task.number, ran, now, most)
    if not reason or await _by_writer(task, github, ask):
        return ""
    journal.note(reason)
    return reason


async def _by_writer(task: TriageIssue, github: GitHub, ask: Ask) -> bool:
    if task.trigger is not Trigger.COMMAND:
        return False
    try:
        return await ask("Who may ask", lambda: github.role(task.actor)) in WRITERS
    except TriageError:
        return False
