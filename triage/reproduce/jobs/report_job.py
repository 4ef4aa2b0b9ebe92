"""The job that writes the comment. It reads what the others wrote as a stranger's words."""

from collections.abc import Mapping, Sequence
from typing import Any

from triage.base.threads import in_thread
from triage.domain.effect import IssueEffect
from triage.domain.issue import Issue
from triage.domain.run import Status
from triage.domain.task import ReproduceTask
from triage.read.read_issue import read_issue
from triage.reproduce.evidence import Evidence, Selection
from triage.reproduce.jobs.handover import EVIDENCE, SELECTION, Order, accept_evidence, parse_orders
from triage.reproduce.jobs.reproduce_job import ReproduceJob, finish, read_each, read_request, select_allowed
from triage.reproduce.pages import Pages, find_executed_code
from triage.reproduce.render_evidence import ask_reporter, render_evidence
from triage.run.may_run.event import plan_reaction, to_run_key
from triage.run.write.apply_job_effects import PublishResult
from triage.run.write.write_results import read_again, write_skip, write_to_issue
from triage.safety.safe_markdown import escape_markdown
from triage.say.hidden_state import PartName, Reproduced, hash_example, is_version_remembered
from triage.say.our_comment import plan_comment_parts, read_comment_state

NOT_RUN = "the job that runs the example has ended without a result. See its log."
WORTH_SAYING = frozenset({"still", "fixed", "changed", "newer", "not-reproduced", "other-failure"})
"""Nobody waits for another verdict on an issue that was just opened: it stays on the job's page."""
LEADS_TO_CODE = frozenset({"still", "newer", "other-failure"})
"""What fails today lies in what it executes. The bug of another verdict is gone, or was not there."""
FIXED_SINCE = "It failed when it was run before, and does not any more: a maintainer may close this issue."


async def report_reproduction(task: ReproduceTask, job: ReproduceJob) -> Status:
    orders = parse_orders(job.read_file(SELECTION), job.selection_sha256)
    found = {one.number: one.evidence for one in parse_orders(job.read_file(EVIDENCE))}
    if task.number is None:
        return await _report_again(orders, found, job)
    request = await read_request(task.number, task, job)
    if request.skip_reason:
        return write_skip(request.skip_reason, job.context)
    order = next((one for one in orders if one.number == task.number), Order(number=task.number))
    refusal = request.refusal or order.refusal
    evidence = None if refusal else accept_evidence(order.selection, found.get(task.number))
    if order.selection is None or evidence is None:
        return await _answer(task, request.issue, refusal or NOT_RUN, job)
    pages = await in_thread(job.open_pages)
    known = await in_thread(_remember, order.selection, evidence, pages)
    block = await in_thread(_render, order.selection, evidence, pages, request.issue, order)
    is_worth_it = evidence.verdict in WORTH_SAYING and not read_comment_state(request.issue).quiet
    if not task.actor and not is_worth_it:
        return await finish(job, block, links=pages.links)
    remembered = {} if order.is_own else {"reproduced": known}
    issue = await read_again(request.issue, job.context)
    comment = _plan_comment(task, issue, job, {"reproduction": block, "reply": ""}, remembered, pages.links)
    return await finish(job, block, {}, [comment, *plan_reaction(job.context.event, "rocket")], pages.links)


def _plan_comment(
    task: ReproduceTask,
    issue: Issue,
    job: ReproduceJob,
    parts: Mapping[PartName, str],
    remembered: Mapping[str, Any],
    links: Sequence[str] = (),
) -> IssueEffect:
    """Return our comment with these parts. The run counts in it, whatever it says."""
    runs = read_comment_state(issue).with_run(to_run_key(task, job.context.event)).runs
    return plan_comment_parts(issue, parts, {**remembered, "runs": runs}, links)


def _render(selection: Selection, evidence: Evidence, pages: Pages, issue: Issue, order: Order) -> str:
    asked = ask_reporter(evidence, read_issue(issue).language)
    return render_evidence(selection, evidence, pages, is_own=order.is_own, asked=asked)


def _remember(selection: Selection, evidence: Evidence, pages: Pages) -> Reproduced:
    """Return what is needed to run the report's example again later, to recognise its failure, and to find the code."""
    first, current = selection.targets[0], selection.targets[-1]
    fails = evidence.verdict in ("still", "newer")
    known = Reproduced(
        example=hash_example(selection.example.code),
        fails=fails,
        on=first.on if first.commit != current.commit and is_version_remembered(first.on) else "",
        gone=evidence.verdict == "fixed",
    )
    executed = find_executed_code(evidence, pages.find_path) if evidence.verdict in LEADS_TO_CODE else None
    return known.with_code(executed) if executed else known


async def _answer(task: ReproduceTask, issue: Issue, refusal: str, job: ReproduceJob) -> Status:
    """Say why nothing was run. A result that the comment has stays."""
    text = f"**Nothing was run:** {escape_markdown(refusal)}"
    comment = _plan_comment(task, issue, job, {"reply": text}, {})
    return await finish(job, text, {}, [comment, *plan_reaction(job.context.event, "confused")])


async def _report_again(orders: list[Order], found: Mapping[int, Evidence | None], job: ReproduceJob) -> Status:
    """Change the comments of the issues whose example failed before and does not now. No issue is closed."""
    pages, lines, done = await in_thread(job.open_pages), list[str](), PublishResult()
    selected = {order.number: order for order in orders}
    async for request in read_each(selected, job, done):
        order = selected[request.issue.number or 0]
        evidence = accept_evidence(order.selection, found.get(order.number))
        state = read_comment_state(request.issue)
        verdict = evidence.verdict if evidence else "no result"
        lines.append(f"- `#{order.number}`: {verdict}")
        is_due = state.reproduced and state.reproduced.fails and not state.quiet and request.issue.state == "open"
        is_due = is_due and verdict == "fixed" and not (request.skip_reason or request.refusal)
        if not is_due or not evidence or not order.selection:
            continue
        block = await in_thread(_render, order.selection, evidence, pages, request.issue, order)
        parts: dict[PartName, str] = {"reproduction": f"{FIXED_SINCE}\n\n{block}", "reply": ""}
        remembered = {"reproduced": await in_thread(_remember, order.selection, evidence, pages)}
        comment = plan_comment_parts(request.issue, parts, remembered, pages.links)
        # At once: the comment of a later issue may change while the earlier ones are written.
        done = await write_to_issue(select_allowed([comment], job), job.context, done)
    return await finish(job, "\n".join(lines) or "No example was run again.", done=done)
