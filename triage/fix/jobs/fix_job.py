"""What the jobs of the fix flow act through, whom they admit, and how our comment shows a patch."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field, ValidationError

from triage.base.errors import BadInput
from triage.base.threads import in_thread
from triage.domain.effect import EditComment, Effect, PostComment, Reaction
from triage.domain.issue import Issue
from triage.domain.proposal import Approvers, ExampleOutcome, Patch, Proposal, ProposalStatus, TestsOutcome
from triage.domain.run import Status
from triage.domain.task import FixTask
from triage.domain.value import Value
from triage.fix.check_command import MORE_WORDS, NO_ID, OFF_DEFAULT_BRANCH, check_role
from triage.outside.output.job_output import PROPOSE_RESULT, read_own_file, write_file
from triage.run.job_context import ROLE_OF_ASKER, JobContext
from triage.run.may_run.event import Event, check_command_comment, plan_reaction
from triage.run.write.apply_job_effects import apply_job_effects
from triage.run.write.write_results import write_to_issue
from triage.safety.safe_markdown import escape_markdown
from triage.safety.secrets.redactor import SecretRedactor
from triage.say.comment import read_parts
from triage.say.notices import plan_job_result
from triage.say.our_comment import find_our_comment, plan_comment_parts, read_comment_state
from triage.say.template import render_block

if TYPE_CHECKING:
    from triage.fix.base_files import BaseFiles
    from triage.fix.proposal_store import GitHubProposalStore
    from triage.reproduce.fix_example import FixExample

MAX_RESULT_BYTES = 8_000_000
MAX_RUNS_BYTES = 1_000_000
MAX_ERROR_CHARS = 4_000


class ProposeResult(Value):
    """What the job `propose` found, as a file for the jobs after it."""

    error: str = Field("", max_length=MAX_ERROR_CHARS)
    """Why there is no patch. May hold a model's words."""
    patch: Patch | None = None


@dataclass(frozen=True)
class JobArtifacts:
    """What jobs leave each other in the workspace, by artifacts. Raises BadInput for what cannot be read or written."""

    workspace: Path
    redactor: SecretRedactor

    def read_propose_result(self) -> ProposeResult | None:
        """Return what the job `propose` has found; None without its file."""
        data = read_own_file(self.workspace, PROPOSE_RESULT, MAX_RESULT_BYTES)
        if data is None:
            return None
        try:
            return ProposeResult.model_validate_json(data)
        except ValidationError:  # also where it is longer than what was read
            raise BadInput("The result of the job `propose` cannot be read. Use its artifact.") from None

    def write_propose_result(self, result: ProposeResult) -> dict[str, str]:
        """Write the file for the jobs after `propose`. Returns the outputs that name it and the next one."""
        text = result.model_dump_json(indent=1)
        if self.redactor.redactor_for("patch")(text) != text:
            raise BadInput("The patch holds one of the run's own secrets. It is not written.")
        path = write_file(self.workspace, PROPOSE_RESULT, text)
        return {"result-file": path, "next-job": "store" if result.patch else "report"}

    def write_example(self, example: "FixExample") -> None:
        """Write what the job `verify` runs of the report."""
        redact = self.redactor.redactor_for("example")
        for name, text in example.files.items():
            write_file(self.workspace, name, redact(text))

    def read_example_runs(self) -> tuple[bytes, bytes] | None:
        """Return what the example did there, on the base and with the change: a stranger's words. None without."""
        try:
            base, after = (
                read_own_file(self.workspace, f"example-{name}.json", MAX_RUNS_BYTES) for name in ("base", "after")
            )
        except BadInput:
            return None
        return None if base is None or after is None else (base, after)


@dataclass(frozen=True)
class FixJob:
    """What each job of the fix flow acts through."""

    context: JobContext
    proposal_store: "GitHubProposalStore"
    open_base_files: Callable[[str], "BaseFiles"]
    """The files of a commit of the checkout, such as `HEAD`. Raises BadInput if it is not there."""
    artifacts: JobArtifacts
    open_example: Callable[[Issue], "FixExample | None"]
    """The report's example, of the project as it is in the checkout. Slow."""
    approvers: Approvers
    tests_outcome: TestsOutcome
    run_url: str


def describe_proposal(proposal: Proposal) -> dict[str, str]:
    """Return the outputs that name a proposal."""
    return {
        "proposal-id": proposal.id,
        "proposal-sha": proposal.commit,
        "proposal-test-sha": proposal.test_commit or "",
        "proposal-base": proposal.base,
    }


def format_reply(task: FixTask, text: str) -> str:
    """Return one line of Markdown that replies to the command. `text` is safe."""
    command = f"/triage {task.command} {task.proposal_id}".strip()
    return render_block("proposal", "reply", command, task.actor or "a workflow", text)


