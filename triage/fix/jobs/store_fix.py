"""The job that stores the patch as commits. No model: it checks everything about the patch again."""

from datetime import datetime

from triage.approval.decide_approval import OFF_DEFAULT_BRANCH, is_expired
from triage.base.errors import BadInput, CannotPublish, TriageError
from triage.base.threads import in_thread
from triage.comment.hidden_state import hash_text
from triage.domain.issue import Issue
from triage.domain.proposal import PatchDraft, ProposalStatus, StoredProposal
from triage.domain.run import Status
from triage.domain.task import FixTask
from triage.fix.commit_text import build_request, holds_exactly
from triage.fix.fix_ports import BaseFiles
from triage.fix.jobs.fix_flow import FixFlow, admit_fix, describe_stored, finish, parse_result
from triage.fix.patch.check_patch import find_problems
from triage.fix.patch.modules import list_modules
from triage.jobs.run import RunResult

OTHER_COMMITS = (
    "The commits of this patch hold something that its diff does not show, or another message or time. It is not "
    "proposed. Ask again."
)
MAX_SWEPT = 20
"""Expired proposals of other issues that one job deletes."""


async def store_fix(task: FixTask, flow: FixFlow) -> RunResult:
    """Store the patch below `refs/triage/proposals`, and delete the proposals that it replaces.

    Raises:
        BadInput: The patch may not be stored; the message says why.
        CannotPublish: GitHub has other commits of this patch.
        PermissionMissing: The token may not write contents.
    """
    admitted = await admit_fix(task, flow)
    if admitted.refusal:
        return await finish(flow, admitted.refusal, {}, status=Status.SKIPPED)
    result = parse_result(flow.read_result())
    if result is None or result.draft is None:
        return await finish(flow, "There is no patch to store.", {"proposal-status": ProposalStatus.NONE.value})
    draft = result.draft
    files = await in_thread(flow.open_files, draft.base)
    problems = await in_thread(find_all_problems, draft, admitted.issue, files, flow)
    if problems:
        raise BadInput(f"The patch is not stored. {' '.join(problems[:3])}")
    if flow.context.policy.dry_run:
        return await finish(flow, "The patch would be stored. Nothing is in a dry run.", {"proposal-status": "none"})
    now = admitted.issue.snapshot_time or flow.context.now()
    stored = await in_thread(_store, draft, files, now, flow)
    await in_thread(_delete_others, stored, flow)
    outputs = describe_stored(stored) | {"proposal-status": ProposalStatus.AWAITING.value}
    return await finish(flow, f"Stored as proposal `{outputs['proposal-id']}`.", outputs)


def _store(draft: PatchDraft, files: BaseFiles, now: datetime, flow: FixFlow) -> StoredProposal:
    request = build_request(draft, files)
    stored = flow.store.store(request)
    if not holds_exactly(stored, request, flow.store, now):  # a ref with the hash of this draft was there before
        if not stored.is_branch:
            flow.store.delete(stored)
        raise CannotPublish(OTHER_COMMITS)
    return stored


def find_all_problems(draft: PatchDraft, issue: Issue, files: BaseFiles, flow: FixFlow) -> list[str]:
    """Return why a patch may not be stored or shown: it is for something else, or breaks a rule. Slow.

    Asks GitHub; raises as the store.
    """
    context = flow.context
    if draft.repository != context.repository.slug or draft.issue != issue.number:
        return ["It is for another issue."]
    if draft.issue_text != hash_text(issue.title, issue.body):
        return ["The issue was edited since the patch was made. Ask for a new one."]
    if not flow.store.is_on_default_branch(draft.base):
        return [OFF_DEFAULT_BRANCH[0].upper() + OFF_DEFAULT_BRANCH[1:]]
    modules = list_modules(files.list_editable(), context.config.modules)
    return find_problems(draft, files, modules, context.config.protected_paths)


def _delete_others(stored: StoredProposal, flow: FixFlow) -> None:
    """Delete what this proposal replaces, and what is too old. What cannot be deleted now goes with the next one."""
    try:
        for other in flow.store.list_proposals(stored.proposal.issue):
            if not other.is_branch and other.proposal.commit != stored.proposal.commit:
                flow.store.delete(other)
        for other in flow.store.list_expired(MAX_SWEPT):
            if is_expired(other.proposal, stored.proposal.created_at):
                flow.store.delete(other)
    except TriageError as error:
        flow.context.progress.info(f"Older proposals were not deleted: {error}")
