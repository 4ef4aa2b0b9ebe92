"""Turns a webhook event, or the command of a comment, into a task or the reason for skipping it.

A command is on the first non-blank line of a comment, and nowhere else. Nothing is requested from GitHub.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, get_args

from pydantic import Field

from triage.base.errors import BadInput
from triage.domain.effect import COMMENT_MARKER
from triage.domain.task import (
    FixTask,
    IssueTask,
    JobName,
    QuietTask,
    ReproduceTask,
    Skip,
    Subject,
    Task,
    TriageTask,
    Trigger,
)
from triage.domain.value import Value
from triage.run.may_run.event import Account, CommentPart, IssuePart, Payload, parse_payload

# Four spaces or a tab would make the line a code block.
_COMMAND = re.compile(r" {0,3}/triage(?:[ \t]+(?P<arguments>.*))?")
_WORD = re.compile(r"[a-z][a-z-]{0,19}")


MAX_WORDS_CHARS = 4_000
MAX_REPRODUCE_CHARS = 24_000
"""An example may stand below the command."""


class CommandName(StrEnum):
    TRIAGE = "triage"
    QUIET = "quiet"
    WRONG = "wrong"
    FIX = "fix"
    REPRODUCE = "reproduce"
    APPROVE = "approve"
    REJECT = "reject"
    REVISE = "revise"
    UNKNOWN = "unknown"


FIX_COMMANDS = frozenset({CommandName.FIX, CommandName.APPROVE, CommandName.REJECT, CommandName.REVISE})
"""Only the fix flow answers them."""
PROPOSAL_COMMANDS = frozenset({CommandName.APPROVE, CommandName.REJECT, CommandName.REVISE})
"""They name a proposal by its id."""


class Command(Value):
    name: CommandName
    word: str = ""
    """The name of an unknown command, if it is a plain word; else empty, because it is not shown."""
    proposal_id: str = ""
    """Of the commands about a proposal; empty if what stands there is no id."""
    words: str = ""
    """What follows `fix`, `reproduce` or a proposal's id, also in the lines below the command."""
    wrong: list[Subject] = Field(default_factory=list)
    """What follows `wrong`, or everything that may."""


def parse_command(body: str) -> Command | None:
    """Return the command with which a comment begins; None if it begins with none."""
    lines = body.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    number = next((number for number, line in enumerate(lines) if line.strip()), 0)
    match = _COMMAND.fullmatch(lines[number].rstrip())
    if not match:
        return None
    arguments = match["arguments"] or ""
    if not arguments:
        return Command(name=CommandName.TRIAGE)
    if arguments == "quiet":
        return Command(name=CommandName.QUIET)
    word, _, rest = arguments.partition(" ")
    below = lines[number + 1 :]
    if word == CommandName.FIX:
        return Command(name=CommandName.FIX, words=_join_words(rest, below))
    if word in PROPOSAL_COMMANDS:
        proposal_id, _, rest = rest.strip().partition(" ")
        proposal_id = proposal_id.strip("`" if word == CommandName.APPROVE else "`:")
        proposal_id = proposal_id if re.fullmatch(r"[0-9a-f]{12}", proposal_id) else ""
        return Command(name=CommandName(word), proposal_id=proposal_id, words=_join_words(rest, below))
    if word == CommandName.REPRODUCE:
        words = "\n".join([rest, *below]).rstrip()[:MAX_REPRODUCE_CHARS]
        return Command(name=CommandName.REPRODUCE, words=words)
    if word == CommandName.WRONG:
        first = rest.partition(" ")[0].rstrip(":,.;")
        subjects = [subject for subject in get_args(Subject) if subject == first]
        return Command(name=CommandName.WRONG, wrong=subjects or list(get_args(Subject)))
    word = arguments.split(maxsplit=1)[0]
    return Command(name=CommandName.UNKNOWN, word=word if _WORD.fullmatch(word) else "")


def _join_words(rest: str, below: list[str]) -> str:
    return "\n".join([rest, *below]).strip()[:MAX_WORDS_CHARS]


EVENTS_WITHOUT_ISSUE = frozenset({"workflow_dispatch", "repository_dispatch", "schedule"})
"""The input `issue-number` names the issue."""


