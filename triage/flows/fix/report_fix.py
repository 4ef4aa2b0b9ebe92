"""The job that writes the comment: the proposal and what the project's tests said, or why there is none."""

from collections.abc import Sequence

from triage.domain.effect import Effect
from triage.domain.issue import Issue
from triage.domain.patch import PatchDraft
from triage.domain.proposal import ProposalStatus, StoredProposal
from triage.domain.task import FixTask
from triage.flows.fix.admit_fix import admit_fix
from triage.flows.fix.fix_comment import plan_answer_part, plan_proposal_part
from triage.flows.fix.fix_flow import (
    FixFlow,
    FixResult,
    describe_stored,
    finish,
    format_command,
    parse_result,
    plan_reaction,
)
from triage.flows.flow_context import FlowResult
from triage.patches.draft_hash import hash_draft
from triage.publish.answer_line import render_answer
from triage.publish.proposal_text import render_abandoned, render_awaiting, render_unstored
from triage.threads import run_in_daemon_thread

NO_RESULT = "The job that writes the patch failed before it could say why. See its log."


async def report_fix(task: FixTask, flow: FixFlow) -> FlowResult:
    admitted = await admit_fix(task, flow)
    if admitted.refusal:
        answer = render_answer(format_command(task), task.actor or "a workflow", f"not done: {admitted.refusal}")
        effects = [*plan_answer_part(admitted.issue, answer), *plan_reaction(flow, "confused")]
        return await finish(flow, answer, {"proposal-status": ProposalStatus.NONE.value}, effects)
    result = parse_result(flow.read_result()) or FixResult(error=NO_RESULT)
    draft = result.draft
    if draft is None:
        return await _report_nothing(task, result, admitted.issue, flow)
    stored = await flow.context.ask_github("The proposals", lambda: _find_stored(draft, task.number, flow))
    return await _report_draft(draft, stored, admitted.issue, flow)


def _find_stored(draft: PatchDraft, number: int, flow: FixFlow) -> StoredProposal | None:
    wanted = hash_draft(draft)
    found = [one for one in flow.store.list_proposals(number) if one.proposal.draft == wanted and not one.is_branch]
    return found[-1] if found else None


async def _report_nothing(task: FixTask, result: FixResult, issue: Issue, flow: FixFlow) -> FlowResult:
    text = render_abandoned(result.error)
    answer = render_answer(format_command(task), task.actor or "a workflow", text)
    is_revision = task.command == "revise" and result.status is not ProposalStatus.ABANDONED
    # A revision that failed leaves the version before it, which can still be approved.
    edits: Sequence[Effect] = plan_answer_part(issue, answer) if is_revision else plan_proposal_part(issue, answer)
    return await finish(
        flow, text, {"proposal-status": result.status.value}, [*edits, *plan_reaction(flow, "confused")]
    )


async def _report_draft(draft: PatchDraft, stored: StoredProposal | None, issue: Issue, flow: FixFlow) -> FlowResult:
    files = await run_in_daemon_thread(lambda: flow.open_files(draft.base))
    if stored is None:
        text = await run_in_daemon_thread(lambda: render_unstored(draft, files))
        effects = [*plan_proposal_part(issue, text), *plan_reaction(flow, "confused")]
        return await finish(flow, text, {"proposal-status": ProposalStatus.NONE.value}, effects)
    repository = flow.context.repository
    outputs = describe_stored(stored)
    text = await run_in_daemon_thread(
        lambda: render_awaiting(
            draft,
            files,
            stored.proposal,
            outputs["proposal-id"],
            tests=flow.tests,
            diff_url=f"{repository.server_url}/{repository.slug}/commit/{stored.proposal.commit}",
            run_url=flow.run_url,
        )
    )
    comment = plan_proposal_part(issue, text, proposal_id=outputs["proposal-id"], tests=flow.tests)
    outputs |= {"proposal-tests": flow.tests, "proposal-status": ProposalStatus.AWAITING.value}
    return await finish(flow, text, outputs, [*comment, *plan_reaction(flow, "rocket")])
