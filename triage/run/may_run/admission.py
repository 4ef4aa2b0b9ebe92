"""Decides whether a task may run, once the thread and people's roles are known, and whether a model may answer."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from triage.base.errors import RateLimited, TriageError
from triage.domain.issue import Issue, IssueComment
from triage.domain.project_config import ProjectConfig
from triage.domain.task import RUN_WINDOW, IssueTask, QuietTask, ReproduceTask, RunKey, TriageTask, Trigger
from triage.read.questions import answers_question
from triage.run.may_run.event import Event, check_trigger_comment, to_run_key
from triage.run.may_run.route import CommandName, parse_command
from triage.run.run_context import JobContext
from triage.say.hidden_state import CommentState, hash_text, parse_state
from triage.say.our_comment import find_our_comment, read_state

WRITE_ROLES = frozenset({"admin", "maintain", "write"})
"""Roles with write access (GitHub's `role_name`)."""
MAX_RUNS = 3
"""Runs by command or answer, per issue, within the window."""
MAX_ROLE_LOOKUPS = 10
"""Many comments must not cause many requests."""
TRIAGE_ROLES = WRITE_ROLES | {"triage"}
MAY_COMMAND = {CommandName.TRIAGE: WRITE_ROLES, CommandName.REPRODUCE: TRIAGE_ROLES}
"""Each of these commands starts a run."""
REFUSED = {
    CommandName.TRIAGE: "`/triage` is for the issue's author and for people with write access to the repository.",
    CommandName.REPRODUCE: "`/triage reproduce` is for people with triage rights and the author of an issue with the "
    "opt-in label.",
}
RunTask = TriageTask | ReproduceTask
TaskT = TypeVar("TaskT", bound=IssueTask | ReproduceTask)


@dataclass(frozen=True)
class IssueRequest(Generic[TaskT]):
    """What is asked on an issue, and the issue."""

    task: TaskT
    issue: Issue
    """As GitHub shows it now."""
    at_trigger: Issue
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

    Comments after the one that triggered the run do not count against it.

    Args:
        request: What the event asks for.
        fetch_role: Returns GitHub's `role_name` of a login. It may raise, and block.
        config: The project's own settings.
    """
    task, issue = request.task, request.issue
    if reason := check_trigger_comment(task, issue, request.event) or _check_open(issue):
        return reason
    if task.trigger is Trigger.COMMAND:
        return _check_command(CommandName.TRIAGE, request, fetch_role, config)
    reason = check_opt_labels(task, issue, config)
    if reason or task.trigger is Trigger.REQUESTED:
        return reason
    reason = _check_automatic_run(request)
    if reason or task.trigger is not Trigger.REPORTER_REPLY:
        return reason
    return _check_run_count(request, _fetch_roles([], request, fetch_role), config)


def check_reproduce(
    request: IssueRequest[ReproduceTask], fetch_role: Callable[[str], str], config: ProjectConfig
) -> str:
    """Return why the example of the issue is not run; empty if it is. See `check_triage`."""
    if reason := _check_open(request.issue):
        return reason
    if request.task.trigger is Trigger.COMMAND:
        return _check_command(CommandName.REPRODUCE, request, fetch_role, config)
    reason = check_opt_labels(request.task, request.issue, config)
    if reason or request.task.trigger is Trigger.REQUESTED:
        return reason
    return _check_automatic_run(request)


def check_quiet(request: IssueRequest[QuietTask], fetch_role: Callable[[str], str]) -> str:
    """Return why nothing is taken back or silenced; empty if it is. See `check_triage`."""
    task, issue = request.task, request.issue
    if reason := check_trigger_comment(task, issue, request.event) or _check_open(issue):
        return reason
    role = fetch_role(task.actor)
    if task.wrong:
        return "" if role in TRIAGE_ROLES else "`/triage wrong` is for people with triage rights."
    if role not in WRITE_ROLES:
        return "`/triage quiet` needs write access to the repository."
    return "The issue is already quiet." if read_state(issue).quiet else ""


def _check_open(issue: Issue) -> str:
    if issue.is_pull_request:
        return "Pull requests are not triaged."
    return "The issue is locked." if issue.locked else ""


def _check_command(
    command: CommandName, request: IssueRequest[Any], fetch_role: Callable[[str], str], config: ProjectConfig
) -> str:
    actor, issue = request.task.actor, request.issue
    label_reason = check_opt_labels(request.task, issue, config)
    # The author may triage the issue without any role, unless a label prevents it.
    needs_no_role = command is CommandName.TRIAGE and _is_same_login(actor, issue.author) and not label_reason
    roles = _fetch_roles([] if needs_no_role else [actor], request, fetch_role)
    role = roles.get(actor, "none")
    if label_reason and role not in MAY_COMMAND[command]:
        return label_reason
    if not _may_command(command, actor, issue, roles, config):
        return REFUSED[command]
    return "" if role in WRITE_ROLES else _check_run_count(request, roles, config)


def _fetch_roles(first: Sequence[str], request: IssueRequest[Any], fetch_role: Callable[[str], str]) -> dict[str, str]:
    """Return the roles of these logins, then of others whose recent commands may count, by login."""
    recent = _recent_comments(request.issue, request.now)
    commands = (one for one in reversed(recent) if _find_run_command(one) and not one.by_bot)
    others = [one.author for one in commands if not _is_same_login(one.author, request.issue.author)]
    logins = [login for login in dict.fromkeys([*first, *others]) if login]
    return {login: fetch_role(login) for login in logins[:MAX_ROLE_LOOKUPS]}


def _recent_comments(issue: Issue, now: datetime) -> list[IssueComment]:
    """Return comments within the window; one without a time counts as recent."""
    return [comment for comment in issue.thread if comment.created_at is None or comment.created_at > now - RUN_WINDOW]


def _find_run_command(comment: IssueComment) -> CommandName | None:
    command = parse_command(comment.body)
    return command.name if command and command.name in MAY_COMMAND else None


def _is_same_login(one: str, other: str) -> bool:
    return bool(one) and one.lower() == other.lower()


def check_opt_labels(task: RunTask, issue: Issue, config: ProjectConfig) -> str:
    """Return why the project's labels prevent the run, unless somebody with rights commands it; or empty."""
    if config.opt_out_label and issue.has_label(config.opt_out_label):
        return "The issue carries the project's opt-out label."
    if task.trigger is Trigger.REQUESTED or not config.opt_in_label or issue.has_label(config.opt_in_label):
        return ""
    return "The issue does not carry the project's opt-in label."


def _check_automatic_run(request: IssueRequest[Any]) -> str:
    task, issue, event, now = request.task, request.issue, request.event, request.now
    comment, state = find_our_comment(issue), read_state(issue)
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
    if task.trigger is Trigger.REPORTER_REPLY and not state.asked:
        return "No question to the issue's author is open."
    if task.trigger is Trigger.REPORTER_REPLY and answer and not answers_question(answer.body, state.asked):
        return "The comment answers no question to the issue's author."
    return ""


def _may_command(
    command: CommandName, login: str, issue: Issue, roles: Mapping[str, str], config: ProjectConfig
) -> bool:
    if login and roles.get(login, "none") in MAY_COMMAND[command]:
        return True
    is_invited = bool(config.opt_in_label) and issue.has_label(config.opt_in_label)
    return (is_invited or command is CommandName.TRIAGE) and _is_same_login(login, issue.author)


def _check_run_count(request: IssueRequest[Any], roles: Mapping[str, str], config: ProjectConfig) -> str:
    """Count the runs of the window, the present one included.

    The thread shows the comments that asked for them; our comment remembers those that were deleted or edited since.
    Comments by the issue's author count only against further answers: not each of them was a run, and a command must
    not be refused because the author wrote much.
    """
    task, issue, event, now = request.task, request.issue, request.event, request.now
    trigger_comment_id = event.comment.comment_id if event and event.comment else None
    our_times = [comment.created_at for comment in issue.thread if comment.ours and comment.created_at]
    runs = {str(run.comment_id) for run in read_state(issue).past_runs if run.comment_id and run.at > now - RUN_WINDOW}
    for index, comment in enumerate(_recent_comments(issue, now)):
        number = comment.comment_id
        is_later = trigger_comment_id is not None and number is not None and number > trigger_comment_id
        if comment.by_bot or comment.ours or is_later:
            continue
        command = _find_run_command(comment)
        is_command = command and _may_command(command, comment.author, issue, roles, config)
        if is_command or (task.trigger is Trigger.REPORTER_REPLY and _may_be_answer(comment, issue, our_times)):
            runs.add(f"at {index}" if number is None else str(number))
    if trigger_comment_id is not None:
        runs.add(str(trigger_comment_id))
    if len(runs) <= MAX_RUNS:
        return ""
    return f"This issue has had its {MAX_RUNS} runs by command or answer in 24 hours."


def _may_be_answer(comment: IssueComment, issue: Issue, our_times: list[datetime]) -> bool:
    if not _is_same_login(comment.author, issue.author) or parse_command(comment.body) is not None:
        return False
    # Before our first comment there was nothing to answer.
    return bool(our_times) and (comment.created_at is None or comment.created_at > min(our_times))


MAX_MODEL_RUNS_PER_ISSUE = 5
"""Per issue and window: editing an issue again and again must not cost more than a few runs."""
UNCOUNTED_TRIGGERS = (Trigger.EDITED, Trigger.REOPENED)
UNCOUNTED = (
    "No comment of ours counts the runs on this issue, so rules answered: a model answers to `/triage`, and once "
    "there is a comment."
)
"""Otherwise a report that is not worth a comment could be edited, and paid for, without end."""


async def check_model_run_cap(request: IssueRequest[TriageTask], run: JobContext) -> str:
    """Return why rules answer though a model could; empty when a model may be asked.

    The cap does not hold for a request by number, nor for `/triage` by somebody with write access. When GitHub does
    not say how many issues came, a model is asked, unless GitHub says that it was asked too often: a burst does that.
    """
    cap, task = run.max_model_runs, request.task
    if cap is None or task.trigger is Trigger.REQUESTED:
        return ""
    if request.comment_state is None and task.trigger in UNCOUNTED_TRIGGERS and run.policy.comment != "always":
        run.progress.info(UNCOUNTED)
        return UNCOUNTED
    try:
        opened = await run.ask_github("The list of the newest issues", lambda: run.github.list_recent_issues(cap))
    except RateLimited as error:
        reason = f"{error} Too many issues may have come (`max-model-runs-per-day`): rules answered this one."
    except TriageError as error:
        run.progress.info(f"{error} `max-model-runs-per-day` could not be checked; the model is used.")
        return ""
    else:
        key, state = to_run_key(task, request.event), request.comment_state
        earlier = [one for one in (state.past_runs if state else []) if one != key]
        reason = rules_only_reason(opened, task.number, earlier, request.now, cap)
    if not reason or (task.trigger is Trigger.COMMAND and await is_by_writer(task, run)):
        return ""
    run.progress.info(reason)
    return reason


async def is_by_writer(task: TriageTask, run: JobContext) -> bool:
    """Return whether GitHub confirms that whoever asked has write access; starting a workflow by hand needs it."""
    if task.trigger is not Trigger.COMMAND:
        return task.trigger is Trigger.REQUESTED
    try:
        role = await run.ask_github("The role of whoever asked", lambda: run.github.fetch_role(task.actor))
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
