"""ToolNode and the records of its calls."""

import asyncio
import math
import threading
from collections import Counter
from typing import Any

import pytest
from langchain_core.messages import AIMessage, InvalidToolCall
from langchain_core.tools import BaseTool, ToolException, tool

from testing.fakes import NOW, FakeClock, FakeProgressLog
from triage.agents.tool_runner import MAX_ARGUMENT_CHARS, ToolRunner, format_arguments
from triage.base.progress import measure_step
from triage.base.threads import in_thread
from triage.domain.run import Outcome


@tool
async def echo(query: str) -> str:
    """Say it again."""
    return f"heard {query}"


@tool
async def refuse(query: str) -> str:
    """Fail."""
    raise ToolException("rate limited (429)")


@tool
async def explode(query: str) -> str:
    """Fail badly."""
    raise ZeroDivisionError("boom")


@tool
async def hang(query: str) -> str:
    """Never answer."""
    await asyncio.sleep(60)
    return ""


def asking(name: str, **arguments: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": "1", "type": "tool_call"}])


def make_runner(*tools: BaseTool, seconds: float = 5.0) -> tuple[ToolRunner, FakeProgressLog]:
    progress = FakeProgressLog()
    return ToolRunner(tools, seconds, progress, lambda: NOW, FakeClock()), progress


async def test_a_call_is_answered_recorded_and_heard():
    tools, progress = make_runner(echo)
    with measure_step(math.inf) as step:
        (reply,) = await tools.run(asking("echo", query="hello"))

    assert reply.content == "heard hello"
    assert [(record.tool, record.outcome) for record in step.tools] == [("echo", Outcome.SUCCESS)]
    assert step.tools[0].arguments == 'query="hello"'
    assert "heard" not in step.tools[0].model_dump_json(), "the answer is not recorded"
    assert progress.lines == ["> echo", "< echo SUCCESS"]


TOKEN = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({"name": "save", "start": 3}, 'name="save", start=3'),
        ({}, ""),
        (None, ""),
        ('{"path": ', '{"path":'),
        ({"text": "a\nb\u202ec\x1b[31m\ud800 `|"}, 'text="a\\nbc\\u001b[31m `|"'),
        ({"text": f"token {TOKEN} there"}, 'text="token [masked secret] there"'),
        ({"text": "x" * 500}, 'text="' + "x" * 193 + "…"),
        ({"text": "x" * 175 + TOKEN}, None),
        ({"x": {"y": [1, None]}}, 'x={"y": [1, null]}'),
        ({"x": float("nan"), "o": {1, 2}}, "x=NaN, o="),
        ({"x" * 100_000: "y" * 100_000}, None),
    ],
)
def test_arguments_become_a_short_line_without_secrets(arguments: object, line: str | None):
    text = format_arguments(arguments)
    assert line is None or text.startswith(line)
    assert len(text) <= MAX_ARGUMENT_CHARS
    assert "ghp_" not in text
    text.encode("utf-8")


@pytest.mark.parametrize(
    ("failing", "reason"), [(refuse, "rate limited (429)"), (explode, "unexpected ZeroDivisionError")]
)
async def test_a_failing_tool_answers_with_an_error_in_our_words(failing: BaseTool, reason: str):
    tools, progress = make_runner(failing)
    with measure_step(math.inf) as step:
        (reply,) = await tools.run(asking(failing.name, query="x"))
    assert (reply.status, reply.content) == ("error", f"The tool failed: {reason}.")
    assert "boom" not in str(reply.content)
    assert [(record.outcome, record.error) for record in step.tools] == [(Outcome.FAILED, reason)]
    assert progress.lines == [f"> {failing.name}", f"< {failing.name} FAILED"]


async def test_a_hanging_call_is_cut_and_its_neighbours_answers_survive():
    tools, _ = make_runner(echo, hang, explode, seconds=0.1)
    message = AIMessage(
        "",
        tool_calls=[
            {"name": name, "args": {"query": name}, "id": f"id-{name}", "type": "tool_call"}
            for name in ("echo", "hang", "explode", "echo")
        ],
    )
    with measure_step(math.inf) as step:
        replies = await tools.run(message)
    assert [(reply.tool_call_id, reply.content) for reply in replies] == [
        ("id-echo", "heard echo"),
        ("id-hang", "The tool gave no answer within 0 seconds."),
        ("id-explode", "The tool failed: unexpected ZeroDivisionError."),
        ("id-echo", "heard echo"),
    ]
    assert Counter((record.tool, record.outcome) for record in step.tools) == {
        ("echo", Outcome.SUCCESS): 2,
        ("hang", Outcome.TIMED_OUT): 1,
        ("explode", Outcome.FAILED): 1,
    }


async def test_blocking_work_in_a_thread_is_left_alone_when_its_time_is_up():
    release = threading.Event()

    @tool
    async def block(query: str) -> str:
        """Wait in a thread."""
        return await in_thread(lambda: str(release.wait(60)))

    tools, _ = make_runner(block, seconds=0.1)
    (reply,) = await tools.run(asking("block", query="x"))
    assert reply.status == "error"
    assert not release.is_set()
    release.set()


async def test_a_call_that_is_cut_off_with_its_agent_is_recorded():
    tools, _ = make_runner(hang)
    with measure_step(math.inf) as step, pytest.raises(TimeoutError):
        await asyncio.wait_for(tools.run(asking("hang", query="x")), 0.1)
    assert [(record.outcome, record.error) for record in step.tools] == [(Outcome.TIMED_OUT, "cut off with the agent")]


@pytest.mark.parametrize(
    ("message", "answer_text", "name", "reason"),
    [
        (asking("no such\ntool"), "There is no such tool; there are: echo.", "unknown tool", "no such tool"),
        (asking("echo"), "These arguments do not fit (query: missing).", "echo", "bad arguments"),
        (asking("echo", query=["x"]), "These arguments do not fit (query: string_type).", "echo", "bad arguments"),
    ],
)
async def test_bad_calls_are_not_run_and_the_model_is_told(
    message: AIMessage, answer_text: str, name: str, reason: str
):
    tools, progress = make_runner(echo)
    with measure_step(math.inf) as step:
        (reply,) = await tools.run(message)
    assert (reply.status, reply.content, reply.tool_call_id) == ("error", answer_text, "1")
    assert [(record.tool, record.outcome, record.error) for record in step.tools] == [(name, Outcome.SKIPPED, reason)]
    assert step.tools[0].arguments == format_arguments(message.tool_calls[0]["args"]), "also of a call that is not run"
    assert progress.lines == [f"> {name}", f"< {name} SKIPPED"]


@pytest.mark.parametrize("name", ["echo", "bad\nname", None])
async def test_a_call_that_cannot_be_read_is_answered_too(name: str | None):
    tools, _ = make_runner(echo)
    unreadable = InvalidToolCall(name=name, args='{"query": ', id="2", error="x", type="invalid_tool_call")
    message = AIMessage("", tool_calls=asking("echo", query="x").tool_calls, invalid_tool_calls=[unreadable])
    with measure_step(math.inf) as step:
        replies = await tools.run(message)
    assert [(reply.tool_call_id, reply.status) for reply in replies] == [("1", "success"), ("2", "error")]
    assert {record.error for record in step.tools} == {None, "bad arguments"}
    assert {record.tool for record in step.tools} <= {"echo", "unknown tool"}
