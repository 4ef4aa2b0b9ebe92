"""Limits how many runs a day may ask a model: a burst of issues must not cost more than one day's cap."""

from triage.domain.task import TriageIssue, Trigger
from triage.errors import RateLimited, TriageError
from triage.events.admission import WRITE_ROLES
from triage.events.issue_burst import rules_only_reason
from triage.flows.deadlines import call_with_deadline
from triage.flows.flow_context import FlowContext
from triage.flows.triage_job import TriageJob


async def check_model_run_cap(job: TriageJob, context: FlowContext) -> str:
    """Return why rules answer though a model could; empty when a model may be asked.

    The cap does not hold for a request by number, nor for `/triage` by somebody with write access. When GitHub does
    not say how many issues came, a model is asked, unless GitHub says that it was asked too often: a burst does that.
    """
    cap, task = context.max_model_runs, job.task
    if cap is None or task.trigger is Trigger.REQUESTED:
        return ""
    try:
        opened = await call_with_deadline(
            "The list of the newest issues", lambda: context.github.list_recent_issues(cap), context
        )
    except RateLimited as error:
        reason = f"{error} Too many issues may have come (`max-model-runs-per-day`): rules answered this one."
    except TriageError as error:
        context.progress.info(f"{error} So `max-model-runs-per-day` could not be kept: a model is asked.")
        return ""
    else:
        now = job.fetched_issue.observed_at or context.now()
        reason = rules_only_reason(opened, task.number, job.earlier_runs, now, cap)
    if not reason or await _is_requested_by_writer(task, context):
        return ""
    context.progress.info(reason)
    return reason


async def _is_requested_by_writer(task: TriageIssue, context: FlowContext) -> bool:
    if task.trigger is not Trigger.COMMAND:
        return False
    try:
        role = await call_with_deadline("Who may ask", lambda: context.github.fetch_role(task.actor), context)
    except TriageError:
        return False
    return role in WRITE_ROLES
