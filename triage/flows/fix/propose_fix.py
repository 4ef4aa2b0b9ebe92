"""The job with the model: writes a patch to a file. It can write nothing to GitHub."""

from functools import partial

from triage.approval.proposal_id import compute_proposal_id
from triage.domain.issue import Issue, Repository
from triage.domain.patch import BaseFile, FileVersion, PatchDraft
from triage.domain.proposal import MAX_REVISIONS, PatchProposal, ProposalStatus
from triage.domain.report import RunReport
from triage.domain.run import Status
from triage.domain.task import FixTask
from triage.errors import TriageError
from triage.events.commands import CommandName, parse_command
from triage.events.trigger_snapshot import restore_issue_at_trigger
from triage.flows.fix.admit_fix import admit_fix
from triage.flows.fix.fix_flow import FixFlow, FixResult, finish
from triage.flows.flow_context import FlowResult
from triage.patches.unified_diff import format_file_diff
from triage.ports import Services
from triage.proposal_ports import BaseFiles
from triage.publish.proposal_text import render_abandoned, render_proposal
from triage.threads import run_in_daemon_thread

UNKNOWN_ID = "There is no proposal with this id. It may be replaced by a newer one; see the id in the comment."
TOO_OFTEN = f"The change was made again {MAX_REVISIONS} times and nobody approved it: it is abandoned."


async def propose_fix(task: FixTask, flow: FixFlow) -> FlowResult:
    """Run the fix flow up to the person, and write what it found for the next jobs."""
    admitted = await admit_fix(task, flow)
    if admitted.refusal:
        return await finish(flow, admitted.refusal, {}, status=Status.SKIPPED)
    started = flow.context.now()
    issue = restore_issue_at_trigger(admitted.issue, flow.context.event_issue, started, flow.context.now())
    try:
        earlier = await _find_earlier(task, flow)
    except TriageError as error:
        return await _write(flow, FixResult(error=str(error)), "")
    if task.command == "revise" and earlier is None:
        return await _write(flow, FixResult(error=UNKNOWN_ID), "")
    if earlier and earlier.revision >= MAX_REVISIONS:
        return await _write(flow, FixResult(status=ProposalStatus.ABANDONED, error=TOO_OFTEN), "")
    files = await run_in_daemon_thread(lambda: flow.open_files("HEAD"))
    result = await _run(task, issue, earlier, files, flow)
    draft = result.draft
    shown = await run_in_daemon_thread(lambda: render_proposal(draft, files)) if draft else ""
    return await _write(flow, result, shown)


async def _find_earlier(task: FixTask, flow: FixFlow) -> PatchProposal | None:
    if task.command != "revise":
        return None
    stored = await flow.context.ask_github("The proposals", lambda: flow.store.list_proposals(task.number))
    found = [one.proposal for one in stored if compute_proposal_id(one.proposal) == task.proposal_id]
    return found[0] if found else None


async def _run(
    task: FixTask, issue: Issue, earlier: PatchProposal | None, files: BaseFiles, flow: FixFlow
) -> FixResult:
    from triage.graph.fix_context import FixContext
    from triage.graph.fix_state import FixState
    from triage.graph.run_fix import run_fix
    from triage.graph.run_graph import run_graph

    context = flow.context
    services = await run_in_daemon_thread(context.open_services)

    async def triage(issue: Issue, repository: Repository) -> RunReport:
        return await run_graph(issue, repository, services, context.cancelled)

    state = FixState(issue=issue, repository=context.repository, change_request=task.words)
    if earlier is not None:
        diff = await run_in_daemon_thread(partial(_format_earlier, earlier, files, flow))
        state = state.model_copy(
            update={
                "change_request": "",
                "diff": diff,
                "human_feedback": [*_list_feedback(issue, task), task.words],
                "iteration_count": earlier.revision + 1,
            }
        )
    with context.progress.group("Proposal"):
        state = await run_fix(state, FixContext(services, files, triage), context.cancelled)
    return _to_result(state.status, state.error or "", state.draft, services)


def _to_result(status: ProposalStatus, error: str, draft: PatchDraft | None, services: Services) -> FixResult:
    if error or draft is None:
        return FixResult(status=status, error=error[:4_000])
    return FixResult(status=ProposalStatus.AWAITING, draft=draft)


def _format_earlier(earlier: PatchProposal, files: BaseFiles, flow: FixFlow) -> str:
    """Return the diff of the version that a person wants changed."""
    diffs = []
    for path, file in flow.store.read_files(earlier).items():
        base = files.read(path)
        old = base.text if isinstance(base, BaseFile) else ""
        version = FileVersion(path=path, text=file.text, is_new_file=base is None)
        diffs.append(format_file_diff(version, old))
    return "".join(diffs)


def _list_feedback(issue: Issue, task: FixTask) -> list[str]:
    """Return what the same person said of earlier versions, oldest first."""
    said = []
    for comment in issue.thread:
        command = parse_command(comment.body)
        if command and command.name is CommandName.REVISE and comment.author == task.actor and command.words:
            said.append(command.words)
    return said[-MAX_REVISIONS:-1] if said and said[-1] == task.words else said[-MAX_REVISIONS:]


async def _write(flow: FixFlow, result: FixResult, shown: str) -> FlowResult:
    path = flow.write_result(result.model_dump_json(indent=1))
    message = shown or render_abandoned("", result.error)
    return await finish(flow, message, {"proposal-file": path, "proposal-status": result.status.value})
