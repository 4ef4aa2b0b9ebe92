"""The job that stores the patch as commits. No model: it checks everything about the patch again."""

from datetime import datetime
from typing import TYPE_CHECKING

from triage.base.errors import BadInput, CannotPublish, TriageError
from triage.base.threads import in_thread
from triage.domain.issue import Issue
from triage.domain.proposal import Patch, PatchCommit, Proposal, ProposalStatus
from triage.domain.run import Status
from triage.fix.check_command import OFF_DEFAULT_BRANCH, OTHER_WORKFLOWS, is_expired
from triage.fix.commit_text import build_commits
from triage.fix.jobs.fix_job import NO_PROPOSAL_OUTPUTS, FixJob, FixRequest, describe_proposal, write_job_result
from triage.fix.patch.check_patch import check_patch
from triage.fix.patch.modules import list_modules
from triage.say.hidden_state import hash_text

if TYPE_CHECKING:
    from triage.fix.base_files import BaseFiles

OTHER_COMMITS = (
    "The commits of this patch hold something that its diff does not show, or another message or time. It is not "
    "proposed. Ask again."
)


async def store_fix(request: FixRequest, job: FixJob) -> Status:
    """Store the patch below `refs/triage/proposals`, and delete the proposals that it replaces.

    Raises:
        BadInput: The patch may not be stored; the message says why.
        CannotPublish: GitHub has other commits of this patch.
        PermissionMissing: The token may not write contents.
    """
    result = job.artifacts.read_propose_result()
    if result is None or result.patch is None:
        return await write_job_result(job, "There is no patch to store.", NO_PROPOSAL_OUTPUTS)
    _, problem, commits = await in_thread(check_and_build_commits, result.patch, request, job)
    if problem:
        raise BadInput(f"The patch is not stored. {problem}")
    if job.context.policy.dry_run:
        return await write_job_result(job, "The patch would be stored. Nothing is in a dry run.", NO_PROPOSAL_OUTPUTS)
    now = request.issue.snapshot_time or job.context.now()
    stored = await in_thread(_replace_proposals, result.patch, commits, now, job)
    outputs = describe_proposal(stored) | {"proposal-status": ProposalStatus.AWAITING.value}
    return await write_job_result(job, f"Stored as proposal `{outputs['proposal-id']}`.", outputs)


def _replace_proposals(patch: Patch, commits: list[PatchCommit], now: datetime, job: FixJob) -> Proposal:
    """Store it, then delete what it replaces and what is too old: what cannot be deleted now goes with the next one."""
    store = job.proposal_store
    stored = store.save(patch.issue or 0, patch.base, commits, now)
    if not store.has_exactly(stored, patch.base, commits):
        store.delete(stored)
        raise CannotPublish(OTHER_COMMITS)
    try:
        others = [one for one in store.list_proposals(stored.issue) if one.commit != stored.commit]
        expired = [one for one in store.list_proposals() if is_expired(one, now)]
        for other in [*others, *expired]:
            store.delete(other)
    except TriageError as error:
        job.context.progress.info(f"Older proposals were not deleted: {error}")
    return stored


def check_and_build_commits(
    patch: Patch, request: FixRequest, job: FixJob
) -> tuple["BaseFiles", str, list[PatchCommit]]:
    """Return the files that a patch starts from, why it may not be stored or shown, and else what it is stored as.

    Each job after the one with the model does it. All check out the commit of the event, so its base is there. Slow.
    Asks GitHub; raises as the store and `job.open_base_files`.
    """
    base_files = job.open_base_files(patch.base)
    problem = " ".join(_list_problems(patch, request.issue, base_files, job)[:3])
    return base_files, problem, [] if problem else build_commits(patch, base_files)


def _list_problems(patch: Patch, issue: Issue, base_files: "BaseFiles", job: FixJob) -> list[str]:
    """Return why the patch may not be stored, a sentence each; empty if it may be."""
    context = job.context
    if patch.repository != context.repository.slug or patch.issue != issue.number:
        return ["It is for another issue."]
    if patch.issue_text_hash != hash_text(issue.title, issue.body):
        return ["The issue was edited since the patch was made. Ask for a new one."]
    if not job.proposal_store.is_on_default_branch(patch.base):
        return [OFF_DEFAULT_BRANCH[0].upper() + OFF_DEFAULT_BRANCH[1:]]
    if job.proposal_store.has_changed_workflows(patch.base):
        return [OTHER_WORKFLOWS[0].upper() + OTHER_WORKFLOWS[1:]]
    modules = list_modules(base_files.list_editable(), context.config.modules)
    return check_patch(patch, base_files, modules, context.config.protected_paths)
