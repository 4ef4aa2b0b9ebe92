"""The job that carries out an approval or a rejection. No model: exactly the stored commits become the branch.

Every step may be repeated after a run that was killed.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import NamedTuple, TypeVar, TypeVarTuple

from triage.base.errors import CannotPublish, PullRequestRefused, TriageError
from triage.base.threads import OutOfTime, call_with_deadline
from triage.domain.proposal import Proposal, ProposalStatus
from triage.domain.run import Status
from triage.fix.check_command import (
    CHANGED_FILES,
    DRY_RUN,
    EDITED_COMMENT,
    OFF_DEFAULT_BRANCH,
    OTHER_WORKFLOWS,
    UNKNOWN_ID,
    check_owners,
    check_proposal,
    is_expired,
)
from triage.fix.commit_text import format_subject, make_branch_name, read_summary
from triage.fix.jobs.fix_job import (
    FixJob,
    FixRequest,
    describe_proposal,
    plan_proposal_part,
    write_job_result,
    write_refusal,
)
from triage.fix.proposal_text import fold_approved, render_pull_request_body
from triage.outside.github.issue_reader import read_unchanged_comment
from triage.run.job_context import JobContext
from triage.run.write.apply_effects import apply_issue_effects
from triage.run.write.apply_job_effects import PublishResult
from triage.safety.active_content import list_links
from triage.safety.code_owners import CodeOwners
from triage.say.comment import read_parts
from triage.say.hidden_state import CommentState, hash_text, parse_state
from triage.say.our_comment import find_our_comment
from triage.say.template import render_block

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

STEP_SHARE = 0.5
"""Of the time that is left, for one step: the answer to the command must still fit."""
NAME_TAKEN = "The branch {name} exists and has other commits. Rename or delete it, then approve again."


async def apply_fix(request: FixRequest, job: FixJob) -> Status:
    """Carry out what a person decided about a stored patch, once."""
    task, proposal, remembered = request.task, None, CommentState()
    try:
        listed = await _call(job.proposal_store.list_proposals, task.number, context=job.context)
        proposal = next((one for one in listed if one.id == task.proposal_id), None)
        if proposal is None:
            return await write_refusal(request, UNKNOWN_ID, job)
        refusal, remembered = await _call(find_refusal, request, proposal, job, context=job.context)
    except TriageError as error:
        refusal = f"GitHub did not confirm it. {error}"
    if refusal or proposal is None:
        return await _refuse(request, refusal, proposal, job)
    try:
        if task.command == "reject":
            return await _reject(request, proposal, job)
        return await _approve(request, proposal, remembered, job)
    except TriageError as error:
        return await _refuse(request, str(error), proposal, job)


async def _call(step: Callable[[*Ts], T], *args: *Ts, context: JobContext) -> T:
    """Call a step that blocks, while the run has time. Raises TriageError, whatever fails: the command is answered."""
    try:
        return await call_with_deadline(partial(step, *args), context.cancelled, context.seconds_left() * STEP_SHARE)
    except OutOfTime as error:
        raise CannotPublish(f"{str(error).capitalize()}.") from None
    except TriageError:
        raise
    except Exception as error:  # whatever it is: who approved is answered, and may approve again
        raise CannotPublish(f"It failed by a bug of this action ({type(error).__name__}).") from error


def find_refusal(request: FixRequest, proposal: Proposal, job: FixJob) -> tuple[str, CommentState]:
    """Return why the decision is not carried out, as the end of a sentence, and what the comment with the patch says.

    It blocks. Raises TriageError if GitHub does not answer.
    """
    context, issue, proposals, state = job.context, request.issue, job.proposal_store, CommentState()
    if request.task.command == "reject":
        return DRY_RUN if context.policy.dry_run else "", state
    now = issue.snapshot_time or context.now()
    if reason := check_proposal(proposal, hash_text(issue.title, issue.body), now):
        return reason, state
    comment = find_our_comment(issue)
    body = read_unchanged_comment(proposals, comment.comment_id or 0) if comment else ""
    if "proposal" not in read_parts(body):
        return EDITED_COMMENT, state
    state = parse_state(body) or state
    if state.proposal_commit != proposal.commit:
        return UNKNOWN_ID, state
    if not proposals.is_on_default_branch(proposal.base):
        return OFF_DEFAULT_BRANCH, state
    if proposals.has_changed_workflows(proposal.base):
        return OTHER_WORKFLOWS, state
    if proposals.list_changed_on_base(proposal):
        return CHANGED_FILES, state
    owners = proposals.read_code_owners() if job.approvers == "owners" else None
    if owners is not None:
        paths = [path for commit in proposals.read_commits(proposal) for path in commit.files]
        if reason := check_owners(request.task.actor, paths, CodeOwners(owners), context.config):
            return reason, state
    return DRY_RUN if context.policy.dry_run else "", state


async def _approve(request: FixRequest, proposal: Proposal, remembered: CommentState, job: FixJob) -> Status:
    """Create the branch and the pull request, then write so and delete the stored patch."""
    context, branch = job.context, make_branch_name(request.task.number, request.issue.title)
    context.progress.detail(f"Approved: branch {branch} at commit {proposal.commit}.")
    if not await _call(job.proposal_store.create_branch, branch, proposal.commit, context=context):
        raise CannotPublish(NAME_TAKEN.format(name=branch))
    try:
        opened = await _call(create_pull_request, branch, request, proposal, remembered, job, context=context)
        await _call(announce_and_delete, opened, request, proposal, job, context=context)
    except TriageError as error:
        raise CannotPublish(f"it was begun, and can be approved again. {error}") from None
    outputs = {"proposal-status": ProposalStatus.APPROVED.value, "pull-request-url": opened.url}
    return await write_job_result(
        job, opened.text, describe_proposal(proposal) | outputs, (), "+1", links=[opened.url or opened.form_url]
    )


class OpenedPullRequest(NamedTuple):
    text: str
    """What the comment says of it, with a link to `url` or to `form_url`."""
    url: str = ""
    """Empty where GitHub does not let the token open one."""
    form_url: str = ""
    """There, the page on which a person opens it."""


def create_pull_request(
    branch: str, request: FixRequest, proposal: Proposal, remembered: CommentState, job: FixJob
) -> OpenedPullRequest:
    """Open the draft pull request of the branch, or say how a person does. It blocks, and raises TriageError."""
    task, issue, who = request.task, request.issue, request.task.actor or "a workflow"
    title = f"[#{task.number}] {format_subject(issue.title) or 'Proposed change'}"
    *test_commits, last = job.proposal_store.read_commits(proposal)
    test_paths = [path for commit in test_commits for path in sorted(commit.files)]
    words = read_summary(last.message)
    body = render_pull_request_body(
        proposal.id, issue.url, who, remembered.tests_outcome, words, test_paths, remembered.example_outcome
    )
    try:
        opened = job.proposal_store.open_pull_request(branch, proposal.commit, title, body)
    except PullRequestRefused as error:
        repository = job.context.repository
        url = f"{repository.server_url}/{repository.slug}/compare/{branch}?expand=1"
        text = render_block("proposal", "refused_pull_request", who, branch, url, str(error))
        return OpenedPullRequest(text, form_url=url)
    return OpenedPullRequest(render_block("proposal", "opened", who, opened.number, opened.url), opened.url)


def announce_and_delete(opened: OpenedPullRequest, request: FixRequest, proposal: Proposal, job: FixJob) -> None:
    """Say on the issue what was done: until then, an approval can be repeated. Then delete the proposal.

    It blocks, and raises TriageError if it could not be said.
    """
    done, comment = PublishResult(), find_our_comment(request.issue)
    approved = fold_approved(read_parts(comment.body).get("proposal", "")) if comment else ""
    links = [opened.url or opened.form_url, *list_links(approved)]
    apply_issue_effects(plan_proposal_part(request.issue, opened.text + approved, links), job.context.github, done)
    if done.failures:
        raise CannotPublish(" ".join(done.failures))
    with suppress(TriageError):  # it goes when it expires
        job.proposal_store.delete(proposal)


async def _reject(request: FixRequest, proposal: Proposal, job: FixJob) -> Status:
    """Delete the stored patch, and write who rejected it and why."""
    await _call(job.proposal_store.delete, proposal, context=job.context)
    task = request.task
    text = render_block("proposal", "rejected", task.actor or "a workflow", task.words)
    outputs = describe_proposal(proposal) | {"proposal-status": ProposalStatus.REJECTED.value}
    return await write_job_result(job, text, outputs, plan_proposal_part(request.issue, text), "+1")


async def _refuse(request: FixRequest, reason: str, proposal: Proposal | None, job: FixJob) -> Status:
    """Say why nothing is carried out. A proposal that is too old goes with the next one that is stored."""
    if proposal is None:
        return await write_refusal(request, reason, job)
    is_late = is_expired(proposal, request.issue.snapshot_time or job.context.now())
    status = ProposalStatus.NONE if is_late else ProposalStatus.AWAITING
    outputs = describe_proposal(proposal) | {"proposal-status": status.value}
    return await write_refusal(request, reason, job, outputs)