def route_event(
    event_name: str, payload: Mapping[str, Any], issue_number: int | None = None, task_name: JobName = "triage"
) -> Task | None:
    """Return what the event asks of the task that the workflow chose; None if that task needs no event.

    `event_name` is such as `issues`. `issue_number` and `task_name` are inputs, the first for events without an issue.
    Raises BadInput if the payload cannot be read, or `issue-number` is missing or contradicts the event.
    """
    if task_name.startswith("fix-"):
        return _route_fix_event(event_name, payload, issue_number)
    if task_name.startswith("reproduce-"):
        return _route_reproduce_event(event_name, payload, issue_number)
    if task_name != "triage":
        return None
    if event_name in EVENTS_WITHOUT_ISSUE:
        return _route_manual(event_name, payload, issue_number)
    if event_name not in ("issues", "issue_comment"):
        return _skip_event(event_name)
    parsed = parse_payload(payload)
    task = _route_issue(parsed) if event_name == "issues" else _route_comment(parsed)
    if isinstance(task, IssueTask) and issue_number not in (None, task.number):
        raise BadInput(
            f"issue-number: {issue_number} is not the issue of this event, which is {task.number}; "
            "leave the input empty for issue events."
        )
    return task


def _route_issue(payload: Payload) -> TriageTask | Skip:
    """Return the triage of an issue that was opened or changed. Who puts a label on another's issue waits for it."""
    issue = _require_issue(payload)
    changes = payload.changes
    if reason := _check_issue(issue):
        return Skip(reason=reason)
    if payload.action == "transferred" or (changes and changes.new_issue is not None):
        return Skip(reason="The issue was transferred to another repository.")
    if payload.action not in (Trigger.OPENED, Trigger.REOPENED, Trigger.EDITED, Trigger.LABELED):
        name = f" ({payload.action})" if re.fullmatch(r"[a-z_]{1,40}", payload.action) else ""
        return Skip(reason=f"This change of an issue{name} does not start a triage.")
    trigger = Trigger(payload.action)
    if _is_by_bot(payload, issue.user):
        return Skip(reason="Issues that a bot opens or changes are not triaged on their own.")
    if trigger is Trigger.EDITED and not (changes and (changes.title is not None or changes.body is not None)):
        return Skip(reason="Neither title nor body of the issue was changed.")
    # A form may set the label for its reporter, who asks for nothing by that.
    is_by_reporter = issue.user is not None and issue.user.login.lower() == payload.sender_login.lower()
    is_asked = trigger is Trigger.LABELED and not is_by_reporter
    label = payload.label.name if payload.label and trigger is Trigger.LABELED else ""
    return TriageTask(
        number=issue.number, trigger=trigger, actor=payload.sender_login, is_asked=is_asked, added_label=label
    )


def _require_issue(payload: Payload) -> IssuePart:
    if payload.issue is None:
        raise BadInput("The event payload cannot be read: issue is missing.")
    return payload.issue


def _check_issue(issue: IssuePart) -> str:
    if issue.pull_request is not None:
        return "Pull requests and comments on them are not triaged."
    if issue.locked:
        return "The issue is locked."
    return ""


def _is_by_bot(payload: Payload, author: Account | None) -> bool:
    return any(person is not None and person.is_bot for person in (payload.sender, author))


def _route_comment(payload: Payload) -> IssueTask | Skip:
    """Return what a comment asks for: its command, or an answer of the issue's author."""
    issue, author, command = _read_command(payload)
    if isinstance(command, Skip):
        return command
    if command:
        return _route_command(issue, author, command)
    if not issue.user or issue.user.login.lower() != author.lower():
        return Skip(reason="The comment holds no command and is not by the issue's author.")
    if issue.user.is_bot:
        return Skip(reason="Issues that a bot opens or changes are not triaged on their own.")
    return TriageTask(number=issue.number, trigger=Trigger.REPORTER_ANSWER, actor=author)


def _read_command(payload: Payload) -> tuple[IssuePart, str, Command | Skip | None]:
    """Return the issue, who commented, and the command; or why the comment does not count."""
    issue, comment = _require_issue(payload), payload.comment
    if comment is None:
        raise BadInput("The event payload cannot be read: comment is missing.")
    author = comment.user.login if comment.user else ""
    reason = _check_issue(issue) or _check_comment(payload, comment)
    return issue, author, Skip(reason=reason) if reason else parse_command(comment.body)


def _check_comment(payload: Payload, comment: CommentPart) -> str:
    """Return why a comment does not count; empty if it does."""
    if payload.action != "created":
        return "Only a new comment counts, not one that was edited or deleted."
    if comment.body.startswith(COMMENT_MARKER):
        return "The comment is this action's own."
    if comment.user is None or not comment.user.login:
        return "The comment's author is unknown."
    if payload.sender and payload.sender.login not in ("", comment.user.login):
        return "The comment was not sent by its author."
    if _is_by_bot(payload, comment.user):
        return "Comments by bots are not answered."
    return ""


