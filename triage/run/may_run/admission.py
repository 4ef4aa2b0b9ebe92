"""Decides whether a task may run, once the issue's thread and people's roles are known."""

from collections.abc import Mapping
from datetime import datetime
from typing import TypeVar

from pydantic import Field

from triage.domain.issue import Issue, IssueComment
from triage.domain.project_config import ProjectConfig
from triage.domain.task import RUN_WINDOW, QuietTask, ReproduceTask, RunKey, Skip, TriageTask, Trigger
from triage.domain.value import Value
from triage.run.may_run.commands import CommandName, parse_command
from triage.run.may_run.decide_approval import WRITE_ROLES

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


class RememberedFacts(Value):
    has_open_questions: bool = False
    is_answer: bool = True
    """The comment has a value for one of them."""
    is_quiet: bool = False
    """Somebody commanded `/triage quiet`."""
    has_same_text: bool = False
    """Title and body are the same as in the last run."""
    is_recent: bool = False
    """Our comment was written or edited within the window."""
    runs: list[RunKey] = Field(default_factory=list)


DEFAULT_CONFIG = ProjectConfig()
T = TypeVar("T", bound=RunTask | QuietTask)


def logins_to_check(
    task: RunTask | QuietTask, issue: Issue, now: datetime, config: ProjectConfig = DEFAULT_CONFIG
) -> list[str]:
    """Logins whose role `check_allowed` needs: the commanding one, then others whose recent commands may count.

    For a triage, the role of the issue's author counts only when a label prevents it.
    """
    if isinstance(task, QuietTask):
        return [task.actor]
    if not _is_by_command_or_answer(task):
        return []
    actor = [task.actor] if task.trigger is Trigger.COMMAND else []
    recent = reversed(_recent_comments(issue, now))
    others = [comment.author for comment in recent if _find_run_command(comment) and not comment.by_bot]
    without_author = [login for login in [*actor, *others] if not _is_same_login(login, issue.author)]
    needs_author = isinstance(task, ReproduceTask) or label_skip_reason(task, issue, config)
    needed = dict.fromkeys([*(actor if needs_author else []), *without_author])
    return [login for login in needed if login][:MAX_ROLE_LOOKUPS]


def _is_by_command_or_answer(task: RunTask) -> bool:
    return task.trigger in (Trigger.COMMAND, Trigger.REPORTER_REPLY)


def _recent_comments(issue: Issue, now: datetime) -> list[IssueComment]:
    """Comments within the window; one without a time counts as recent."""
    return [comment for comment in issue.thread if comment.created_at is None or comment.created_at > now - RUN_WINDOW]


def _find_run_command(comment: IssueComment) -> CommandName | None:
    command = parse_command(comment.body)
    return command.name if command and command.name in MAY_COMMAND else None


def _is_same_login(one: str, other: str) -> bool:
    return bool(one) and one.lower() == other.lower()


def check_allowed(
    task: T,
    issue: Issue,
    now: datetime,
    roles: Mapping[str, str] | None = None,
    earlier: RememberedFacts = RememberedFacts(),  # noqa: B008 - a frozen value
    config: ProjectConfig = DEFAULT_CONFIG,
    trigger_comment_id: int | None = None,
) -> T | Skip:
    """The task itself, or the reason for skipping it.

    The issue was fetched after the event, with its thread. `roles` has GitHub's `role_name` for each of
    `logins_to_check`. Comments after the one that triggered the run do not count against it.
    """
    roles = roles or {}
    if issue.is_pull_request:
        reason = "Pull requests are not triaged."
    elif issue.locked:
        reason = "The issue is locked."
    elif isinstance(task, QuietTask):
        reason = _quiet_skip_reason(task, roles, earlier)
    else:
        reason = _run_skip_reason(task, issue, roles, earlier, config)
        is_by_writer = task.trigger is Trigger.COMMAND and roles.get(task.actor, "none") in WRITE_ROLES
        if not reason and _is_by_command_or_answer(task) and not is_by_writer:
            reason = _limit_skip_reason(task, issue, now, roles, earlier, config, trigger_comment_id)
    return Skip(reason=reason) if reason else task