def format_refusal(task: FixTask, reason: str) -> str:
    """Return the reply that says why a command is not carried out. `reason` is plain text, the end of a sentence."""
    return format_reply(task, f"not done: {escape_markdown(reason)}")


async def write_job_result(
    job: FixJob,
    message: str,
    outputs: Mapping[str, str],
    effects: Sequence[Effect] = (),
    reaction: Reaction | None = None,
    *,
    status: Status = Status.COMPLETE,
    links: Sequence[str] = (),
) -> Status:
    """Write to the issue, to the job's page and to the outputs. `message` is Markdown with these links.

    The reaction is to the comment with the command; there is none if a workflow was started by hand.
    """
    if reaction:
        effects = [*effects, *plan_reaction(job.context.event, reaction)]
    done = await write_to_issue([] if job.context.policy.dry_run else effects, job.context)
    apply_job_effects(plan_job_result("fix", message, outputs, status, links), job.context.output, done)
    return done.downgrade_status(status)


@dataclass(frozen=True)
class FixRequest:
    """A command, with what GitHub says of it now."""

    task: FixTask
    issue: Issue
    has_write_access: bool
    """The person has it, whatever is wrong with the command. Nothing is written for others."""
    refusal: str
    """Why the command is not carried out, as the end of a sentence; empty if it may be."""


NO_PROPOSAL_OUTPUTS = {"proposal-status": ProposalStatus.NONE.value}


async def write_refusal(
    request: FixRequest, reason: str, job: FixJob, outputs: Mapping[str, str] = NO_PROPOSAL_OUTPUTS
) -> Status:
    """Say why the command is not carried out."""
    return await write_reply(request, format_refusal(request.task, reason), job, outputs)


async def write_reply(
    request: FixRequest, reply: str, job: FixJob, outputs: Mapping[str, str] = NO_PROPOSAL_OUTPUTS
) -> Status:
    """Reply to the command below what our comment shows, which stays as it is. `reply` is safe."""
    issue = request.issue
    effects = [plan_comment_parts(issue, {"reply": reply}, {})] if find_our_comment(issue) else []
    return await write_job_result(job, reply, outputs, effects, "confused")


async def read_fix_request(task: FixTask, job: FixJob) -> FixRequest:
    """Read the issue and the role of whoever commands. Raises TriageError if one cannot be read."""
    context = job.context
    issue = await context.ask_github(f"Issue #{task.number}", lambda: context.github.fetch_issue(task.number))
    role = "write"  # which starting a workflow by hand takes
    if task.actor:
        role = await context.ask_github(ROLE_OF_ASKER, lambda: context.github.fetch_role(task.actor))
    no_access = check_role(role)
    return FixRequest(task, issue, not no_access, no_access or _find_refusal(task, issue, context.event))


def _find_refusal(task: FixTask, issue: Issue, event: Event | None) -> str:
    if issue.is_pull_request or issue.locked:
        return "commands do not count on locked issues and on pull requests."
    if reason := check_command_comment(issue, event):
        return reason[0].lower() + reason[1:]
    if task.actor and task.command != "fix" and not task.proposal_id:
        return NO_ID
    if task.command == "revise" and not task.words:
        return "say what to change, after the id."
    return MORE_WORDS if task.command == "approve" and task.words else ""


async def check_base(job: FixJob) -> str:
    """Return why no patch may start from the commit of the checkout, as the end of a sentence; empty if one may.

    Raises TriageError if the checkout or GitHub cannot be read.
    """
    commit = (await in_thread(job.open_base_files, "HEAD")).commit
    store = job.proposal_store
    is_on_it = await job.context.ask_github("The default branch", lambda: store.is_on_default_branch(commit))
    return "" if is_on_it else OFF_DEFAULT_BRANCH


def read_shown_commit(issue: Issue) -> str:
    """Return the last commit of the patch that our comment shows and that waits for an answer; empty without one."""
    comment = find_our_comment(issue)
    return read_comment_state(issue).proposal_commit if comment and "proposal" in read_parts(comment.body) else ""


def plan_proposal_part(
    issue: Issue,
    text: str,
    links: Sequence[str] = (),
    *,
    commit: str = "",
    tests_outcome: TestsOutcome = "",
    example_outcome: ExampleOutcome = "",
) -> Sequence[PostComment | EditComment]:
    """Return the comment that shows this part and replies to no command any more; a new one if there is none.

    Without `commit` nothing waits for a decision any more: a second approval is refused.
    """
    remembered = {"proposal_commit": commit, "tests_outcome": tests_outcome, "example_outcome": example_outcome}
    return [plan_comment_parts(issue, {"proposal": text, "reply": ""}, remembered, links)]
