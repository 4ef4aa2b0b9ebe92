"""Runs tools through LangGraph's ToolNode: each call with a timeout and a record of its own, and none unanswered."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime

from langchain_core.messages import AIMessage, InvalidToolCall, ToolCall, ToolMessage
from langchain_core.runnables import RunnableConfig, ensure_config
from langchain_core.runnables.config import set_config_context
from langchain_core.tools import BaseTool, ToolException
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.prebuilt.tool_node import ToolCallRequest, ToolInvocationError
from langgraph.types import Command

from triage.base.progress import ProgressLog, current_step
from triage.base.text import truncate
from triage.domain.run import Outcome, ToolExecution
from triage.safety.clean_text import clean_text
from triage.safety.secrets.likely_secrets import redact_likely_secrets

MAX_ARGUMENT_CHARS = 200
_MAX_READ_CHARS = 20_000
ToolResult = ToolMessage | Command[None]


class ToolRunner:
    """Tools that an agent may call, run by LangGraph's ToolNode, which needs a graph: it gets one of a single node."""

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
        """The tools, as they are offered to a model."""
        return self._tools

    async def run(self, message: AIMessage) -> list[ToolMessage]:
        """Run the calls in parallel. Each gets an answer, also one that fails, hangs, or has unreadable arguments."""
        unreadable = [
            self._refuse(call, "bad arguments", "The arguments are not a JSON object.")
            for call in message.invalid_tool_calls
        ]
        if not message.tool_calls:
            return unreadable
        calls = [call | {"id": call["id"] or f"call-{number}"} for number, call in enumerate(message.tool_calls)]
        # Of the surrounding graph's configuration only the callbacks: a server's checkpoints must not hold tool output.
        with set_config_context(RunnableConfig(callbacks=ensure_config().get("callbacks"))) as context:
            running = self._graph.ainvoke({"messages": [AIMessage("", tool_calls=calls)]})
            result = await asyncio.create_task(running, context=context)
        answers = [answer for answer in result["messages"] if isinstance(answer, ToolMessage)]
        return [*answers, *unreadable]

    async def _run_call(
        self, request: ToolCallRequest, execute: Callable[[ToolCallRequest], Awaitable[ToolResult]]
    ) -> ToolResult:
        """Run one call by `execute`, and record it. What fails or takes too long gets an answer that says so."""
        call = request.tool_call
        if request.tool is None:
            names = ", ".join(tool.name for tool in self._tools)
            return self._refuse(call, "no such tool", f"There is no such tool; there are: {names}.")
        started, started_at = self._clock(), self._now()
        self._progress.log_start(call["name"])
        outcome, reason, output = Outcome.TIMED_OUT, "cut off with the agent", ""
        try:
            async with asyncio.timeout(self._seconds):
                answer = await execute(request)
            outcome, reason, output = Outcome.SUCCESS, "", getattr(answer, "text", "")
        except Exception as error:  # noqa: BLE001 - a tool's failure is its answer
            outcome, reason, message = self._describe_failure(error)
            answer = _build_error_message(call, message)
        finally:
            self._record(call["name"], call["args"], outcome, reason, output, started, started_at)
        return answer

    def _describe_failure(self, error: Exception) -> tuple[Outcome, str, str]:
        """Return outcome and reason for the record, and what the model gets to read."""
        # Only the message of a ToolException is ours; others may hold text from outside.
        if isinstance(error, ToolInvocationError):
            wrong = [f"{'.'.join(map(str, one['loc']))}: {one['type']}" for one in error.source.errors()]
            return Outcome.SKIPPED, "bad arguments", f"These arguments do not fit ({'; '.join(wrong)})."
        if isinstance(error, TimeoutError):
            reason = f"no answer within {self._seconds:.0f} seconds"
            return Outcome.TIMED_OUT, reason, f"The tool gave {reason}."
        reason = str(error) if isinstance(error, ToolException) else f"unexpected {type(error).__name__}"
        return Outcome.FAILED, reason, f"The tool failed: {reason}."

    def _refuse(self, call: ToolCall | InvalidToolCall, reason: str, message: str) -> ToolMessage:
        """Return the answer to a call that is not run, and record it."""
        is_known = any(tool.name == call["name"] for tool in self._tools)
        name = call["name"] if call["name"] and is_known else "unknown tool"
        self._progress.log_start(name)
        self._record(name, call["args"], Outcome.SKIPPED, reason, "", self._clock(), self._now())
        return _build_error_message(call, message)

    def _record(
        self, name: str, args: object, outcome: Outcome, reason: str, output: str, started: float, started_at: datetime
    ) -> None:
        """Add the call to the record of the current step, and log its end."""
        record = ToolExecution(
            tool=name,
            arguments=format_arguments(args),
            output_summary=f"{len(output):,} characters" if outcome is Outcome.SUCCESS else "",
            ms=round((self._clock() - started) * 1000),
            outcome=outcome,
            error=reason or None,
            started_at=started_at,
        )
        if step := current_step.get():
            step.tools.append(record)
        self._progress.log_end(record)


def format_arguments(arguments: object) -> str:
    """Return the arguments of a call as one short line for the report, such as `name="save", limit=3`.

    They come from a model. Pages still have to make them inert.
    """
    if isinstance(arguments, dict):
        parts = [f"{name}={json.dumps(value, ensure_ascii=False, default=repr)}" for name, value in arguments.items()]
    else:
        parts = [str(arguments)] if arguments else []
    # A secret that is cut is none for the rules: redact first.
    words = clean_text(redact_likely_secrets(", ".join(parts)[:_MAX_READ_CHARS])).split()
    return truncate(" ".join(words), MAX_ARGUMENT_CHARS)


def _build_error_message(call: ToolCall | InvalidToolCall, message: str) -> ToolMessage:
    return ToolMessage(message, tool_call_id=call["id"] or "", name=call["name"], status="error")
