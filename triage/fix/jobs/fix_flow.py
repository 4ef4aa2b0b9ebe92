"""What the jobs of the fix flow act through, and what one job leaves for the next."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pydantic import Field, ValidationError

from triage.base.errors import BadInput
from triage.domain.effect import Effect, IssueEffect, React, Reaction
from triage.domain.proposal import Approvers, PatchDraft, PatchProposal, ProposalStatus, ProposalTests, StoredProposal
from triage.domain.run import Status
from triage.domain.task import FixTask
from triage.domain.value import Value
from triage.events.trigger_snapshot import get_trigger_comment
from triage.job_page.notices import plan_fix_result
from triage.jobs.flow_context import FlowContext, FlowResult
from triage.jobs.write_results import write_effects
from triage.proposal_ports import BaseFiles, ProposalStore

MAX_RESULT_BYTES = 8_000_000
MAX_ERROR_CHARS = 4_000


class FixResult(Value):
    """What the job `propose` found, as a file for the jobs after it."""

    status: ProposalStatus = ProposalStatus.NONE
    error: str = Field("", max_length=MAX_ERROR_CHARS)
    """Why there is no patch. May hold a model's words."""
    draft: PatchDraft | None = None
    drops_earlier: bool = False
    """Whether the version before is given up as well."""


@dataclass(frozen=True)
class FixFlow:
    context: FlowContext
    store: ProposalStore
    open_files: Callable[[str], BaseFiles]
    """The files of a commit of the checkout, such as `HEAD`. Raises BadInput if it is not there."""
    read_result: Callable[[], bytes | None]
    """The file of the job before; None without one."""
    write_result: Callable[[str], str]
    """Writes the file for the next job. Returns its path."""
    approvers: Approvers = "write"
    tests: ProposalTests = ""
    run_url: str = ""


def parse_result(data: bytes | None) -> FixResult | None:
    """Return the result of the job `propose`. Raises BadInput if the file is not one."""
    if data is None:
        return None
    if len(data) > MAX_RESULT_BYTES:
        raise BadInput(f"The file with the proposal has more than {MAX_RESULT_BYTES:,} bytes.")
    try:
        return FixResult.model_validate_json(data)
    except ValidationError:
        raise BadInput("The file with the proposal cannot be read. Use the artifact of the job `propose`.") from None


def describe_stored(stored: StoredProposal | None) -> dict[str, str]:
    """Return the outputs that name a proposal."""
    if stored is None:
        return {}
    proposal: PatchProposal = stored.proposal
    return {
        "proposal-id": proposal.id,
        "proposal-sha": proposal.commit,
        "proposal-test-sha": proposal.test_commit or "",
        "proposal-base": proposal.base,
    }


def plan_reaction(flow: FixFlow, reaction: Reaction) -> list[IssueEffect]:
    """Return the reaction to the comment with the command; nothing if a workflow was started by hand."""
    trigger = get_trigger_comment(flow.context.event_issue)
    return [React(comment_id=trigger.comment_id, reaction=reaction)] if trigger and trigger.comment_id else []


def format_command(task: FixTask) -> str:
    return f"/triage {task.command} {task.proposal_id}".strip()


async def finish(
    flow: FixFlow,
    message: str,
    outputs: Mapping[str, str],
    effects: Sequence[Effect] = (),
    *,
    status: Status = Status.COMPLETE,
) -> FlowResult:
    """Write to the issue, to the job's page and to the outputs. `message` is inert Markdown."""
    shown = [effect for effect in effects if not flow.context.policy.dry_run]
    done = await write_effects([*shown, *plan_fix_result(message, outputs, status)], flow.context)
    if done.needs_setup_fix:
        return FlowResult(Status.FAILED)
    return FlowResult(Status.DEGRADED if done.failures else status)
