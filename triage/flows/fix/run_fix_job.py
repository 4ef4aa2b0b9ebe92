"""Chooses the job of the fix flow by the input `fix`."""

from triage.domain.task import FixStage, FixTask, Skip
from triage.errors import GitHubUnavailable, IssueMoved
from triage.flows.fix.apply_fix import apply_fix
from triage.flows.fix.fix_flow import FixFlow
from triage.flows.fix.freeze_fix import freeze_fix
from triage.flows.fix.gate_fix import gate_fix
from triage.flows.fix.propose_fix import propose_fix
from triage.flows.fix.report_fix import report_fix
from triage.flows.flow_context import FlowResult
from triage.flows.write_results import write_skip, write_unfinished

JOBS = {
    "gate": gate_fix,
    "propose": propose_fix,
    "freeze": freeze_fix,
    "report": report_fix,
    "apply": apply_fix,
}


async def run_fix_job(stage: FixStage, task: FixTask | Skip, flow: FixFlow) -> FlowResult:
    """Do what this job does of the fix flow.

    Raises:
        SetupError: The workflow's author must fix something.
    """
    if isinstance(task, Skip):
        return write_skip(task.reason, flow.context)
    try:
        return await JOBS[stage](task, flow)
    except IssueMoved as error:
        return write_skip(str(error), flow.context)
    except GitHubUnavailable as error:
        return write_unfinished(str(error), flow.context)
