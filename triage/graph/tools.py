"""Runs tools through LangGraph's ToolNode and keeps a record of each call."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from typing import Any
from uuid import UUID

from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import BaseTool, ToolException
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

from triage.domain.run import Outcome, ToolExecution
from triage.ports import Journal

_records: ContextVar[list[ToolExecution] | None] = ContextVar("tool_records", default=None)


class ToolBench:
    """Implements the `Tools` port. ToolNode needs a graph around it, so it gets one of a single node."""

    def __init__(
        self,
        tools: Sequence[BaseTool],
        seconds: float,
        journal: Journal,
        now: Callable[[], datetime],
        clock: Callable[[], float],
    ) -> None:
        self._tools = list(tools)
        self._seconds = seconds
        self._observer: Callable[[], _Observer] = lambda: _Observer(journal, now, clock)
        graph = StateGraph(MessagesState)
        graph.add_node("tools", ToolNode(self._tools, handle_tool_errors=True))
        graph.add_edge(START, "tools")
        graph.add_edge("tools", END)
        self._graph = graph.compile()

    @property
    def tools(self) -> Sequence[BaseTool]:
        """What is offered to a model."""
        return self._tools

    async def run(self, message: AIMessage) -> list[ToolMessage]:
        """Carry out the calls. Tools that fail or take too long answer with an error."""
        observer = self._observer()
        try:
            async with asyncio.timeout(self._seconds):
                result = await self._graph.ainvoke({"messages": [message]}, {"callbacks": [observer]})
        except TimeoutError:
            observer.time_out(f"no answer within {self._seconds:.0f} seconds")
            return []
        return [reply for reply in result["messages"] if isinstance(reply, ToolMessage)]

    @contextmanager
    def recorded(self) -> Iterator[list[ToolExecution]]:
        """Records of all calls run inside the block, also by tasks that it starts."""
        records: list[ToolExecution] = []
        token = _records.set(records)
        try:
            yield records
        finally:
            _records.reset(token)


class _Observer(AsyncCallbackHandler):
    """Hears when a tool starts and ends. Notes sizes, not words: what a tool says comes from outside."""

    def __init__(self, journal: Journal, now: Callable[[], datetime], clock: Callable[[], float]) -> None:
        self._journal, self._now, self._clock = journal, now, clock
        self._running: dict[UUID, tuple[str, str, float, datetime]] = {}

    async def on_tool_start(self, serialized: dict[str, Any], input_str: str, *, run_id: UUID, **kwargs: Any) -> None:
        name = serialized.get("name") or "tool"
        self._running[run_id] = (name, f"{len(input_str)} characters", self._clock(), self._now())
        self._journal.started(name)

    async def on_tool_end(self, output: Any, *, run_id: UUID, **kwargs: Any) -> None:
        self._record(run_id, Outcome.SUCCESS, f"{len(getattr(output, 'text', str(output)))} characters", None)

    async def on_tool_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        if not isinstance(error, asyncio.CancelledError):
            # Only a tool's own exception holds words of ours.
            reason = str(error) if isinstance(error, ToolException) else f"unexpected {type(error).__name__}"
            self._record(run_id, Outcome.FAILED, "", reason)

    def time_out(self, reason: str) -> None:
        """Close what is still running."""
        for run_id in list(self._running):
            self._record(run_id, Outcome.TIMED_OUT, "", reason)

    def _record(self, run_id: UUID, outcome: Outcome, output: str, error: str | None) -> None:
        started = self._running.pop(run_id, None)
        if started is None:
            return
        name, given, began, at = started
        record = ToolExecution(
            tool=name,
            input_summary=given,
            output_summary=output,
            ms=round((self._clock() - began) * 1000),
            outcome=outcome,
            error=error,
            started_at=at,
        )
        records = _records.get()
        if records is not None:
            records.append(record)
        self._journal.ended(record)
