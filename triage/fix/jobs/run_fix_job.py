"""Chooses the job of the fix flow by the input `fix`."""

from triage.base.errors import BadInput, GitHubUnavailable, IssueMoved
from triage.domain.task import FixCommand, FixStage, FixTask, Skip
from triage.fix.jobs.apply_fix import apply_fix
from triage.fix.jobs.fix_flow import FixFlow
from triage.fix.jobs.freeze_fix import freeze_fix
from triage.fix.jobs.gate_fix import gate_fix
from triage.fix.jobs.propose_fix import propose_fix
from triage.fix.jobs.report_fix import report_fix
from triage.jobs.flow_context import FlowResult
from triage.jobs.write_results import write_skip, write_unfinished

MAKING: frozenset[FixCommand] = frozenset({"fix", "revise"})
COMMANDS: dict[str, frozenset[FixCommand]] = {
    "gate": frozenset({"fix", "revise", "approve", "reject"}),
    "propose": MAKING,
    "freeze": MAKING,
    "report": frozenset({"fix", "revise", "approve", "reject"}),
    "apply": frozenset({"approve", "reject"}),
}
"""What each job carries out. The gate answers for all."""
UNSEEN = "comment: never cannot be used with fix: nobody could see what they approve."
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
    if flow.context.policy.comment == "never":
        raise BadInput(UNSEEN)
    if task.command not in COMMANDS[stage]:
        return write_skip(f"`/triage {task.command}` is not for the job with `fix: {stage}`.", flow.context)
    try:
        return await JOBS[stage](task, flow)
    except IssueMoved as error:
        return write_skip(str(error), flow.context)
    except GitHubUnavailable as error:
        return write_unfinished(str(error), flow.context)
