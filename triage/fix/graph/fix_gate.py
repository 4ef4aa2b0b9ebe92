"""The last nodes of the fix flow: the proposal, the gate where a person decides, and what follows from it."""

from typing import Any

from langgraph.runtime import Runtime
from langgraph.types import interrupt

from triage.base.errors import TriageError
from triage.base.text import quote_value
from triage.base.threads import in_thread
from triage.domain.proposal import MAX_REVISIONS, PatchDraft, PendingMutation, ProposalStatus
from triage.fix.graph.fix_nodes import make_draft
from triage.fix.graph.fix_state import FixContext, FixState, PullRequestTool
from triage.fix.graph.judge_check import judge_check
from triage.fix.patch.unified_diff import format_diff
from triage.fix.proposal_text import render_proposal
from triage.run.may_run.person_answer import Decision, PersonAnswer, parse_answer
from triage.safety.secrets.likely_secrets import redact_likely_secrets

Update = dict[str, Any]

MAX_CHECK_FAILURES = 2
"""Times that the project's own check sends the change back."""
NO_OUTPUT = "(The check failed and printed nothing.)"
NO_MORE = MAX_CHECK_FAILURES + 1


async def prepare_diff_summary(state: FixState, runtime: Runtime[FixContext]) -> Update:
    """Put the patch together, run the project's check if there is one, and describe it for a person."""
    context = runtime.context
    draft = make_draft(state, context.base_files, state.proposed_changes, state.proposed_tests)
    update: Update = {}
    if context.run_check is not None:
        try:
            update = await in_thread(_run_checks, state, context, draft)
        except TriageError as error:
            return {"error": f"The check could not be run: {error}"}
        draft = draft.model_copy(update={"checked": update.pop("checked", "")})
    diff = await in_thread(format_diff, draft, context.base_files)
    summary = await in_thread(render_proposal, draft, context.base_files)
    update |= {
        "draft": draft,
        "diff": diff,
        "diff_summary": summary,
        "messages": [f"Proposal of {len(draft.files)} files."],
    }
    if _must_change_again(state.model_copy(update=update)):
        return update
    return update | {"status": ProposalStatus.AWAITING} | await _store(draft, context)


def _run_checks(state: FixState, context: FixContext, draft: PatchDraft) -> Update:
    verdict = judge_check(draft, context)
    if verdict.is_ok:
        return {"check_output": "", "checked": verdict.text}
    output = redact_likely_secrets(verdict.output) or NO_OUTPUT
    # If the cause need not be the change, to send it back would cost requests for nothing.
    failures = state.check_failures + 1 if verdict.may_be_fixed else NO_MORE
    checked = verdict.text if failures > MAX_CHECK_FAILURES else ""
    return {"check_output": output, "check_failures": failures, "checked": checked}


async def _store(draft: PatchDraft, context: FixContext) -> Update:
    if context.store is None:
        return {}
    store = context.store
    try:
        return {"pending_mutation": await in_thread(store, draft)}
    except TriageError as error:
        return {"error": str(error)}


def route_after_summary(state: FixState) -> str:
    """Return the gate, or the change again while the project's check fails."""
    if state.error:
        return "handle_error"
    return "generate_code_changes" if _must_change_again(state) else "human_review_gate"


def _must_change_again(state: FixState) -> bool:
    return bool(state.check_output) and state.check_failures <= MAX_CHECK_FAILURES


async def human_review_gate(state: FixState, runtime: Runtime[FixContext]) -> Update:
    """Wait for a person. Nothing is carried out but what passes here.

    Whoever resumes this thread, or another one that begins with the same pending pull request, begins this node again:
    it does nothing before it has the answer.
    """
    pending, tool = state.pending_mutation, runtime.context.tool
    answer = _ask(state)
    if answer.decision is Decision.REVISE:
        return {"human_approved": None, "human_feedback": [*state.human_feedback, answer.words]}
    if answer.decision is Decision.REJECT:
        return {"human_approved": False, "rejection_reason": answer.words}
    if pending is None or tool is None:
        return {"error": "Nothing can be carried out here."}
    if objection := await in_thread(tool.find_objection, pending):
        return {"error": objection}
    return {
        "human_approved": True,
        "pending_mutation": pending.model_copy(update={"status": "approved"}),
        "status": ProposalStatus.APPROVED,
        "messages": [f"Approved: branch {pending.branch} at commit {pending.commit}."],
    }


