"""What tools did inside a block. Apart from `tool_runner`, which a run without a model never imports."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from triage.domain.run import ToolExecution

tool_records: ContextVar[list[ToolExecution] | None] = ContextVar("tool_records", default=None)


@contextmanager
def record_tool_calls() -> Iterator[list[ToolExecution]]:
    """Collect the records of all tool calls inside the block, also in tasks that it starts."""
    records: list[ToolExecution] = []
    token = tool_records.set(records)
    try:
        yield records
    finally:
        tool_records.reset(token)
