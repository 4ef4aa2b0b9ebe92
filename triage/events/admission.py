"""May this task run? Asked after GitHub has told the issue's thread and who is who; pure."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from pydantic import Field

from triage.domain.issue import Issue, IssueComment
from triage.domain.project_config import ProjectConfig
from triage.domain.task import PastRun, QuietIssue, Skip, Task, TriageIssue, Trigger
from triage.domain.value import Value
from triage.events.commands import CommandName, parse_command

WRITE_ROLES = frozenset({"admin", "maintain", "write"})
"""Roles with write access (GitHub's `role_name`)."""
MAX_RUNS = 3
"""Runs by command or answer, per issue and window."""
WINDOW = timedelta(hours=24)
MAX_ROLE_LOOKUPS = 10
"""Logins whose role is asked at most, so that a crowd's comments do not become a crowd of requests."""


class EarlierRuns(Value):
    """What our own comment's hidden state says about earlier runs."""

    has_open_questions: bool = False
    """Questions to the reporter are open."""
    is_quiet: bool = False
    """`/triage quiet` stands."""
    has_same_text: bool = False
    """Title and body are those of the last run."""
    is_recent: bool = False
    """Our comment was written or edited within the last day."""
    runs: list[PastRun] = Field(default_factory=list)
    """Runs of the last day that events have started."""


NO_EARLIER_RUNS = EarlierRuns()
DEFAULT_CONFIG = ProjectConfig()


def logins_to_check(task: Task, issue: Issue, now: datetime, config: ProjectConfig = DEFAULT_CONFIG) -> list[str]:
    """Logins whose role `admit` needs: the one who commands, then others whose commands of the last day may count.

    The author's role counts only where a label keeps the issue from being triaged.
    """
    if isinstance(task, QuietIssue):
        return [task.actor]
    if not isinstance(task, TriageIssue) or not _on_request(task):
        return []
    actor = [task.actor] if task.trigger is Trigger.COMMAND else []
    others = [said.author for said in reversed(_recent(issue, now)) if _orders_triage(said) and not said.by_bot]
    barred = actor if label_skip_reason(task, issue, config) else []
    needed = dict.fromkeys([*barred, *(login for login in [*actor, *others] if not _same(login, issue.author))])
    return [login for login in needed if login][:MAX_ROLE_LOOKUPS]


def admit_task(
    task: Task,
    issue: Issue,
    now: datetime,
    roles: Mapping[str, str] | None = None,
    known: EarlierRuns = NO_EARLIER_RUNS,
    config: ProjectConfig = DEFAULT_CONFIG,
    asked: int | None = None,
) -> Task:
    """The task itself, or the reason for skipping it.

    Args:
        task: What the event asks for.
        issue: The issue with its thread, read from GitHub after the event.
        now: The present, with a time zone.
        roles: GitHub's `role_name` for each of `whose_roles`; who is missing has no rights.
        known: What our own comment remembers.
        config: The project's own settings.
        asked: The comment that triggers; what is said after it does not count against it.
    """
    if isinstance(task, Skip):
        return task
    roles = roles or {}
    if reason := _closed_to_us(issue):
        return Skip(reason=reason)
    if isinstance(task, QuietIssue):
        reason = _unquiet(task, roles, known)
    elif not _by_writer(task, roles) and (label := label_skip_reason(task, issue, config)):
        reason = label
    elif task.trigger is Trigger.REQUESTED:
        reason = ""
    elif task.trigger is Trigger.COMMAND:
        reason = _unentitled(task, issue, roles) or _too_often(task, issue, now, roles, known, asked)
    else:
        reason = _unwanted(task, issue, known)
        if not reason and _on_request(task):
            reason = _too_often(task, issue, now, roles, known, asked)
    return Skip(reason=reason) if reason else task


def _closed_to_us(issue: Issue) -> str:
    if issue.is_pull_request:
        return "Pull requests are not triaged."
    return "The issue is locked." if issue.locked else ""


def label_skip_reason(task: TriageIssue, issue: Issue, config: ProjectConfig) -> str:
    """Why the project's labels keep the issue from being triaged, unless somebody with write access commands it."""
    if config.opt_out_label and issue.has_label(config.opt_out_label):
        return "The issue carries the project's opt-out label."
    if task.trigger is Trigger.REQUESTED or not config.opt_in_label or issue.has_label(config.opt_in_label):
        return ""
    return "The issue does not carry the project's opt-in label."


def _by_writer(task: TriageIssue, roles: Mapping[str, str]) -> bool:
    return task.trigger is Trigger.COMMAND and roles.get(task.actor, "none") in WRITE_ROLES


def _unquiet(task: QuietIssue, roles: Mapping[str, str], known: EarlierRuns) -> str:
    if roles.get(task.actor, "none") not in WRITE_ROLES:
        return "`/triage quiet` needs write access to the repository."
    return "The issue is already quiet." if known.is_quiet else ""


def _unentitled(task: TriageIssue, issue: Issue, roles: Mapping[str, str]) -> str:
    if _may_command(task.actor, issue, roles):
        return ""
    return "`/triage` is for the issue's author and for people with write access to the repository."


def _unwanted(task: TriageIssue, issue: Issue, known: EarlierRuns) -> str:
    """Why a run that nobody asked for in words should not be."""
    if known.is_quiet:
        return "`/triage quiet` was said on this issue."
    if issue.author_is_bot:
        return "Issues that a bot opened are not triaged on their own."
    if task.trigger in (Trigger.EDITED, Trigger.LABELED) and known.has_same_text:
        return "The issue's text is the one of the last triage."
    if task.trigger is Trigger.REOPENED and known.has_same_text and known.is_recent:
        return "The issue's text is the one of the last triage, which is less than a day old."
    if task.trigger is Trigger.ANSWER and not known.has_open_questions:
        return "No question to the issue's author is open."
    return ""


def _too_often(
    task: TriageIssue,
    issue: Issue,
    now: datetime,
    roles: Mapping[str, str],
    known: EarlierRuns,
    asked: int | None,
) -> str:
    """Whether there were more runs than a day has, the present one included.

    The thread shows what asked for them, unless it was deleted or edited since; our comment remembers those.
    The author's comments count against further answers only: whether each was a run is not known, and somebody who
    asks for a run in words must not be refused because the author chatted.
    """
    ours = [said.created_at for said in issue.thread if said.ours and said.created_at]
    runs = {str(ran.comment_id) for ran in known.runs if ran.comment_id and ran.at > now - WINDOW}
    for place, said in enumerate(_recent(issue, now)):
        later = asked is not None and said.comment_id is not None and said.comment_id > asked
        if said.by_bot or said.ours or later:
            continue
        name = f"at {place}" if said.comment_id is None else str(said.comment_id)
        ordered = _orders_triage(said) and _may_command(said.author, issue, roles)
        if ordered or (task.trigger is Trigger.ANSWER and _answers(said, issue, ours)):
            runs.add(name)
    if asked is not None:
        runs.add(str(asked))
    if len(runs) <= MAX_RUNS:
        return ""
    return f"This issue has had its {MAX_RUNS} runs by command or answer in 24 hours."


def _answers(said: IssueComment, issue: Issue, ours: list[datetime]) -> bool:
    """Whether the author may have answered us. Before our first comment there was nothing to answer."""
    talks = _same(said.author, issue.author) and parse_command(said.body) is None
    return talks and bool(ours) and (said.created_at is None or said.created_at > min(ours))


def _recent(issue: Issue, now: datetime) -> list[IssueComment]:
    """Comments of the last day; one without a time counts as recent."""
    return [said for said in issue.thread if said.created_at is None or said.created_at > now - WINDOW]


def _orders_triage(said: IssueComment) -> bool:
    command = parse_command(said.body)
    return command is not None and command.name is CommandName.TRIAGE


def _may_command(login: str, issue: Issue, roles: Mapping[str, str]) -> bool:
    return bool(login) and (_same(login, issue.author) or roles.get(login, "none") in WRITE_ROLES)


def _same(one: str, other: str) -> bool:
    """GitHub's logins differ by more than case."""
    return bool(one) and one.lower() == other.lower()


def _on_request(task: TriageIssue) -> bool:
    return task.trigger in (Trigger.COMMAND, Trigger.ANSWER)
