"""The job that writes the comment: the proposal and what the project's tests said, or why there is none."""

from triage.base.threads import in_thread
from triage.domain.issue import Issue
from triage.domain.proposal import ExampleResult, Patch, Proposal, ProposalStatus
from triage.domain.run import Status
from triage.fix.base_files import BaseFiles
from triage.fix.check_command import is_expired
from triage.fix.jobs.fix_job import (
    NO_PROPOSAL_OUTPUTS,
    FixJob,
    FixRequest,
    check_base,
    describe_proposal,
    format_reply,
    plan_proposal_part,
    read_shown_commit,
    write_job_result,
    write_refusal,
    write_reply,
)
from triage.fix.jobs.store_fix import check_and_build_commits
from triage.fix.proposal_text import render_proposal
from triage.say.template import render_block

PROPOSE_FAILED = "The job that writes the patch failed before it could say why. See its log."
NOT_STORED = (
    "The patch is not stored: another command has replaced it, or the log of the job `store` says why, such as a token "
    "without `contents: write`."
)
UNCONFIRMED = "GitHub did not confirm it at first. Write the command again."
"""The job `gate` refused a decision, and the reason is gone now."""


async def report_fix(request: FixRequest, job: FixJob) -> Status:
    """Show the stored patch in the comment; or why there is none. The job with the model is not believed.

    What is stored is found by its content: no job says which proposal it is.
    """
    task = request.task
    if not task.makes_proposal:
        return await write_refusal(request, UNCONFIRMED, job)
    result = job.artifacts.read_propose_result()
    if result is None:
        reason = await check_base(job)
        return await _report_no_change(request, f"Not done: {reason}" if reason else PROPOSE_FAILED, job)
    patch = result.patch
    if patch is None:
        return await _report_no_change(request, result.error, job)
    base_files, problem, commits = await in_thread(check_and_build_commits, patch, request, job)
    if problem:  # the same that the job before found: nobody is shown such a patch
        return await _report_no_change(request, f"The patch was refused. {problem}", job)
    now = request.issue.snapshot_time or job.context.now()

    def find_stored() -> Proposal | None:
        listed = reversed(job.proposal_store.list_proposals(task.number))
        current = (one for one in listed if not is_expired(one, now))
        return next((one for one in current if job.proposal_store.has_exactly(one, patch.base, commits)), None)

    stored = await job.context.ask_github("The proposals", find_stored)
    if stored is None:
        return await _report_no_change(request, NOT_STORED, job)
    return await _report_stored(patch, base_files, stored, request.issue, job)


async def _report_no_change(request: FixRequest, reason: str, job: FixJob) -> Status:
    text = render_block("proposal", "no_change", reason)
    if read_shown_commit(request.issue):  # the one before can still be approved
        return await write_reply(request, format_reply(request.task, text), job)
    shown = format_reply(request.task, text)
    return await write_job_result(job, text, NO_PROPOSAL_OUTPUTS, plan_proposal_part(request.issue, shown), "confused")


async def _report_stored(patch: Patch, base_files: BaseFiles, stored: Proposal, issue: Issue, job: FixJob) -> Status:
    """Write the part of the comment with the patch, what tests said of it, and how to answer."""
    repository, outputs, runs = job.context.repository, describe_proposal(stored), job.artifacts.read_example_runs()
    # What the job `verify` saw of the report's example, whose text is the one that the model read.
    found = await in_thread(job.open_example, issue) if runs else None
    seen = found.compare(*runs) if runs and found else ExampleResult()
    diff_url = f"{repository.server_url}/{repository.slug}/compare/{patch.base}...{stored.commit}"
    text = await in_thread(
        lambda: render_proposal(
            patch,
            base_files,
            stored,
            tests_outcome=job.tests_outcome,
            example_result=seen,
            diff_url=diff_url,
            run_url=job.run_url,
        )
    )
    links = [diff_url, job.run_url]
    comment = plan_proposal_part(
        issue, text, links, commit=stored.commit, tests_outcome=job.tests_outcome, example_outcome=seen.outcome
    )
    outputs |= {"proposal-tests": job.tests_outcome, "proposal-status": ProposalStatus.AWAITING.value}
    return await write_job_result(job, text, outputs, comment, "rocket", links=links)
