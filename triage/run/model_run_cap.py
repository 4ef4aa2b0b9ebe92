"""Limits how many runs a day may ask a model: a burst of issues must not cost more than one day's cap."""

from collections.abc import Collection
from datetime import datetime

from triage.base.errors import RateLimited, TriageError
from triage.domain.task import RUN_WINDOW, RunKey, TriageTask, Trigger
from triage.run.may_run.admission import WRITE_ROLES
from triage.run.run_context import JobContext, TriageRequest

MAX_MODEL_RUNS_PER_ISSUE = 5
"""Per issue and window: editing an issue again and again must not cost more than a few runs."""
UNCOUNTED_TRIGGERS = (Trigger.EDITED, Trigger.REOPENED)
UNCOUNTED = (
    "No comment of ours counts the runs on this issue, so rules answered: a model answers to `/triage`, and once "
    "there is a comment."
)
"""Otherwise a report that is not worth a comment could be edited, and paid for, without end."""


async def check_model_run_cap(request: TriageRequest, run: JobContext) -> str:
    """Return why rules answer though a model could; empty when a model may be asked.

    The cap does not hold for a request by number, nor for `/triage` by somebody with write access. When GitHub does
    not say how many issues came, a model is asked, unless GitHub says that it was asked too often: a burst does that.
    """
    cap, task = run.max_model_runs, request.task
    if cap is None or task.trigger is Trigger.REQUESTED:
        return ""
    if request.comment_state is None and task.trigger in UNCOUNTED_TRIGGERS and run.policy.comment != "always":
        run.progress.info(UNCOUNTED)
        return UNCOUNTED
    try:
        opened = await run.ask_github("The list of the newest issues", lambda: run.github.list_recent_issues(cap))
    except RateLimited as error:
        reason = f"{error} Too many issues may have come (`max-model-runs-per-day`): rules answered this one."
    except TriageError as error:
        run.progress.info(f"{error} `max-model-runs-per-day` could not be checked; the model is used.")
        return ""
    else:
        now = request.fetched_issue.snapshot_time or run.now()
        reason = rules_only_reason(opened, task.number, request.earlier_runs, now, cap)
    if not reason or (task.trigger is Trigger.COMMAND and await is_by_writer(task, run)):
        return ""
    run.progress.info(reason)
    return reason


async def is_by_writer(task: TriageTask, run: JobContext) -> bool:
    """Return whether GitHub confirms that whoever asked has write access; starting a workflow by hand needs it."""
    if task.trigger is not Trigger.COMMAND:
        return task.trigger is Trigger.REQUESTED
    try:
        role = await run.ask_github("The role of whoever asked", lambda: run.github.fetch_role(task.actor))
    except TriageError:
        return False
    return role in WRITE_ROLES


def rules_only_reason(
    recent_issues: Collection[int], number: int, earlier_runs: Collection[RunKey], now: datetime, max_runs: int
) -> str:
    """Why rules answer instead of a model; empty when a model may answer.

    This issue counts whenever it was opened. Its earlier runs count like issues, so an author of edits gains nothing.
    """
    runs_here = 1 + sum(run.at > now - RUN_WINDOW for run in earlier_runs)
    if runs_here > MAX_MODEL_RUNS_PER_ISSUE:
        return f"This issue has had its {MAX_MODEL_RUNS_PER_ISSUE} runs by a model in 24 hours: rules answered."
    if len(set(recent_issues) - {number}) + runs_here <= max_runs:
        return ""
    return f"More than {max_runs} issues came within 24 hours (`max-model-runs-per-day`): rules answered this one."
