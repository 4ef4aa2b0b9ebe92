"""Carries out `/triage apply` and `/triage reject` of the suggestions in our comment.

What is applied is the frozen value of our comment, which shows it in words, and only if GitHub says that nobody but us
has edited this comment. Everything that is not a clear yes is answered with the reason.
"""

from collections.abc import Sequence

from triage.approval.decide_approval import (
    DRY_RUN,
    EDITED_COMMENT,
    MORE_WORDS,
    NO_ID,
    UNKNOWN_ID,
    ApprovalFacts,
    proposal_problem,
    role_problem,
)
from triage.approval.proposal_id import compute_proposal_id
from triage.base.errors import TriageError
from triage.comment.hidden_state import hash_text, parse_state
from triage.domain.effect import AddAssignee, AddLabels, IssueEffect, React, Reaction, SetIssueType
from triage.domain.issue import Issue, IssueComment
from triage.domain.proposal import SuggestionProposal
from triage.domain.run import Status
from triage.domain.task import SuggestionDecision
from triage.events.trigger_snapshot import approval_skip_reason, get_trigger_comment
from triage.job_page.notices import plan_answered
from triage.jobs.run_context import Run, RunResult
from triage.jobs.write_results import write_effects, write_skip
from triage.writes.deduplicate import find_our_comment
from triage.writes.suggestion_proposal import (
    describe_proposal,
    find_proposal,
    plan_answer,
    plan_decided,
    render_answer,
)

NO_COMMENT = "there is no comment with suggestions here."
DONE = "this was applied already."


async def answer_proposal(task: SuggestionDecision, issue: Issue, run: Run) -> RunResult:
    """Apply or drop suggestions, and answer with a reaction and one line in our comment."""
    if issue.is_pull_request or issue.locked:
        return write_skip("Commands do not count on locked issues and on pull requests.", run)
    comment = find_our_comment(issue)
    # A workflow for fixes answers the id of a patch.
    if not task.is_apply and (comment is None or _find_named(comment.body, task.proposal_id) is None):
        return write_skip("`/triage reject` names no suggestions of this issue.", run)
    try:
        proposal, reason = await run.ask_github("The proposal", lambda: _decide(task, issue, comment, run))
    except TriageError as error:
        proposal, reason = None, f"GitHub did not confirm the approval. {error}"
    if proposal is None:
        return await _refuse(task, comment, reason, run)
    if not task.is_apply:
        return await _finish(task, comment, proposal, f"dropped {describe_proposal(proposal)}.", run)
    done = await write_effects(_plan_changes(proposal), run)
    if done.failures:
        return await _refuse(task, comment, f"not everything could be applied. {' '.join(done.failures)}", run)
    return await _finish(task, comment, proposal, f"applied {describe_proposal(proposal)}.", run)


def _find_named(body: str, proposal_id: str) -> SuggestionProposal | None:
    """Return the proposal in our comment if it has this id."""
    proposal = find_proposal(body)
    return proposal if proposal and compute_proposal_id(proposal) == proposal_id else None


def _decide(
    task: SuggestionDecision, issue: Issue, comment: IssueComment | None, run: Run
) -> tuple[SuggestionProposal | None, str]:
    """Return the proposal that may be carried out, or why none may."""
    if reason := approval_skip_reason(issue, run.event_issue):
        return None, reason[0].lower() + reason[1:]
    role = run.github.fetch_role(task.actor)
    if reason := role_problem(role):
        return None, reason
    if not task.proposal_id or (task.is_apply and task.words):
        return None, MORE_WORDS if task.proposal_id else NO_ID
    if comment is None or comment.comment_id is None:
        return None, NO_COMMENT
    state = parse_state(comment.body)
    if state and task.proposal_id in state.applied:
        return None, DONE
    record = run.approvals.read_comment_record(comment.comment_id)
    if record is None or not record.is_ours_alone:
        return None, EDITED_COMMENT
    proposal = _find_named(record.body, task.proposal_id)
    if proposal is None:
        return None, UNKNOWN_ID
    facts = ApprovalFacts(
        repository=run.repository.slug,
        issue=task.number,
        issue_text=hash_text(issue.title, issue.body),
        role=role,
        now=issue.snapshot_time or run.now(),
    )
    reason = proposal_problem(proposal, facts)
    if not reason and run.policy.dry_run:
        reason = DRY_RUN
    return (None, reason) if reason else (proposal, "")


def _plan_changes(proposal: SuggestionProposal) -> list[IssueEffect]:
    number = proposal.issue
    return [
        *([AddLabels(issue_number=number, labels=proposal.labels)] if proposal.labels else []),
        *([SetIssueType(issue_number=number, name=proposal.issue_type)] if proposal.issue_type else []),
        *([AddAssignee(issue_number=number, login=proposal.assignee)] if proposal.assignee else []),
    ]


async def _refuse(task: SuggestionDecision, comment: IssueComment | None, reason: str, run: Run) -> RunResult:
    text = f"not done: {reason}"
    edits = [plan_answer(task.number, comment, _render(task, text))] if comment else []
    return await _write(task, [*edits, *_react("confused", run)], text, run)


async def _finish(
    task: SuggestionDecision, comment: IssueComment | None, proposal: SuggestionProposal, text: str, run: Run
) -> RunResult:
    assert comment is not None
    applied_id = compute_proposal_id(proposal) if task.is_apply else ""
    edit = plan_decided(task.number, comment, _render(task, text), proposal, applied_id)
    return await _write(task, [edit, *_react("+1", run)], text, run)


def _render(task: SuggestionDecision, text: str) -> str:
    command = "/triage apply" if task.is_apply else "/triage reject"
    return render_answer(f"{command} {task.proposal_id}".strip(), task.actor, text)


def _react(reaction: Reaction, run: Run) -> list[IssueEffect]:
    trigger = get_trigger_comment(run.event_issue)
    return [React(comment_id=trigger.comment_id, reaction=reaction)] if trigger and trigger.comment_id else []


async def _write(task: SuggestionDecision, effects: Sequence[IssueEffect], text: str, run: Run) -> RunResult:
    run.progress.info(f"Answered a command on issue {task.number}.")
    shown = [] if run.policy.dry_run else list(effects)
    done = await write_effects([*shown, *plan_answered(_render(task, text))], run)
    return RunResult(Status.FAILED if done.needs_setup_fix else Status.COMPLETE)
