"""The first job: it only reads, and says which jobs follow. `issue_comment` starts a workflow for anybody."""

from triage.domain.run import Status
from triage.domain.task import FixTask
from triage.fix.jobs.admit_fix import admit_fix, find_start_problem
from triage.fix.jobs.fix_flow import FixFlow, finish, format_command
from triage.jobs.flow_context import FlowResult
from triage.writes.answer_line import render_answer


async def gate_fix(task: FixTask, flow: FixFlow) -> FlowResult:
    admitted = await admit_fix(task, flow)
    if not admitted.may_ask:  # no job follows: whatever strangers write, and how often, nobody answers
        return await finish(flow, admitted.refusal, {}, status=Status.SKIPPED)
    refusal = admitted.refusal or (await find_start_problem(flow) if task.makes_proposal else "")
    if refusal:
        text = render_answer(format_command(task), task.actor or "a workflow", f"not done: {refusal}")
        return await finish(flow, text, {"fix-task": "answer"})
    following = "propose" if task.makes_proposal else "apply"
    return await finish(flow, f"The next job: {following}.", {"fix-task": following})
