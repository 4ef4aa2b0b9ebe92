"""What tools did inside a block. Apart from `tool_runner`, which a run without a model never imports."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from triage.domain.proposal import PendingMutation
from triage.domain.run import ToolExecution

tool_records: ContextVar[list[ToolExecution] | None] = ContextVar("tool_records", default=None)
pending_mutations: ContextVar[list[PendingMutation] | None] = ContextVar("pending_mutations", default=None)


@contextmanager
def record_tool_calls() -> Iterator[list[ToolExecution]]:
    """Collect the records of all tool calls inside the block, also in tasks that it starts."""
    records: list[ToolExecution] = []
    token = tool_records.set(records)
    try:
        yield records
    finally:
        tool_records.reset(token)


@contextmanager
def collect_pending_mutations() -> Iterator[list[PendingMutation]]:
    """Collect the calls inside the block that wait for approval, also in tasks that it starts."""
    pending: list[PendingMutation] = []
    token = pending_mutations.set(pending)
    try:
        yield pending
    finally:
        pending_mutations.reset(token)
