"""The job that carries out an approval or a rejection. No model: exactly the stored commits become the branch."""

from collections.abc import Sequence

from triage.approval.decide_approval import UNKNOWN_ID, is_expired
from triage.base.errors import TriageError
from triage.base.threads import in_thread
from triage.domain.effect import Effect
from triage.domain.issue import Issue
from triage.domain.proposal import ProposalStatus, PullRequest, StoredProposal
from triage.domain.run import Status
from triage.domain.task import FixTask
from triage.fix.jobs.fix_job import (
    AdmittedFix,
    FixJob,
    admit_fix,
    describe_stored,
    finish,
    format_command,
    plan_answer_part,
    plan_proposal_part,
    plan_reaction,
    read_shown_commit,
)
from triage.fix.jobs.pull_request_tool import GitHubPullRequestTool
from triage.jobs.run import RunResult
from triage.writes.suggestion_proposal import render_answer

NO_PATCH = "The id names no patch of this issue."


async def apply_fix(task: FixTask, job: FixJob) -> RunResult:
    """Carry out what a person decided about a stored patch, once."""
    admitted = await admit_fix(task, job)
    if not admitted.may_ask:
        return await finish(job, admitted.refusal, {}, status=Status.SKIPPED)
    if admitted.refusal:
        return await _refuse(task, admitted.issue, admitted.refusal, job)
    try:
        stored = await in_thread(job.store.list_proposals, task.number)
        named = [one for one in stored if one.proposal.id == task.proposal_id]
        waiting = next((one for one in named if not one.is_branch), None)
        branch = next((one for one in named if one.is_branch), None)
        if waiting is None and branch is None:
            if task.command == "reject":  # the workflow that triages answers for suggestions
                return await finish(job, NO_PATCH, {}, status=Status.SKIPPED)
            return await _refuse(task, admitted.issue, UNKNOWN_ID, job)
        if task.command == "reject" and waiting is None:
            return await _refuse(task, admitted.issue, "it was approved already, and is a branch now.", job)
        if branch is not None and task.command == "approve":
            is_reported = read_shown_commit(admitted.issue) != branch.proposal.commit  # the comment says what was done
            if waiting is None or (is_reported and await _has_pull_request(branch, job)):
                return await _say_what_exists(task, admitted.issue, branch, waiting, job)
        assert waiting is not None
        return await _pass_gate(task, admitted, waiting, job)
    except TriageError as error:
        return await _refuse(task, admitted.issue, f"GitHub did not confirm it. {error}", job)


async def _pass_gate(task: FixTask, admitted: AdmittedFix, waiting: StoredProposal, job: FixJob) -> RunResult:
    """Begin the fix flow's graph at its gate, with the stored commits, and resume it with the command."""
    from triage.fix.fix_state import FixState
    from triage.fix.graph.fix_context import FixContext
    from triage.fix.graph.fix_graph import run_fix

    context, issue = job.context, admitted.issue
    tool = GitHubPullRequestTool(task, admitted, waiting, job)

    async def give_command(state: FixState) -> str:
        del state
        return task.command

    services = (context.open_minimal_services or context.open_services)()
    state = FixState(issue=issue, repository=context.repository, pending_mutation=tool.pending)
    state = await run_fix(state, FixContext(services, tool=tool), context.cancelled, give_command)
    if state.error:
        begun = "it was begun, and can be approved again. " if state.branch_name else ""
        return await _refuse(task, issue, begun + state.error, job, waiting)
    outputs = describe_stored(waiting) | {"proposal-status": state.status.value}
    if state.status is ProposalStatus.REJECTED:
        return await finish(job, tool.text, outputs, [*plan_proposal_part(issue, tool.text), *plan_reaction(job, "+1")])
    outputs["pull-request-url"] = state.pr_url or ""
    return await finish(job, tool.text, outputs, plan_reaction(job, "+1"))


async def _has_pull_request(branch: StoredProposal, job: FixJob) -> bool:
    return await _find_pull_request(branch, job) is not None


async def _find_pull_request(branch: StoredProposal, job: FixJob) -> PullRequest | None:
    return await in_thread(job.store.find_pull_request, branch.branch_name, branch.proposal.commit)


async def _say_what_exists(
    task: FixTask, issue: Issue, branch: StoredProposal, waiting: StoredProposal | None, job: FixJob
) -> RunResult:
    """Answer an approval that was carried out before, perhaps by a run that was killed before it could say so."""
    found = await _find_pull_request(branch, job)
    if waiting is not None and not job.context.policy.dry_run:
        await in_thread(job.store.delete, waiting)
    url = found.url if found else ""
    text = f"done already: pull request {found.number}." if found else "done already: the branch exists."
    answer = render_answer(format_command(task), task.actor or "a workflow", text)
    outputs = describe_stored(branch) | {"proposal-status": ProposalStatus.APPROVED.value, "pull-request-url": url}
    return await finish(job, answer, outputs, [*plan_answer_part(issue, answer), *plan_reaction(job, "+1")])


async def _refuse(
    task: FixTask,
    issue: Issue,
    reason: str,
    job: FixJob,
    waiting: StoredProposal | None = None,
) -> RunResult:
    status = ProposalStatus.AWAITING if waiting else ProposalStatus.NONE
    answer = render_answer(format_command(task), task.actor or "a workflow", f"not done: {reason}")
    effects: Sequence[Effect] = plan_answer_part(issue, answer)
    if waiting and is_expired(waiting.proposal, issue.snapshot_time or job.context.now()):
        status = ProposalStatus.EXPIRED
        effects = plan_proposal_part(issue, answer)
        if not job.context.policy.dry_run:
            await in_thread(job.store.delete, waiting)
    outputs = describe_stored(waiting) | {"proposal-status": status.value}
    return await finish(job, answer, outputs, [*effects, *plan_reaction(job, "confused")])
