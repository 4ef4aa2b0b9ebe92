"""Which tool calls a person must approve: table tool → capability → rule.

Today every tool of an agent only reads. A tool that is not in the table, such as one of a skill, needs approval.
"""

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from triage.approval.verdict import Decision, Verdict, parse_verdict
from triage.base.errors import TriageError
from triage.domain.proposal import PROPOSAL_LIFETIME, PendingMutation

ToolCapability = Literal["read", "create", "update", "link", "batch", "delete", "unknown"]
TOOL_CAPABILITIES: Mapping[str, ToolCapability] = {
    "grep": "read",
    "find_symbol": "read",
    "callers": "read",
    "read_lines": "read",
    "search_code": "read",
    "git_history": "read",
    "tavily_search": "read",
}
CHECKPOINT_TYPE = "tool_call"


class ApprovalRequired(TriageError):
    """A model asked for a tool that changes something. None of its calls was run."""

    def __init__(self, pending: PendingMutation) -> None:
        super().__init__("a tool that changes something was asked for, which needs a person's approval")
        self.pending = pending


def needs_approval(name: str, capabilities: Mapping[str, ToolCapability] = TOOL_CAPABILITIES) -> bool:
    return capabilities.get(name, "unknown") != "read"


def freeze_call(tool_call_id: str, name: str, args: Mapping[str, Any], now: datetime) -> PendingMutation:
    """Return the call as a person is asked about it. Later changes of `args` do not change it."""
    text = json.dumps(args, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    created_at = now.replace(microsecond=0)
    approval_id = _compute_id(tool_call_id, name, text, created_at)
    return PendingMutation(
        tool_call_id=tool_call_id, name=name, args=text, created_at=created_at, approval_id=approval_id
    )


def review(pending: PendingMutation, answer: object, now: datetime) -> tuple[PendingMutation, Verdict]:
    """Return the call with its new status, and what the person said.

    Only `approve`, within `PROPOSAL_LIFETIME` and for an unaltered call that waits, makes it `approved`.
    """
    verdict = parse_verdict(answer)
    age = now - pending.created_at
    if pending.status != "pending" or not _is_unaltered(pending):
        return pending.model_copy(update={"status": "rejected"}), verdict
    if age >= PROPOSAL_LIFETIME:
        return pending.model_copy(update={"status": "expired"}), verdict
    status = "approved" if verdict.decision is Decision.APPROVE else "rejected"
    return pending.model_copy(update={"status": status}), verdict


def may_replay(pending: PendingMutation, approval_id: str) -> bool:
    """Whether this very call was approved under this id."""
    return pending.status == "approved" and pending.approval_id == approval_id and _is_unaltered(pending)


def _is_unaltered(pending: PendingMutation) -> bool:
    return pending.approval_id == _compute_id(pending.tool_call_id, pending.name, pending.args, pending.created_at)


def _compute_id(tool_call_id: str, name: str, args: str, created_at: datetime) -> str:
    text = json.dumps([tool_call_id, name, args, created_at.isoformat()])
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:12]
