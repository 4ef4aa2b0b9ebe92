"""The job with the model: writes a patch to a file. It can write nothing to GitHub."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from triage.base.errors import BadInput, TriageError
from triage.base.threads import in_thread
from triage.domain.effect import Effect, SetOutputs, WriteJobPage, WriteReport
from triage.domain.issue import Issue
from triage.domain.proposal import MAX_REVISIONS, PatchedFile, Proposal
from triage.domain.run import Status
from triage.domain.task import FixTask
from triage.fix.check_command import TOO_OFTEN, UNKNOWN_ID
from triage.fix.jobs.fix_job import MAX_ERROR_CHARS, FixJob, FixRequest, ProposeResult, write_job_result
from triage.fix.patch.unified_diff import diff_file, read_base_text
from triage.run.job_context import export_telemetry
from triage.run.may_run.admission import WRITE_ROLES
from triage.run.may_run.event import restore_issue_at_trigger
from triage.run.may_run.route import CommandName, parse_command
from triage.run.write.apply_job_effects import apply_job_effects
from triage.run.write.plan_effects import build_outputs, dump_report
from triage.safety.secrets.likely_secrets import redact_likely_secrets
from triage.say.comment import read_parts, withhold_details
from triage.say.hidden_state import hash_example
from triage.say.job_page import render_fix_page
from triage.say.our_comment import find_our_comment, read_comment_state
from triage.say.template import render_block

if TYPE_CHECKING:
    from triage.fix.base_files import BaseFiles
    from triage.reproduce.fix_example import FixExample

MAX_ROLE_LOOKUPS = 5


async def propose_fix(request: FixRequest, job: FixJob) -> Status:
    """Run the fix flow up to the person, and write what it found for the next jobs."""
    from triage.fix.graph.fix_graph import extend_report, run_fix
    from triage.fix.graph.fix_state import FixContext, FixState
    from triage.graph.run_graph import run_graph

    context, task = job.context, request.task
    now = context.now()  # what was written until now counts
    issue = restore_issue_at_trigger(request.issue, context.event, started=now, now=now)
    earlier, problem = await _find_earlier(task, job)
    if problem:
        return await write_job_result(
            job,
            render_block("proposal", "no_change", problem),
            job.artifacts.write_propose_result(ProposeResult(error=problem)),
        )
    base_files = await in_thread(job.open_base_files, "HEAD")
    services = await in_thread(context.open_services)
    example = await in_thread(job.open_example, issue)

    triage = partial(run_graph, services=replace(services, searches_for_features=True), cancelled=context.cancelled)
    change_request, feedback = await in_thread(_read_feedback, issue, task, job)
    state = FixState(
        issue=issue,
        repository=context.repository,
        change_request=change_request,
        example=_describe_example(example, issue),
        diff=await in_thread(_format_earlier_diff, earlier, base_files, job) if earlier else "",
        human_feedback=feedback,
        iteration_count=earlier.revision + 1 if earlier else 0,
    )
    state = await run_fix(state, FixContext(services, base_files, triage), context.cancelled)
    patch = None if state.error else state.patch
    error = "" if patch else (state.error or "")[:MAX_ERROR_CHARS]
    shown = state.diff_summary if patch else render_block("proposal", "no_change", error)
    outputs = job.artifacts.write_propose_result(ProposeResult(error=error, patch=patch))
    if patch and example:
        job.artifacts.write_example(example)
    report = extend_report(state, services)
    if report is None:
        return await write_job_result(job, shown, outputs)
    report = withhold_details(report) if report.security else report
    effects: list[Effect] = [
        WriteReport(json_text=dump_report(report)),
        WriteJobPage(markdown=render_fix_page(shown, report)),
        SetOutputs(values=build_outputs(report) | outputs),
    ]
    done = apply_job_effects(effects, context.output)
    await export_telemetry(report, services, context.cancelled, context.seconds_left)
    return done.downgrade_status(report.status)


async def _find_earlier(task: FixTask, job: FixJob) -> tuple[Proposal | None, str]:
    """Return the version that a person wants changed, and why it cannot be."""
    if task.command != "revise":
        return None, ""
    try:
        stored = await job.context.ask_github("The proposals", lambda: job.proposal_store.list_proposals(task.number))
    except TriageError as error:
        return None, str(error)
    earlier = next((one for one in stored if one.id == task.proposal_id), None)
    problem = UNKNOWN_ID if earlier is None else TOO_OFTEN if earlier.revision >= MAX_REVISIONS else ""
    return earlier, problem[:1].upper() + problem[1:]


def _describe_example(example: "FixExample | None", issue: Issue) -> str:
    """Return the example, and what our comment says of a run of it on the default branch."""
    comment, reproduced = find_our_comment(issue), read_comment_state(issue).reproduced
    if example is None or comment is None or reproduced is None or reproduced.example != hash_example(example.code):
        return example.describe() if example else ""
    said = read_parts(comment.body).get("reproduction", "").partition("<details>")[0].strip()
    return f"{example.describe()}\n\nRun before, as our comment on the issue says:\n{said}"


def _format_earlier_diff(earlier: Proposal, base_files: "BaseFiles", job: FixJob) -> str:
    """Return the diff of the version that a person wants changed, against the commit that it was made from."""
    try:
        base_files = job.open_base_files(earlier.base)
    except BadInput:  # a shallow checkout has only today's commit
        job.context.progress.info("The earlier version is compared with today's commit.")
    diffs = []
    for path, file in [pair for commit in job.proposal_store.read_commits(earlier) for pair in commit.files.items()]:
        is_new = base_files.read(path) is None
        version = PatchedFile(path=path, text=redact_likely_secrets(file.text, path), is_new_file=is_new)
        diffs.append(diff_file(version, read_base_text(path, base_files)).text)
    return "".join(diffs)


_COMMANDS_WITH_WORDS = (CommandName.FIX, CommandName.REVISE, CommandName.REJECT)


def _read_feedback(issue: Issue, task: FixTask, job: FixJob) -> tuple[str, list[str]]:
    """Return what people with write access asked for: the last `/triage fix`, and the revisions since, oldest first.

    Of a version that was rejected before, the last reason.
    """
    change_request = reason = ""
    has_fix = False
    feedback: list[str] = []
    roles = {task.actor: "write"}
    for comment in issue.thread:
        command = parse_command(comment.body)
        if command is None or command.name not in _COMMANDS_WITH_WORDS or comment.by_bot:
            continue
        if comment.author not in roles and len(roles) <= MAX_ROLE_LOOKUPS:
            roles[comment.author] = job.context.github.fetch_role(comment.author)
        if roles.get(comment.author) not in WRITE_ROLES:
            continue
        if command.name is CommandName.FIX:
            has_fix, change_request, feedback = True, command.words, []
        elif command.name is CommandName.REVISE and command.words:
            feedback.append(command.words)
        elif command.name is CommandName.REJECT and has_fix:
            reason = command.words
    if task.command == "fix":
        change_request, feedback = task.words, []
    elif not feedback or feedback[-1] != task.words:
        feedback.append(task.words)
    rejected = f"An earlier version was rejected: {reason}" if reason else ""
    return "\n".join(filter(None, [change_request, rejected])), feedback[-MAX_REVISIONS:]
