"""Turns a webhook event into a task of the fix flow, or into the reason for skipping it. Requests nothing."""

from collections.abc import Mapping
from typing import Any

from triage.base.errors import BadInput
from triage.domain.task import FixTask, Skip
from triage.events.commands import FIX_COMMANDS, CommandName, parse_command
from triage.events.payload import parse_payload
from triage.events.route import comment_skip_reason, issue_skip_reason, require_issue

NO_COMMAND = "The comment holds no command of the fix flow."


def route_fix_event(event_name: str, payload: Mapping[str, Any], issue_number: int | None = None) -> FixTask | Skip:
    """The task of an event: a comment with a command, or a workflow that was started by hand.

    Raises:
        BadInput: The payload cannot be read, or `issue-number` is missing.
    """
    if event_name == "workflow_dispatch":  # only who has write access can start it
        if issue_number is None:
            raise BadInput(f"issue-number: needed under {event_name}, which brings no issue of its own.")
        return FixTask(number=issue_number, actor="")
    if event_name != "issue_comment":
        return Skip(reason="The fix flow starts with a comment that says `/triage fix`, or by hand.")
    return _route_comment(payload)


def _route_comment(payload: Mapping[str, Any]) -> FixTask | Skip:
    parsed = parse_payload(payload)
    issue, comment = require_issue(parsed), parsed.comment
    if comment is None:
        raise BadInput("The event payload cannot be read: comment is missing.")
    if reason := issue_skip_reason(issue) or comment_skip_reason(parsed, comment):
        return Skip(reason=reason)
    command = parse_command(comment.body)
    if command is None or (command.name not in FIX_COMMANDS and command.name is not CommandName.REJECT):
        return Skip(reason=NO_COMMAND)
    actor = comment.user.login if comment.user else ""
    return FixTask.model_validate(
        {
            "number": issue.number,
            "actor": actor,
            "command": command.name.value,
            "proposal_id": command.proposal_id,
            "words": command.words,
        }
    )