def _route_command(issue: IssuePart, author: str, command: Command) -> IssueTask | Skip:
    """Return the task of a command, or why this workflow does not do it."""
    if command.name is CommandName.TRIAGE:
        return TriageTask(number=issue.number, trigger=Trigger.COMMAND, actor=author, is_asked=True)
    if command.name in (CommandName.QUIET, CommandName.WRONG):
        return QuietTask(number=issue.number, actor=author, wrong=command.wrong)
    if command.name in (*FIX_COMMANDS, CommandName.REPRODUCE):
        file = "reproduce" if command.name is CommandName.REPRODUCE else "fix"
        reason = f"`/triage {command.name}` needs the workflow examples/workflows/{file}.yml (docs/{file}.md)."
        return Skip(reason=reason)
    name = f"`/triage {command.word}`" if command.word else "What follows `/triage`"
    return Skip(reason=f"{name} is not a known command; there are `/triage`, `/triage quiet` and `/triage wrong`.")


def _route_manual(event_name: str, payload: Mapping[str, Any], issue_number: int | None) -> TriageTask:
    """Return the triage of an issue by its number, which a person asks for only by starting the workflow."""
    if issue_number is None:
        raise BadInput(
            f"issue-number: needed under {event_name}, which brings no issue of its own; "
            "set it in the step's `with:`, for example from `inputs.issue-number`."
        )
    sender_only = parse_payload({"sender": payload.get("sender")})
    is_asked = event_name == "workflow_dispatch"
    return TriageTask(number=issue_number, trigger=Trigger.BY_NUMBER, actor=sender_only.sender_login, is_asked=is_asked)


def _skip_event(event_name: str) -> Skip:
    if event_name.startswith("pull_request"):
        return Skip(reason="Pull requests are not triaged.")
    # Anything that does not look like an event name is not shown.
    name = f"The event {event_name}" if re.fullmatch(r"[a-z_]{1,40}", event_name) else "This event"
    return Skip(reason=f"{name} does not start a triage.")


def _route_fix_event(event_name: str, payload: Mapping[str, Any], issue_number: int | None) -> FixTask | Skip:
    """Return what a comment asks of the fix flow; a workflow that was started by hand asks for a fix."""
    if event_name == "workflow_dispatch":  # only who has write access can start it
        if issue_number is None:
            raise BadInput(f"issue-number: needed under {event_name}, which brings no issue of its own.")
        return FixTask(number=issue_number, actor="")
    if event_name != "issue_comment":
        return Skip(reason="The fix flow starts with a comment that says `/triage fix`, or by hand.")
    issue, actor, command = _read_command(parse_payload(payload))
    if isinstance(command, Skip):
        return command
    if command is None or command.name not in FIX_COMMANDS:
        return Skip(reason="The comment holds no command of the fix flow.")
    fields = {"command": command.name.value, "proposal_id": command.proposal_id, "words": command.words}
    return FixTask.model_validate({"number": issue.number, "actor": actor, **fields})


def _route_reproduce_event(event_name: str, payload: Mapping[str, Any], number: int | None) -> ReproduceTask | Skip:
    """Return whose example is run: of a comment, of an opened issue, or of all issues without a number."""
    if event_name in (*EVENTS_WITHOUT_ISSUE, "release"):
        return ReproduceTask(number=number)
    parsed = parse_payload(payload)
    if event_name == "issues" and parsed.action == "opened":
        issue = _require_issue(parsed)
        by_bot = "The issue was opened by a bot." if _is_by_bot(parsed, issue.user) else ""
        reason = _check_issue(issue) or by_bot
        return Skip(reason=reason) if reason else ReproduceTask(number=issue.number, trigger=Trigger.OPENED)
    if event_name != "issue_comment":
        return Skip(
            reason="Examples are run for a comment that says `/triage reproduce`, an opened issue, or all again."
        )
    issue, actor, command = _read_command(parsed)
    if isinstance(command, Skip):
        return command
    if command is None or command.name is not CommandName.REPRODUCE:
        return Skip(reason="The comment does not say `/triage reproduce`.")
    return ReproduceTask(number=issue.number, trigger=Trigger.COMMAND, actor=actor, words=command.words)
