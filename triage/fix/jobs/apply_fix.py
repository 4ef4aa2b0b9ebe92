"""The job that carries out an approval or a rejection. No model: exactly the stored commits become the branch."""

from triage.base.errors import TriageError
from triage.base.threads import in_thread
from triage.domain.proposal import PatchProposal, ProposalStatus, PullRequest
from triage.domain.run import Status
from triage.fix.check_approval import UNKNOWN_ID, is_expired
from triage.fix.graph.fix_state import FixContext, FixState
from triage.fix.jobs.fix_job import (
    FixJob,
    FixRequest,
    describe_stored,
    format_answer,
    format_refusal,
    plan_answer_part,
    plan_proposal_part,
    plan_reaction,
    read_shown_commit,
    write_refusal,
    write_result,
)
from triage.fix.jobs.pull_request_tool import GitHubPullRequestTool


async def apply_fix(request: FixRequest, job: FixJob) -> Status:
    """Carry out what a person decided about a stored patch, once."""
    task = request.task
    try:
        listed = await in_thread(job.store.list_proposals, task.number)
        named = [one for one in listed if one.id == task.proposal_id]
        waiting = next((one for one in named if not one.is_approved), None)
        approved = next((one for one in named if one.is_approved), None)
        if waiting is None and approved is None:
            return await write_refusal(request, UNKNOWN_ID, job)
        if approved is not None and task.command == "approve":
            is_still_asked = read_shown_commit(request.issue) == approved.commit  # the comment does not say it is done
            opened = await in_thread(job.store.find_pull_request, approved.branch_name, approved.commit)
            if waiting is None or (opened and not is_still_asked):
                return await _answer_done_before(request, approved, opened, waiting, job)
        if waiting is None:
            return await write_refusal(request, "it was approved already, and is a branch now.", job)
        return await _carry_out(request, waiting, job)
    except TriageError as error:
        return await write_refusal(request, f"GitHub did not confirm it. {error}", job)


async def _carry_out(request: FixRequest, waiting: PatchProposal, job: FixJob) -> Status:
    """Run the fix flow's graph from `human_review_gate` on, with the stored commits and the command as the answer."""
    from triage.fix.graph.fix_graph import run_fix

    run, issue = job.run, request.issue
    tool = GitHubPullRequestTool(request, waiting, job)

    async def give_command(*_: object) -> str:
        return request.task.command

    services = run.open_base_services()
    state = FixState(issue=issue, repository=run.repository, pending_mutation=tool.pending)
    state = await run_fix(state, FixContext(services, tool=tool), run.cancelled, give_command)
    if state.error:
        begun = "it was begun, and can be approved again. " if state.branch_name else ""
        return await _refuse_waiting(request, begun + state.error, waiting, job)
    outputs = describe_stored(waiting) | {"proposal-status": state.status.value}
    if state.status is ProposalStatus.REJECTED:
        return await write_result(
            job, tool.text, outputs, [*plan_proposal_part(issue, tool.text), *plan_reaction(job, "+1")]
        )
    outputs["pull-request-url"] = state.pr_url or ""
    return await write_result(job, tool.text, outputs, plan_reaction(job, "+1"), links=tool.links)


async def _answer_done_before(
    request: FixRequest, approved: PatchProposal, opened: PullRequest | None, waiting: PatchProposal | None, job: FixJob
) -> Status:
    """Answer an approval that was carried out before, perhaps by a run that was killed before it could say so."""
    if waiting is not None and not job.run.policy.dry_run:
        await in_thread(job.store.delete, waiting)
    url = opened.url if opened else ""
    done = f"pull request {opened.number}" if opened else "the branch exists"
    answer = format_answer(request.task, f"done already: {done}.")
    outputs = describe_stored(approved) | {"proposal-status": ProposalStatus.APPROVED.value, "pull-request-url": url}
    return await write_result(
        job, answer, outputs, [*plan_answer_part(request.issue, answer), *plan_reaction(job, "+1")]
    )


async def _refuse_waiting(request: FixRequest, reason: str, waiting: PatchProposal, job: FixJob) -> Status:
    """Say why a stored proposal is not carried out. One that is too old is deleted, and is not shown any more."""
    issue, answer = request.issue, format_refusal(request.task, reason)
    has_expired = is_expired(waiting, issue.snapshot_time or job.run.now())
    if has_expired and not job.run.policy.dry_run:
        await in_thread(job.store.delete, waiting)
    effects = plan_proposal_part(issue, answer) if has_expired else plan_answer_part(issue, answer)
    status = ProposalStatus.EXPIRED if has_expired else ProposalStatus.AWAITING
    outputs = describe_stored(waiting) | {"proposal-status": status.value}
    return await write_result(job, answer, outputs, [*effects, *plan_reaction(job, "confused")])