def _run_skip_reason(
    task: RunTask, issue: Issue, roles: Mapping[str, str], earlier: RememberedFacts, config: ProjectConfig
) -> str:
    command = CommandName.REPRODUCE if isinstance(task, ReproduceTask) else CommandName.TRIAGE
    is_command = task.trigger is Trigger.COMMAND
    has_rights = is_command and roles.get(task.actor, "none") in MAY_COMMAND[command]
    if not has_rights and (reason := label_skip_reason(task, issue, config)):
        return reason
    if is_command and not _may_command(command, task.actor, issue, roles, config):
        return REFUSED[command]
    if is_command or task.trigger is Trigger.REQUESTED:
        return ""
    return _automatic_skip_reason(task, issue, earlier)


def label_skip_reason(task: RunTask, issue: Issue, config: ProjectConfig) -> str:
    """Why the project's labels prevent the run, unless somebody with rights commands it; or empty."""
    if config.opt_out_label and issue.has_label(config.opt_out_label):
        return "The issue carries the project's opt-out label."
    if task.trigger is Trigger.REQUESTED or not config.opt_in_label or issue.has_label(config.opt_in_label):
        return ""
    return "The issue does not carry the project's opt-in label."


def _automatic_skip_reason(task: RunTask, issue: Issue, earlier: RememberedFacts) -> str:
    if earlier.is_quiet:
        return "`/triage quiet` was said on this issue."
    if issue.author_is_bot:
        return "Issues that a bot opened are not triaged on their own."
    if task.trigger in (Trigger.EDITED, Trigger.LABELED) and earlier.has_same_text:
        return "The issue's text is the one of the last triage."
    if task.trigger is Trigger.REOPENED and earlier.has_same_text and earlier.is_recent:
        return "The issue's text is the one of the last triage, which is less than a day old."
    if task.trigger is Trigger.REPORTER_REPLY and not earlier.has_open_questions:
        return "No question to the issue's author is open."
    if task.trigger is Trigger.REPORTER_REPLY and not earlier.is_answer:
        return "The comment answers no question to the issue's author."
    return ""


def _may_command(
    command: CommandName, login: str, issue: Issue, roles: Mapping[str, str], config: ProjectConfig
) -> bool:
    if login and roles.get(login, "none") in MAY_COMMAND[command]:
        return True
    is_invited = bool(config.opt_in_label) and issue.has_label(config.opt_in_label)
    return (is_invited or command is CommandName.TRIAGE) and _is_same_login(login, issue.author)


def _limit_skip_reason(
    task: RunTask,
    issue: Issue,
    now: datetime,
    roles: Mapping[str, str],
    earlier: RememberedFacts,
    config: ProjectConfig,
    trigger_comment_id: int | None,
) -> str:
    """Counts the runs of the window, the present one included.

    The thread shows the comments that asked for them; our comment remembers those that were deleted or edited since.
    Comments by the issue's author count only against further answers: not each of them was a run, and a command must
    not be refused because the author wrote much.
    """
    our_times = [comment.created_at for comment in issue.thread if comment.ours and comment.created_at]
    runs = {str(run.comment_id) for run in earlier.runs if run.comment_id and run.at > now - RUN_WINDOW}
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


def _quiet_skip_reason(task: QuietTask, roles: Mapping[str, str], earlier: RememberedFacts) -> str:
    role = roles.get(task.actor, "none")
    if task.wrong:
        return "" if role in TRIAGE_ROLES else "`/triage wrong` is for people with triage rights."
    if role not in WRITE_ROLES:
        return "`/triage quiet` needs write access to the repository."
    return "The issue is already quiet." if earlier.is_quiet else ""
