"""Decides whether a task may run, once the thread and people's roles are known, and whether a model may answer."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from triage.base.errors import RateLimited, TriageError
from triage.domain.issue import Issue
from triage.domain.project_config import ProjectConfig
from triage.domain.task import RUN_WINDOW, IssueTask, QuietTask, ReproduceTask, RunKey, TriageTask, Trigger
from triage.read.questions import answers_question
from triage.run.job_context import ROLE_OF_ASKER, JobContext
from triage.run.may_run.event import Event, check_trigger_comment, to_run_key
from triage.run.may_run.route import CommandName, parse_command
from triage.say.hidden_state import CommentState, hash_text, parse_state
from triage.say.our_comment import find_our_comment, read_comment_state

WRITE_ROLES = frozenset({"admin", "maintain", "write"})
"""Roles with write access (GitHub's `role_name`)."""
MAX_RUNS = 3
"""Runs by command or answer, per issue, within the window."""
TRIAGE_ROLES = WRITE_ROLES | {"triage"}
MAY_COMMAND = {CommandName.TRIAGE: WRITE_ROLES, CommandName.REPRODUCE: TRIAGE_ROLES}
"""Each of these commands starts a run."""
REFUSED = {
    CommandName.TRIAGE: "`/triage` is for the issue's author and for people with write access to the repository.",
    CommandName.REPRODUCE: "`/triage reproduce` is for people with triage rights and the author of an issue with the "
    "opt-in label.",
}
TaskT = TypeVar("TaskT", bound=IssueTask | ReproduceTask)


@dataclass(frozen=True)
class IssueRequest(Generic[TaskT]):
    """What is asked on an issue, and the issue."""

    task: TaskT
    issue: Issue
    """As GitHub shows it now."""
    issue_at_trigger: Issue
    """What is read of it: nothing that was written after the event."""
    event: Event | None
    """None for a request by number."""
    now: datetime
    """By GitHub's clock, where that is known."""

    @property
    def comment_state(self) -> CommentState | None:
        """What our comment on the issue remembers; None without one."""
        comment = find_our_comment(self.issue)
        return parse_state(comment.body) if comment else None


def check_added_label(task: TriageTask, config: ProjectConfig) -> str:
    """Return why the label that was added starts no triage; empty if it does, or if none was added."""
    if task.trigger is not Trigger.LABELED:
        return ""
    if not config.opt_in_label:
        return "Labels do not start a triage."
    is_opt_in = task.added_label.casefold() == config.opt_in_label.casefold()
    return "" if is_opt_in else "Only the opt-in label starts a triage."


def check_triage(request: IssueRequest[TriageTask], fetch_role: Callable[[str], str], config: ProjectConfig) -> str:
    """Return why the issue is not triaged; empty if it is.

    An opened issue needs nobody's role: only labels, a lock, quiet and a bot count. Comments after the one that
    triggered the run do not count against it. `fetch_role` returns GitHub's `role_name` of a login; it may raise.
    """
    task, issue = request.task, request.issue
    if reason := check_trigger_comment(task, issue, request.event) or _check_unlocked_issue(issue):
        return reason
    if task.trigger is Trigger.COMMAND:
        return _check_command(CommandName.TRIAGE, request, fetch_role, config)
    reason = check_opt_labels(task, issue, config)
    if reason or task.trigger is Trigger.BY_NUMBER:
        return reason
    reason = _check_automatic_run(request)
    if reason or task.trigger is not Trigger.REPORTER_ANSWER:
        return reason
    return _check_run_count(request)


def check_reproduce(
    request: IssueRequest[ReproduceTask], fetch_role: Callable[[str], str], config: ProjectConfig
) -> str:
    """Return why the example of the issue is not run; empty if it is. See `check_triage`."""
    if reason := _check_unlocked_issue(request.issue):
        return reason
    if request.task.trigger is Trigger.COMMAND:
        return _check_command(CommandName.REPRODUCE, request, fetch_role, config)
    reason = check_opt_labels(request.task, request.issue, config)
    if reason or request.task.trigger is Trigger.BY_NUMBER:
        return reason
    return _check_automatic_run(request)


def check_quiet(request: IssueRequest[QuietTask], fetch_role: Callable[[str], str]) -> str:
    """Return why nothing is taken back or silenced; empty if it is. See `check_triage`."""
    task, issue = request.task, request.issue
    if reason := check_trigger_comment(task, issue, request.event) or _check_unlocked_issue(issue):
        return reason
    role = fetch_role(task.actor)
    if task.wrong:
        return "" if role in TRIAGE_ROLES else "`/triage wrong` is for people with triage rights."
    if role not in WRITE_ROLES:
        return "`/triage quiet` needs write access to the repository."
    return "The issue is already quiet." if read_comment_state(issue).quiet else ""


def _check_unlocked_issue(issue: Issue) -> str:
    if issue.is_pull_request:
        return "Pull requests are not triaged."
    return "The issue is locked." if issue.locked else ""


def _check_command(
    command: CommandName, request: IssueRequest[Any], fetch_role: Callable[[str], str], config: ProjectConfig
) -> str:
    """Return why a command starts no run: its author has no right to it, or there were too many; else empty."""
    actor, issue = request.task.actor, request.issue
    label_reason = check_opt_labels(request.task, issue, config)
    is_author = _is_same_login(actor, issue.author)
    # The author may triage the issue without any role, unless a label prevents it.
    needs_no_role = command is CommandName.TRIAGE and is_author and not label_reason
    role = "none" if needs_no_role else fetch_role(actor)
    if role not in MAY_COMMAND[command]:
        is_invited = bool(config.opt_in_label) and issue.has_label(config.opt_in_label)
        if label_reason or not is_author or not (is_invited or needs_no_role):
            return label_reason or REFUSED[command]
    return "" if role in WRITE_ROLES else _check_run_count(request)


def _is_same_login(one: str, other: str) -> bool:
    return bool(one) and one.lower() == other.lower()


def check_opt_labels(task: TriageTask | ReproduceTask, issue: Issue, config: ProjectConfig) -> str:
    """Return why the project's labels prevent the run, unless somebody with rights commands it; or empty."""
    if config.opt_out_label and issue.has_label(config.opt_out_label):
        return "The issue carries the project's opt-out label."
    if task.trigger is Trigger.BY_NUMBER or not config.opt_in_label or issue.has_label(config.opt_in_label):
        return ""
    return "The issue does not carry the project's opt-in label."


def _check_automatic_run(request: IssueRequest[Any]) -> str:
    """Return why a run that nobody commanded is skipped.

    The issue is quiet or a bot's, its text was triaged already, or a comment answers nothing.
    """
    task, issue, event, now = request.task, request.issue, request.event, request.now
    comment, state = find_our_comment(issue), read_comment_state(issue)
    text, answer = event.issue if event else issue, event.comment if event else None
    has_same_text = state.text_hash == hash_text(text.title, text.body)
    written_at = (comment.edited_at or comment.created_at) if comment else None
    if state.quiet:
        return "`/triage quiet` was said on this issue."
    if issue.author_is_bot:
        return "Issues that a bot opened are not triaged on their own."
    if task.trigger in (Trigger.EDITED, Trigger.LABELED) and has_same_text:
        return "The issue's text is the one of the last triage."
    if task.trigger is Trigger.REOPENED and has_same_text and written_at and written_at > now - RUN_WINDOW:
        return "The issue's text is the one of the last triage, which is less than a day old."
    if task.trigger is Trigger.REPORTER_ANSWER and not state.asked_kinds:
        return "No question to the issue's author is open."
    if task.trigger is Trigger.REPORTER_ANSWER and answer and not answers_question(answer.body, state.asked_kinds):
        return "The comment answers no question to the issue's author."
    return ""


def _check_run_count(request: IssueRequest[Any]) -> str:
    """Return why there were too many runs in the window, the present one included; empty if not.

    Our comment remembers them, also those whose comments were deleted or edited since. Until a run has ended, the
    command counts that asks for it, if the same person wrote it.
    """
    since, trigger = request.now - RUN_WINDOW, request.event.comment if request.event else None
    runs = {run.comment_id for run in read_comment_state(request.issue).past_runs if run.comment_id and run.at > since}
    for comment in request.issue.thread:
        command, number = parse_command(comment.body), comment.comment_id or 0
        is_recent = comment.created_at is not None and comment.created_at > since
        is_later = trigger is not None and number > (trigger.comment_id or 0)
        if is_recent and not is_later and command and command.name in MAY_COMMAND:
            runs |= {number} if _is_same_login(comment.author, request.task.actor) else set()
    if len(runs | ({trigger.comment_id or 0} if trigger else set())) <= MAX_RUNS:
        return ""
    return f"This issue has had its {MAX_RUNS} runs by command or answer in 24 hours."


MAX_MODEL_RUNS_PER_ISSUE = 5
"""Per issue and window: editing an issue again and again must not cost more than a few runs."""
UNCOUNTED_TRIGGERS = (Trigger.EDITED, Trigger.REOPENED)
UNCOUNTED = (
    "No comment of ours counts the runs on this issue, so rules answered: a model answers to `/triage`, and once "
    "there is a comment."
)
"""Otherwise a report that is not worth a comment could be edited, and paid for, without end."""


async def check_model_run_cap(request: IssueRequest[TriageTask], context: JobContext) -> str:
    """Return why rules answer though a model could; empty when a model may be asked.

    The cap does not hold for a request by number, nor for `/triage` by somebody with write access. When GitHub does
    not say how many issues came, a model is asked, unless GitHub says that it was asked too often: a burst does that.
    """
    cap, task = context.max_model_runs, request.task
    if cap is None or task.trigger is Trigger.BY_NUMBER:
        return ""
    if request.comment_state is None and task.trigger in UNCOUNTED_TRIGGERS and context.policy.comment != "always":
        context.progress.info(UNCOUNTED)
        return UNCOUNTED
    try:
        opened = await context.ask_github("The newest issues", lambda: context.github.list_recent_issues(cap))
    except RateLimited as error:
        reason = f"{error} Too many issues may have come (`max-model-runs-per-day`): rules answered this one."
    except TriageError as error:
        context.progress.info(f"{error} `max-model-runs-per-day` could not be checked; the model is used.")
        return ""
    else:
        key, state = to_run_key(task, request.event), request.comment_state
        earlier = [one for one in (state.past_runs if state else []) if one != key]
        reason = rules_only_reason(opened, task.number, earlier, request.now, cap)
    if not reason or (task.trigger is Trigger.COMMAND and await has_actor_write_access(task, context)):
        return ""
    context.progress.info(reason)
    return reason


async def has_actor_write_access(task: TriageTask, context: JobContext) -> bool:
    """Return whether GitHub confirms that whoever asked has write access; starting a workflow by hand needs it."""
    if task.trigger is not Trigger.COMMAND:
        return task.trigger is Trigger.BY_NUMBER
    try:
        role = await context.ask_github(ROLE_OF_ASKER, lambda: context.github.fetch_role(task.actor))
    except TriageError:
        return False
    return role in WRITE_ROLES


def rules_only_reason(
    recent_issues: Collection[int], number: int, earlier_runs: Collection[RunKey], now: datetime, max_runs: int
) -> str:
    """Why rules answer instead of a model; empty when a model may answer.

    This issue counts whenever it was opened. Its earlier runs count like issues, so an author of edits gains nothing.
    """
    runs_here = 1 + sum(run.at > now - RUN_WINDOW for run in earlier_runs)
    if runs_here > MAX_MODEL_RUNS_PER_ISSUE:
        return f"This issue has had its {MAX_MODEL_RUNS_PER_ISSUE} runs by a model in 24 hours: rules answered."
    if len(set(recent_issues) - {number}) + runs_here <= max_runs:
        return ""
    return f"More than {max_runs} issues came within 24 hours (`max-model-runs-per-day`): rules answered this one."
