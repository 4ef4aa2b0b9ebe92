"""The job that carries out an approval or a rejection. No model: exactly the stored commits become the branch."""

from triage.base.errors import TriageError
from triage.base.threads import in_thread
from triage.domain.proposal import PatchProposal, ProposalStatus
from triage.domain.run import Status
from triage.fix.check_approval import UNKNOWN_ID, is_expired
from triage.fix.commit_text import make_branch_name
from triage.fix.graph.fix_state import FixContext, FixState
from triage.fix.jobs.fix_job import (
    FixJob,
    FixRequest,
    describe_stored,
    format_reply,
    plan_proposal_part,
    render_refusal,
    write_reply,
    write_result,
)
from triage.fix.jobs.github_destination import GitHubDestination


async def apply_fix(request: FixRequest, job: FixJob) -> Status:
    """Carry out what a person decided about a stored patch, once."""
    task = request.task
    try:
        listed = await in_thread(job.store.list_proposals, task.number)
        waiting = next((one for one in listed if one.id == task.proposal_id), None)
        if waiting is None:
            return await _answer_without_proposal(request, job)
        return await _carry_out(request, waiting, job)
    except TriageError as error:
        return await write_reply(request, render_refusal(f"GitHub did not confirm it. {error}"), job)


async def _answer_without_proposal(request: FixRequest, job: FixJob) -> Status:
    """Answer an approval that was carried out before with what it has left, and any other command with a no."""
    task, branch = request.task, make_branch_name(request.task.number, request.issue.title)
    is_approval = task.command == "approve"
    commit, opened = await in_thread(job.store.find_approved, branch, task.proposal_id) if is_approval else ("", None)
    if not commit:
        return await write_reply(request, render_refusal(UNKNOWN_ID), job)
    outputs = {
        "proposal-id": task.proposal_id,
        "proposal-sha": commit,
        "proposal-status": ProposalStatus.APPROVED.value,
        "pull-request-url": opened.url if opened else "",
    }
    done = f"pull request {opened.number}" if opened else f"the branch is `{branch}`"
    return await write_reply(request, f"done already: {done}.", job, outputs, "+1")


async def _carry_out(request: FixRequest, waiting: PatchProposal, job: FixJob) -> Status:
    """Run the fix flow's graph from `human_review_gate` on, with the stored commits and the command as the answer."""
    from triage.fix.graph.fix_graph import run_fix

    run, issue = job.run, request.issue
    destination = GitHubDestination(request, waiting, job)

    async def give_command(*_: object) -> str:
        return request.task.command

    services = run.open_base_services()
    state = FixState(issue=issue, repository=run.repository, pending_mutation=destination.pending)
    state = await run_fix(state, FixContext(services, destination=destination), run.cancelled, give_command)
    if state.error:
        begun = "it was begun, and can be approved again. " if state.branch_name else ""
        return await _refuse_waiting(request, begun + state.error, waiting, job)
    outputs = describe_stored(waiting) | {"proposal-status": state.status.value}
    if state.status is ProposalStatus.REJECTED:
        effects = plan_proposal_part(issue, destination.text)
        return await write_result(job, destination.text, outputs, effects, "+1")
    outputs["pull-request-url"] = state.pr_url or ""
    return await write_result(job, destination.text, outputs, (), "+1", links=destination.links)


async def _refuse_waiting(request: FixRequest, reason: str, waiting: PatchProposal, job: FixJob) -> Status:
    """Say why a stored proposal is not carried out. One that is too old is deleted, and is not shown any more."""
    issue, text, outputs = request.issue, render_refusal(reason), describe_stored(waiting)
    if not is_expired(waiting, issue.snapshot_time or job.run.now()):
        outputs |= {"proposal-status": ProposalStatus.AWAITING.value}
        return await write_reply(request, text, job, outputs)
    if not job.run.policy.dry_run:
        await in_thread(job.store.delete, waiting)
    answer = format_reply(request.task, text)
    outputs |= {"proposal-status": ProposalStatus.EXPIRED.value}
    return await write_result(job, answer, outputs, plan_proposal_part(issue, answer), "confused")
