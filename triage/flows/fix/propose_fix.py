"""The job with the model: writes a patch to a file. It can write nothing to GitHub."""

from functools import partial

from triage.approval.proposal_id import compute_proposal_id
from triage.domain.issue import Issue, Repository
from triage.domain.patch import BaseFile, FileVersion
from triage.domain.proposal import MAX_REVISIONS, PatchProposal, ProposalStatus
from triage.domain.report import RunReport
from triage.domain.run import Status
from triage.domain.task import FixTask
from triage.errors import TriageError
from triage.events.commands import CommandName, parse_command
from triage.events.trigger_snapshot import restore_issue_at_trigger
from triage.flows.export_telemetry import export_telemetry
from triage.flows.fix.admit_fix import admit_fix
from triage.flows.fix.fix_flow import MAX_ERROR_CHARS, FixFlow, FixResult, finish
from triage.flows.flow_context import FlowResult
from triage.flows.write_results import write_effects
from triage.patches.unified_diff import format_file_diff
from triage.ports import Services
from triage.proposal_ports import BaseFiles
from triage.publish.plan_effects import plan_proposed
from triage.publish.proposal_text import render_abandoned, render_proposal
from triage.threads import run_in_daemon_thread

UNKNOWN_ID = "There is no proposal with this id. It may be replaced by a newer one; see the id in the comment."
TOO_OFTEN = f"The change was made again {MAX_REVISIONS} times and nobody approved it: it is abandoned."


async def propose_fix(task: FixTask, flow: FixFlow) -> FlowResult:
    """Run the fix flow up to the person, and write what it found for the next jobs."""
    admitted = await admit_fix(task, flow)
    if admitted.refusal:
        return await finish(flow, admitted.refusal, {}, status=Status.SKIPPED)
    context = flow.context
    issue = restore_issue_at_trigger(admitted.issue, context.event_issue, context.now(), context.now())
    try:
        earlier = await _find_earlier(task, flow)
    except TriageError as error:
        return await _write_without_run(flow, FixResult(error=str(error)))
    if task.command == "revise" and earlier is None:
        return await _write_without_run(flow, FixResult(error=UNKNOWN_ID))
    if earlier and earlier.revision >= MAX_REVISIONS:
        return await _write_without_run(flow, FixResult(status=ProposalStatus.ABANDONED, error=TOO_OFTEN))
    files = await run_in_daemon_thread(lambda: flow.open_files("HEAD"))
    services = await run_in_daemon_thread(context.open_services)
    result, report = await _run(task, issue, earlier, files, services, flow)
    draft = result.draft
    shown = (
        await run_in_daemon_thread(lambda: render_proposal(draft, files)) if draft else render_abandoned(result.error)
    )
    outputs = _write_result(flow, result)
    if report is None:
        return await finish(flow, shown, outputs)
    done = await write_effects(plan_proposed(shown, outputs, report), context)
    await export_telemetry(report, services, context.cancelled, context.seconds_left)
    return FlowResult(Status.FAILED if done.needs_setup_fix else report.status, report)


async def _find_earlier(task: FixTask, flow: FixFlow) -> PatchProposal | None:
    if task.command != "revise":
        return None
    stored = await flow.context.ask_github("The proposals", lambda: flow.store.list_proposals(task.number))
    found = [one.proposal for one in stored if compute_proposal_id(one.proposal) == task.proposal_id]
    return found[0] if found else None


async def _run(
    task: FixTask, issue: Issue, earlier: PatchProposal | None, files: BaseFiles, services: Services, flow: FixFlow
) -> tuple[FixResult, RunReport | None]:
    from triage.graph.fix_context import FixContext
    from triage.graph.fix_state import FixState
    from triage.graph.run_fix import extend_report, run_fix
    from triage.graph.run_graph import run_graph

    context = flow.context

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
    report = extend_report(state, services)
    if state.error or state.draft is None:
        return FixResult(status=state.status, error=(state.error or "")[:MAX_ERROR_CHARS]), report
    return FixResult(status=ProposalStatus.AWAITING, draft=state.draft), report


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


async def _write_without_run(flow: FixFlow, result: FixResult) -> FlowResult:
    return await finish(flow, render_abandoned(result.error), _write_result(flow, result))


def _write_result(flow: FixFlow, result: FixResult) -> dict[str, str]:
    """Write the file for the next jobs. Returns the outputs that name it."""
    path = flow.write_result(result.model_dump_json(indent=1))
    return {"proposal-file": path, "proposal-status": result.status.value}
