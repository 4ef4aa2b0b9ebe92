"""The first job: it only reads, and says which jobs follow. `issue_comment` starts a workflow for anybody."""

from triage.domain.task import FixTask
from triage.flows.fix.admit_fix import admit_fix
from triage.flows.fix.fix_flow import FixFlow, finish, format_command
from triage.flows.flow_context import FlowResult
from triage.publish.answer_line import render_answer


async def gate_fix(task: FixTask, flow: FixFlow) -> FlowResult:
    admitted = await admit_fix(task, flow)
    if admitted.refusal:
        text = render_answer(format_command(task), task.actor or "a workflow", f"not done: {admitted.refusal}")
        return await finish(flow, text, {"fix-task": "answer"})
    following = "propose" if task.makes_proposal else "apply"
    return await finish(flow, f"The next job: {following}.", {"fix-task": following})