def _ask(state: FixState) -> PersonAnswer:
    """Return an answer that can be carried out: any other one is asked again, and costs nothing."""
    pending, problem = state.pending_mutation, ""
    while True:
        question = {
            "prompt": problem + _format_question(state),
            "diff_summary": state.diff_summary,
            "ticket_key": state.ticket_key,
            "pending_mutation": pending.model_dump() if pending else None,
        }
        answer = parse_answer(interrupt(question))
        if answer.decision is Decision.UNCLEAR:
            problem = f"{quote_value(answer.words)} is none of the answers. "
        elif answer.decision is Decision.REVISE and state.iteration_count >= MAX_REVISIONS:
            problem = "No further revision is possible. "
        else:
            return answer


def _format_question(state: FixState) -> str:
    left = MAX_REVISIONS - state.iteration_count
    if left <= 0:
        return f"Answer approve, or reject: why. It was revised {MAX_REVISIONS} times, which is the limit."
    return "Answer approve, reject: why, or revise: what to change" + (" (for the last time)." if left == 1 else ".")


def route_after_gate(state: FixState) -> str:
    if state.error:
        return "handle_error"
    if state.human_approved is None:
        return "regenerate_with_feedback"
    return "apply_changes" if state.human_approved else "abort"


async def regenerate_with_feedback(state: FixState, runtime: Runtime[FixContext]) -> Update:
    """Count the revision. What the person said is in the next prompt."""
    return {
        "iteration_count": state.iteration_count + 1,
        "pending_mutation": None,
        "check_output": "",
        "check_failures": 0,
        "messages": [f"Revision {state.iteration_count + 1} of {MAX_REVISIONS}."],
    }


async def abort(state: FixState, runtime: Runtime[FixContext]) -> Update:
    pending, tool = state.pending_mutation, runtime.context.tool
    try:
        if pending and tool:
            await in_thread(tool.drop, pending)
    except TriageError as error:
        return {"error": str(error)}
    return {"status": ProposalStatus.REJECTED, "messages": ["Rejected."]}


async def apply_changes(state: FixState, runtime: Runtime[FixContext]) -> Update:
    pending, tool = _get_approved(state, runtime.context)
    try:
        await in_thread(tool.create_branch, pending)
    except TriageError as error:
        return {"error": str(error)}
    return {"branch_name": pending.branch, "messages": [f"Branch {pending.branch}."]}


async def create_pull_request(state: FixState, runtime: Runtime[FixContext]) -> Update:
    pending, tool = _get_approved(state, runtime.context)
    try:
        url = await in_thread(tool.open_pull_request, pending)
    except TriageError as error:
        return {"error": str(error)}
    return {"pr_url": url, "messages": ["Opened the pull request."] if url else []}


async def post_comment(state: FixState, runtime: Runtime[FixContext]) -> Update:
    pending, tool = _get_approved(state, runtime.context)
    try:
        await in_thread(tool.report, pending)
    except TriageError as error:
        return {"error": str(error)}
    return {"pending_mutation": pending.model_copy(update={"status": "done"})}


def _get_approved(state: FixState, context: FixContext) -> tuple[PendingMutation, PullRequestTool]:
    pending, tool = state.pending_mutation, context.tool
    if pending is None or tool is None or pending.status != "approved":
        raise AssertionError("the gate was not passed")
    return pending, tool


async def handle_error(state: FixState, runtime: Runtime[FixContext]) -> Update:
    """The end of a flow without a proposal, or of an approval that was not carried out. The error says why."""
    if state.pending_mutation:  # the proposal is still there
        return {"status": ProposalStatus.AWAITING, "messages": ["Not carried out."]}
    status = ProposalStatus.ABANDONED if state.status is ProposalStatus.ABANDONED else ProposalStatus.NONE
    return {"status": status, "messages": ["No proposal."]}
