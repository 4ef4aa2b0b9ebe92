"""The job that carries out an approval or a rejection. No model: exactly the stored commits become the branch."""

from collections.abc import Sequence

from triage.approval.decide_approval import (
    DRY_RUN,
    EDITED_COMMENT,
    UNKNOWN_ID,
    ApprovalFacts,
    is_expired,
    proposal_problem,
)
from triage.approval.owner_rights import owner_problem
from triage.approval.proposal_id import compute_proposal_id
from triage.base.errors import TriageError
from triage.base.threads import run_in_daemon_thread
from triage.comment.hidden_state import hash_text, parse_state
from triage.domain.effect import Effect
from triage.domain.issue import Issue
from triage.domain.proposal import PatchProposal, ProposalStatus, PullRequest, StoredProposal
from triage.domain.run import Status
from triage.domain.task import FixTask
from triage.fix.jobs.admit_fix import AdmittedFix, admit_fix
from triage.fix.jobs.approved_change import ApprovedChange
from triage.fix.jobs.fix_comment import plan_answer_part, plan_proposal_part, read_shown_id
from triage.fix.jobs.fix_flow import FixFlow, describe_stored, finish, format_command, plan_reaction
from triage.fix.proposal_text import render_rejected
from triage.jobs.flow_context import FlowResult
from triage.safety.code_owners import CodeOwners
from triage.writes.answer_line import render_answer
from triage.writes.deduplicate import find_our_comment

NO_PATCH = "The id names no patch of this issue."


async def apply_fix(task: FixTask, flow: FixFlow) -> FlowResult:
    """Carry out what a person decided about a stored patch, once."""
    admitted = await admit_fix(task, flow)
    if not admitted.may_ask:
        return await finish(flow, admitted.refusal, {}, status=Status.SKIPPED)
    if admitted.refusal:
        return await _refuse(task, admitted.issue, admitted.refusal, flow)
    try:
        stored = await run_in_daemon_thread(lambda: flow.store.list_proposals(task.number))
        named = [one for one in stored if compute_proposal_id(one.proposal) == task.proposal_id]
        waiting = next((one for one in named if not one.is_branch), None)
        branch = next((one for one in named if one.is_branch), None)
        if waiting is None and branch is None:
            if task.command == "reject":  # the workflow that triages answers for suggestions
                return await finish(flow, NO_PATCH, {}, status=Status.SKIPPED)
            return await _refuse(task, admitted.issue, UNKNOWN_ID, flow)
        if task.command == "reject":
            return await _reject(task, admitted.issue, waiting, flow)
        is_reported = read_shown_id(admitted.issue) != task.proposal_id  # the comment says already what was done
        if branch is not None and (waiting is None or (is_reported and await _has_pull_request(branch, flow))):
            return await _say_what_exists(task, admitted.issue, branch, waiting, flow)
        assert waiting is not None
        reason = await run_in_daemon_thread(lambda: _find_reason(task, admitted, waiting, flow))
        if reason:
            return await _refuse(task, admitted.issue, reason, flow, waiting)
        return await _carry_out(task, admitted.issue, waiting, flow)
    except TriageError as error:
        return await _refuse(task, admitted.issue, f"GitHub did not confirm it. {error}", flow)


def _find_reason(task: FixTask, admitted: AdmittedFix, waiting: StoredProposal, flow: FixFlow) -> str:
    """Return why the patch may not be carried out; empty if it may. Asks GitHub."""
    context, issue, proposal = flow.context, admitted.issue, waiting.proposal
    facts = ApprovalFacts(
        repository=context.repository.slug,
        issue=task.number,
        issue_text=hash_text(issue.title, issue.body),
        role=admitted.role,
        now=issue.snapshot_time or context.now(),
    )
    if reason := proposal_problem(proposal, facts) or _find_unseen(task, issue, flow):
        return reason
    is_off = not flow.store.is_on_default_branch(proposal.base)
    changed = flow.store.list_changed_on_base(proposal)
    facts = facts.model_copy(update={"is_off_default_branch": is_off, "changed_paths": changed})
    if flow.approvers == "owners":
        facts = facts.model_copy(update={"owner_problem": _find_owner_problem(task.actor, proposal, flow)})
    return proposal_problem(proposal, facts) or (DRY_RUN if context.policy.dry_run else "")


def _find_owner_problem(login: str, proposal: PatchProposal, flow: FixFlow) -> str:
    text = flow.store.read_code_owners()
    if text is None:
        return ""  # nobody owns anything
    return owner_problem(login, flow.store.read_files(proposal), CodeOwners(text), flow.context.config)


