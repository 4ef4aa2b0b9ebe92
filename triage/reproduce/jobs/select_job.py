"""The job that decides who may ask, which bytes are run, and on which versions. It reads, and runs nothing."""

from hashlib import sha256

from triage.base.errors import WrongUsage
from triage.base.threads import in_thread
from triage.domain.run import Status
from triage.domain.task import ReproduceTask, Trigger
from triage.reproduce.jobs.handover import MAX_ORDERS, SELECTION, Order, Orders
from triage.reproduce.jobs.reproduce_job import ReproduceJob, Request, finish, read_each, read_request, read_wish
from triage.reproduce.project_checkout import NothingToRun
from triage.run.write.apply_job_effects import PublishResult
from triage.run.write.write_results import write_skip
from triage.safety.safe_markdown import escape_markdown
from triage.say.hidden_state import hash_example
from triage.say.our_comment import read_comment_state

MAX_RUNS_PER_DAY = 20
BURST = f"More than {MAX_RUNS_PER_DAY} issues came within 24 hours. `/triage reproduce` runs this example."


async def select_reproduction(task: ReproduceTask, job: ReproduceJob) -> Status:
    """Write the file for the next jobs, and say in the output `next-job` which of them follows."""
    if task.number is None:
        return await _select_again(job)
    request = await read_request(task.number, task, job)
    if request.skip_reason:
        return write_skip(request.skip_reason, job.context)
    if task.trigger is Trigger.OPENED:
        github = job.context.github
        opened = await job.context.ask_github("The newest issues", lambda: github.list_recent_issues(MAX_RUNS_PER_DAY))
        if len({*opened, task.number}) > MAX_RUNS_PER_DAY:
            return write_skip(BURST, job.context)
    order = await in_thread(_make_order, task.number, task, request, job)
    if order.selection is None and not task.actor:  # nobody waits for an answer
        return await finish(job, f"Nothing is run: {escape_markdown(order.refusal)}")
    if order.selection is None:
        page = f"Nothing is run: {escape_markdown(order.refusal)}"
        return await finish(job, page, _hand_over([order], "report", job))
    versions = ", ".join(target.on for target in order.selection.targets)
    return await finish(job, f"To be run on {escape_markdown(versions)}.", _hand_over([order], "run", job))


def _hand_over(orders: list[Order], following: str, job: ReproduceJob) -> dict[str, str]:
    job.write_file(SELECTION, Orders(orders=orders).model_dump_json())
    written = job.read_file(SELECTION) or b""
    return {"next-job": following, "reproduce-selection": sha256(written).hexdigest()}


def _make_order(number: int, task: ReproduceTask, request: Request, job: ReproduceJob) -> Order:
    if request.refusal:
        return Order(number=number, refusal=request.refusal)
    try:
        wish = read_wish(request.issue, task, job.context)
        return Order(number=number, selection=job.select(*wish), is_own=bool(wish.own))
    except (NothingToRun, WrongUsage) as problem:
        return Order(number=number, refusal=str(problem)[:1_000])


async def _select_again(job: ReproduceJob) -> Status:
    """Select the examples that failed when they were run last, on the same version, and on today's commit."""
    orders, done = list[Order](), PublishResult()
    async for request in read_each(await in_thread(job.list_reproduced), job, done):
        state, number = read_comment_state(request.issue), request.issue.number
        before = state.reproduced
        if request.skip_reason or before is None or not before.fails or state.quiet or number is None:
            continue
        again = ReproduceTask(number=number, words=f"on {before.on}" if before.on else "")
        order = await in_thread(_make_order, number, again, request, job)
        if order.selection and hash_example(order.selection.example.code) == before.example:
            orders.append(order)
        if len(orders) == MAX_ORDERS:
            break
    numbers = ", ".join(f"`#{order.number}`" for order in orders) or "none"
    page = f"Issues to be run again: {numbers}."
    return await finish(job, page, _hand_over(orders, "run", job) if orders else {}, done=done)
