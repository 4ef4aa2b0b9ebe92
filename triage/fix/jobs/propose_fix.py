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
from triage.fix.check_approval import TOO_OFTEN, UNKNOWN_ID
from triage.fix.jobs.fix_job import MAX_ERROR_CHARS, FixJob, FixRequest, ProposeResult, write_result
from triage.fix.patch.unified_diff import diff_file, read_base_text
from triage.run.may_run.admission import WRITE_ROLES
from triage.run.may_run.event import restore_issue_at_trigger
from triage.run.may_run.route import CommandName, parse_command
from triage.run.run_context import export_telemetry
from triage.run.write.apply_local_effects import apply_local_effects
from triage.run.write.plan_effects import build_outputs, dump_report
from triage.safety.secrets.likely_secrets import redact_likely_secrets
from triage.say.comment import read_parts, withhold_details
from triage.say.hidden_state import hash_example
from triage.say.job_page import render_fix_page
from triage.say.our_comment import find_our_comment, read_state
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

    run, task = job.run, request.task
    issue = restore_issue_at_trigger(request.issue, run.event, started=run.now(), now=run.now())  # now, by hand
    earlier, problem = await _find_earlier(task, job)
    if problem:
        return await write_result(
            job,
            render_block("proposal", "abandoned", problem),
            job.artifacts.write_propose_result(ProposeResult(error=problem)),
        )
    files = await in_thread(job.open_base_files, "HEAD")
    services = await in_thread(run.open_services)
    example = await in_thread(job.open_example, issue)

    triage = partial(run_graph, services=replace(services, is_asked=True), cancelled=run.cancelled)
    change_request, feedback = await in_thread(_read_feedback, issue, task, job)
    state = FixState(
        issue=issue,
        repository=run.repository,
        change_request=change_request,
        example=_describe_example(example, issue),
        diff=await in_thread(_format_earlier_diff, earlier, files, job) if earlier else "",
        human_feedback=feedback,
        iteration_count=earlier.revision + 1 if earlier else 0,
    )
    state = await run_fix(state, FixContext(services, files, triage), run.cancelled)
    patch = None if state.error else state.patch
    error = "" if patch else (state.error or "")[:MAX_ERROR_CHARS]
    shown = state.diff_summary if patch else render_block("proposal", "abandoned", error)
    outputs = job.artifacts.write_propose_result(ProposeResult(error=error, patch=patch))
    if patch and example:
        job.artifacts.write_example(example)
    report = extend_report(state, services)
    if report is None:
        return await write_result(job, shown, outputs)
    report = withhold_details(report) if report.security else report
    effects: list[Effect] = [
        WriteReport(json_text=dump_report(report)),
        WriteJobPage(markdown=render_fix_page(shown, report)),
        SetOutputs(values=build_outputs(report) | outputs),
    ]
    done = apply_local_effects(effects, run.output)
    await export_telemetry(report, services, run.cancelled, run.seconds_left)
    return done.downgrade_status(report.status)


async def _find_earlier(task: FixTask, job: FixJob) -> tuple[Proposal | None, str]:
    """Return the version that a person wants changed, and why it cannot be."""
    if task.command != "revise":
        return None, ""
    try:
        stored = await job.run.ask_github("The proposals", lambda: job.proposals.list_proposals(task.number))
    except TriageError as error:
        return None, str(error)
    earlier = next((one for one in stored if one.id == task.proposal_id), None)
    problem = UNKNOWN_ID if earlier is None else TOO_OFTEN if earlier.revision >= MAX_REVISIONS else ""
    return earlier, problem[:1].upper() + problem[1:]


def _describe_example(example: "FixExample | None", issue: Issue) -> str:
    """Return the example, and what our comment says of a run of it on the default branch."""
    comment, reproduced = find_our_comment(issue), read_state(issue).reproduced
    if example is None or comment is None or reproduced is None or reproduced.example != hash_example(example.code):
        return example.describe() if example else ""
    said = read_parts(comment.body).get("reproduction", "").partition("<details>")[0].strip()
    return f"{example.describe()}\n\nRun before, as our comment on the issue says:\n{said}"


def _format_earlier_diff(earlier: Proposal, files: "BaseFiles", job: FixJob) -> str:
    """Return the diff of the version that a person wants changed, against the commit that it was made from."""
    try:
        files = job.open_base_files(earlier.base)
    except BadInput:  # a shallow checkout has only today's commit
        job.run.progress.info("The earlier version is compared with today's commit.")
    diffs = []
    for path, file in [pair for commit in job.proposals.read_commits(earlier) for pair in commit.files.items()]:
        is_new = files.read(path) is None
        version = PatchedFile(path=path, text=redact_likely_secrets(file.text, path), is_new_file=is_new)
        diffs.append(diff_file(version, read_base_text(path, files)).text)
    return "".join(diffs)


_ABOUT_A_PATCH = (CommandName.FIX, CommandName.REVISE, CommandName.REJECT)


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
        if command is None or command.name not in _ABOUT_A_PATCH or comment.by_bot:
            continue
        if comment.author not in roles and len(roles) <= MAX_ROLE_LOOKUPS:
            roles[comment.author] = job.run.github.fetch_role(comment.author)
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