def _find_unseen(task: FixTask, issue: Issue, flow: FixFlow) -> str:
    """Return why nobody can have seen this proposal; empty if our comment shows it and nobody else has edited that."""
    comment = find_our_comment(issue)
    record = flow.context.approvals.read_comment_record(comment.comment_id or 0) if comment else None
    if record is None or not record.is_ours_alone:
        return EDITED_COMMENT
    state = parse_state(record.body)
    return "" if state and state.proposal == task.proposal_id else UNKNOWN_ID


async def _carry_out(task: FixTask, issue: Issue, waiting: StoredProposal, flow: FixFlow) -> FlowResult:
    """Run the last nodes of the fix flow's graph, from the gate on, with the stored commits."""
    from triage.approval.verdict import Decision, Verdict
    from triage.fix.graph.fix_context import FixContext
    from triage.fix.graph.fix_state import FixState
    from triage.fix.graph.run_fix import run_fix

    context = flow.context
    target = ApprovedChange(task, issue, waiting, flow)
    services = (context.open_offline_services or context.open_services)()
    fix_context = FixContext(services, verdict=Verdict(decision=Decision.APPROVE), target=target)
    state = FixState(
        issue=issue,
        repository=context.repository,
        stored=waiting.proposal,
        hitl_approval_id=task.proposal_id,
        hitl_reviewer_id=task.actor,
        hitl_reviewer_strategy=flow.approvers,
    )
    state = await run_fix(state, fix_context, context.cancelled)
    if state.error:
        begun = "it was begun, and can be approved again. " if state.branch_name else ""
        return await _refuse(task, issue, begun + state.error, flow)
    outputs = describe_stored(waiting) | {
        "proposal-status": ProposalStatus.APPROVED.value,
        "pull-request-url": state.pr_url or "",
    }
    return await finish(flow, target.text, outputs, plan_reaction(flow, "+1"))


async def _reject(task: FixTask, issue: Issue, waiting: StoredProposal | None, flow: FixFlow) -> FlowResult:
    if waiting is None:
        return await _refuse(task, issue, "it was approved already, and is a branch now.", flow)
    if flow.context.policy.dry_run:
        return await _refuse(task, issue, DRY_RUN, flow)
    await run_in_daemon_thread(lambda: flow.store.delete(waiting))
    text = render_rejected(task.actor or "a workflow", task.words)
    outputs = describe_stored(waiting) | {"proposal-status": ProposalStatus.REJECTED.value}
    return await finish(flow, text, outputs, [*plan_proposal_part(issue, text), *plan_reaction(flow, "+1")])


async def _has_pull_request(branch: StoredProposal, flow: FixFlow) -> bool:
    return await _find_pull_request(branch, flow) is not None


async def _find_pull_request(branch: StoredProposal, flow: FixFlow) -> PullRequest | None:
    return await run_in_daemon_thread(lambda: flow.store.find_pull_request(branch.branch_name, branch.proposal.commit))


async def _say_what_exists(
    task: FixTask, issue: Issue, branch: StoredProposal, waiting: StoredProposal | None, flow: FixFlow
) -> FlowResult:
    """Answer an approval that was carried out before, perhaps by a run that was killed before it could say so."""
    found = await _find_pull_request(branch, flow)
    if waiting is not None and not flow.context.policy.dry_run:
        await run_in_daemon_thread(lambda: flow.store.delete(waiting))
    url = found.url if found else ""
    text = f"done already: pull request {found.number}." if found else "done already: the branch exists."
    answer = render_answer(format_command(task), task.actor or "a workflow", text)
    outputs = describe_stored(branch) | {"proposal-status": ProposalStatus.APPROVED.value, "pull-request-url": url}
    return await finish(flow, answer, outputs, [*plan_answer_part(issue, answer), *plan_reaction(flow, "+1")])


async def _refuse(
    task: FixTask,
    issue: Issue,
    reason: str,
    flow: FixFlow,
    waiting: StoredProposal | None = None,
) -> FlowResult:
    status = ProposalStatus.AWAITING if waiting else ProposalStatus.NONE
    answer = render_answer(format_command(task), task.actor or "a workflow", f"not done: {reason}")
    effects: Sequence[Effect] = plan_answer_part(issue, answer)
    if waiting and is_expired(waiting.proposal, issue.snapshot_time or flow.context.now()):
        status = ProposalStatus.EXPIRED
        effects = plan_proposal_part(issue, answer)
        if not flow.context.policy.dry_run:
            await run_in_daemon_thread(lambda: flow.store.delete(waiting))
    outputs = describe_stored(waiting) | {"proposal-status": status.value}
    return await finish(flow, answer, outputs, [*effects, *plan_reaction(flow, "confused")])
