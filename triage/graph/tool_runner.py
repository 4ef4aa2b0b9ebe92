"""Runs tools through LangGraph's ToolNode: each call with a timeout and a record of its own, and none unanswered."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime

from langchain_core.messages import AIMessage, InvalidToolCall, ToolCall, ToolMessage
from langchain_core.runnables import RunnableConfig, ensure_config
from langchain_core.runnables.config import set_config_context
from langchain_core.tools import BaseTool, ToolException
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.prebuilt.tool_node import ToolCallRequest, ToolInvocationError
from langgraph.types import Command

from triage.domain.run import Outcome, ToolExecution
from triage.ports import ProgressLog

ToolResult = ToolMessage | Command[None]

_records: ContextVar[list[ToolExecution] | None] = ContextVar("tool_records", default=None)


@contextmanager
def record_tool_calls() -> Iterator[list[ToolExecution]]:
    """Collect the records of all tool calls inside the block, also in tasks that it starts."""
    records: list[ToolExecution] = []
    token = _records.set(records)
    try:
        yield records
    finally:
        _records.reset(token)


@dataclass(frozen=True)
class _ToolFailure:
    outcome: Outcome
    reason: str
    """For the record, in our words."""
    message: str
    """For the model."""


class ToolRunner:
    """Implements the `Toolset` port with LangGraph's ToolNode, which needs a graph: it gets one of a single node."""

    def __init__(
        self,
        tools: Sequence[BaseTool],
        seconds: float,
        progress: ProgressLog,
        now: Callable[[], datetime],
        clock: Callable[[], float],
    ) -> None:
        """Take asynchronous tools only: the end of the process would wait for any other kind."""
        self._tools = list(tools)
        self._seconds = seconds
        self._progress, self._now, self._clock = progress, now, clock
        graph = StateGraph(MessagesState)
        graph.add_node("tools", ToolNode(self._tools, handle_tool_errors=False, awrap_tool_call=self._run_call))
        graph.add_edge(START, "tools")
        graph.add_edge("tools", END)
        self._graph = graph.compile()

    @property
    def tools(self) -> Sequence[BaseTool]:
        return self._tools

    async def run(self, message: AIMessage) -> list[ToolMessage]:
        """Run the calls in parallel. Each gets an answer, also one that fails, hangs, or has unreadable arguments."""
        unreadable = [self._reject_unreadable(call) for call in message.invalid_tool_calls]
        if not message.tool_calls:
            return unreadable
        calls = [call | {"id": call["id"] or f"call-{number}"} for number, call in enumerate(message.tool_calls)]
        # Of the surrounding graph's configuration only the callbacks: a server's checkpoints must not hold tool output.
        with set_config_context(RunnableConfig(callbacks=ensure_config().get("callbacks"))) as context:
            running = self._graph.ainvoke({"messages": [AIMessage("", tool_calls=calls)]})
            result = await asyncio.create_task(running, context=context)
        return [*(answer for answer in result["messages"] if isinstance(answer, ToolMessage)), *unreadable]

    async def _run_call(
        self, request: ToolCallRequest, execute: Callable[[ToolCallRequest], Awaitable[ToolResult]]
    ) -> ToolResult:
        call = request.tool_call
        name = call["name"] if request.tool else "unknown tool"
        started, started_at = self._clock(), self._now()
        self._progress.log_start(name)

        def record(outcome: Outcome, output: str = "", reason: str | None = None) -> None:
            milliseconds = round((self._clock() - started) * 1000)
            self._record(name, str(call["args"]), output, milliseconds, outcome, reason, started_at)

        if request.tool is None:
            names = ", ".join(tool.name for tool in self._tools)
            failure = _ToolFailure(Outcome.SKIPPED, "no such tool", f"There is no such tool; there are: {names}.")
        else:
            try:
                async with asyncio.timeout(self._seconds):
                    answer = await execute(request)
            except asyncio.CancelledError:
                record(Outcome.TIMED_OUT, reason="cut off with the agent")
                raise
            except Exception as error:  # noqa: BLE001 - a tool's failure is its answer
                failure = self._describe_failure(error)
            else:
                record(Outcome.SUCCESS, output=getattr(answer, "text", ""))
                return answer
        record(failure.outcome, reason=failure.reason)
        return _build_error_message(call, failure.message)

    def _describe_failure(self, error: Exception) -> _ToolFailure:
        # Only the message of a ToolException is ours; others may hold text from outside.
        if isinstance(error, ToolInvocationError):
            wrong = [f"{'.'.join(map(str, one['loc']))}: {one['type']}" for one in error.source.errors()]
            return _ToolFailure(Outcome.SKIPPED, "bad arguments", f"These arguments do not fit ({'; '.join(wrong)}).")
        if isinstance(error, TimeoutError):
            reason = f"no answer within {self._seconds:.0f} seconds"
            return _ToolFailure(Outcome.TIMED_OUT, reason, f"The tool gave {reason}.")
        reason = str(error) if isinstance(error, ToolException) else f"unexpected {type(error).__name__}"
        return _ToolFailure(Outcome.FAILED, reason, f"The tool failed: {reason}.")

    def _reject_unreadable(self, call: InvalidToolCall) -> ToolMessage:
        names = {tool.name for tool in self._tools}
        name = call["name"] if call["name"] and call["name"] in names else "unknown tool"
        self._progress.log_start(name)
        self._record(name, call["args"] or "", "", 0, Outcome.SKIPPED, "bad arguments", self._now())
        return _build_error_message(call, "The arguments are not a JSON object.")

    def _record(
        self,
        name: str,
        arguments: str,
        output: str,
        milliseconds: int,
        outcome: Outcome,
        error: str | None,
        started_at: datetime,
    ) -> None:
        # Sizes only: arguments and output come from outside.
        record = ToolExecution(
            tool=name,
            input_summary=f"{len(arguments)} characters",
            output_summary=f"{len(output)} characters" if outcome is Outcome.SUCCESS else "",
            ms=milliseconds,
            outcome=outcome,
            error=error,
            started_at=started_at,
        )
        records = _records.get()
        if records is not None:
            records.append(record)
        self._progress.log_end(record)


def _build_error_message(call: ToolCall | InvalidToolCall, message: str) -> ToolMessage:
    return ToolMessage(message, tool_call_id=call["id"] or "", name=call["name"], status="error")
