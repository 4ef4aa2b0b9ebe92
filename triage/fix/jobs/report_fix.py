"""The job that writes the comment: the proposal and what the project's tests said, or why there is none."""

from datetime import datetime
from typing import NamedTuple

from triage.base.threads import in_thread
from triage.domain.issue import Issue
from triage.domain.proposal import ExampleResult, PatchDraft, PatchProposal, ProposalStatus
from triage.domain.run import Status
from triage.domain.task import FixTask
from triage.domain.value import hash_value
from triage.fix.commit_text import build_request, holds_exactly
from triage.fix.fix_ports import BaseFiles
from triage.fix.jobs.fix_job import (
    FixJob,
    FixRequest,
    FixResult,
    describe_stored,
    find_start_problem,
    finish,
    format_answer,
    format_refusal,
    parse_result,
    plan_answer_part,
    plan_proposal_part,
    plan_reaction,
    read_fix_request,
    shows_proposal,
)
from triage.fix.jobs.store_fix import OTHER_COMMITS, find_all_problems
from triage.fix.proposal_text import render_abandoned, render_awaiting, render_unstored
from triage.run.run_context import RunResult

NO_RESULT = "The job that writes the patch failed before it could say why. See its log."
NOT_STORED = "The patch is not stored: another command has replaced it, or the log of the job `store` says why."
ASK_AGAIN = "GitHub did not confirm it at first. Write the command again."


async def report_fix(task: FixTask, job: FixJob) -> RunResult:
    admitted = await read_fix_request(task, job)
    if not admitted.may_ask:
        return await finish(job, format_answer(task, admitted.refusal), {}, status=Status.SKIPPED)
    if admitted.refusal:
        return await _answer(admitted, format_refusal(task, admitted.refusal), job)
    if not task.makes_proposal:
        return await _answer(admitted, format_refusal(task, ASK_AGAIN), job)
    result = parse_result(job.read_result()) or FixResult(error=await find_start_problem(job) or NO_RESULT)
    draft = result.draft
    if draft is None:
        return await _report_nothing(task, result, admitted, job)
    files = await in_thread(job.open_files, draft.base)
    problems = await in_thread(find_all_problems, draft, admitted.issue, files, job)
    if problems:  # the same that the job before found: nobody is shown such a patch
        refused = FixResult(error=f"The patch was refused. {' '.join(problems[:3])}")
        return await _report_nothing(task, refused, admitted, job)
    now = admitted.issue.snapshot_time or job.run.now()
    found = await job.run.ask_github("The proposals", lambda: _find_stored(draft, files, now, job))
    if found.stored is not None:
        return await _report_stored(draft, files, found.stored, admitted.issue, job)
    if found.has_others:
        return await _report_nothing(task, FixResult(error=OTHER_COMMITS), admitted, job)
    return await _report_unstored(task, draft, files, admitted, job)


async def _answer(admitted: FixRequest, answer: str, job: FixJob) -> RunResult:
    """Write one line below what the comment shows."""
    edits = plan_answer_part(admitted.issue, answer)
    outputs = {"proposal-status": ProposalStatus.NONE.value}
    return await finish(job, answer, outputs, [*edits, *plan_reaction(job, "confused")])


class _Found(NamedTuple):
    stored: PatchProposal | None
    """The commits with exactly the files and messages of the draft, each with those that it must have."""
    has_others: bool
    """There are commits that say so and hold something else. They go with the next proposal."""


def _find_stored(draft: PatchDraft, files: BaseFiles, now: datetime, job: FixJob) -> _Found:
    request, name = build_request(draft, files), hash_value(draft)
    listed = job.store.list_proposals(draft.issue or 0)
    named = [one for one in reversed(listed) if one.draft == name and not one.is_branch]
    exact = (one for one in named if holds_exactly(one, request, job.store, now))
    return _Found(next(exact, None), has_others=bool(named))


async def _report_nothing(task: FixTask, result: FixResult, admitted: FixRequest, job: FixJob) -> RunResult:
    text = render_abandoned(result.error)
    if shows_proposal(admitted.issue):
        return await _answer(admitted, format_answer(task, text), job)  # the one before can still be approved
    shown = format_answer(task, text)
    effects = [*plan_proposal_part(admitted.issue, shown), *plan_reaction(job, "confused")]
    return await finish(job, text, {"proposal-status": result.status.value}, effects)


async def _report_unstored(
    task: FixTask, draft: PatchDraft, files: BaseFiles, admitted: FixRequest, job: FixJob
) -> RunResult:
    if shows_proposal(admitted.issue):
        return await _answer(admitted, format_answer(task, NOT_STORED), job)
    text = await in_thread(render_unstored, draft, files)
    effects = [*plan_proposal_part(admitted.issue, text), *plan_reaction(job, "confused")]
    return await finish(job, text, {"proposal-status": ProposalStatus.NONE.value}, effects)


async def _report_stored(
    draft: PatchDraft, files: BaseFiles, stored: PatchProposal, issue: Issue, job: FixJob
) -> RunResult:
    repository, example = job.run.repository, await in_thread(_compare_runs, issue, job)
    outputs = describe_stored(stored)
    diff_url = f"{repository.server_url}/{repository.slug}/compare/{draft.base}...{stored.commit}"
    text = await in_thread(
        lambda: render_awaiting(
            draft,
            files,
            stored,
            outputs["proposal-id"],
            tests=job.tests,
            example=example,
            diff_url=diff_url,
            run_url=job.run_url,
        )
    )
    links = [diff_url, job.run_url]
    comment = plan_proposal_part(issue, text, links, commit=stored.commit, tests=job.tests, example=example.outcome)
    outputs |= {"proposal-tests": job.tests, "proposal-status": ProposalStatus.AWAITING.value}
    return await finish(job, text, outputs, [*comment, *plan_reaction(job, "rocket")], links=links)


def _compare_runs(issue: Issue, job: FixJob) -> ExampleResult:
    """Return what the job `verify` saw of the report's example, whose text is the one that the model read."""
    runs = job.read_runs()
    example = job.open_example(issue) if runs else None
    return example.compare(*runs) if runs and example else ExampleResult()
