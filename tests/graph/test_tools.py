"""ToolNode and the records of its calls."""

import asyncio
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import BaseTool, ToolException, tool

from tests.fakes import NOW, FakeClock, FakeJournal
from triage.domain.run import Outcome
from triage.graph.tools import ToolBench


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


def bench(*tools: BaseTool, seconds: float = 5.0) -> tuple[ToolBench, FakeJournal]:
    journal = FakeJournal()
    return ToolBench(tools, seconds, journal, lambda: NOW, FakeClock()), journal


async def test_a_call_is_answered_recorded_and_heard():
    tools, journal = bench(echo)
    with tools.recorded() as records:
        (reply,) = await tools.run(asking("echo", query="hello"))

    assert reply.content == "heard hello"
    assert [(record.tool, record.outcome) for record in records] == [("echo", Outcome.SUCCESS)]
    assert "hello" not in records[0].model_dump_json(), "what was said is not logged"
    assert journal.lines == ["> echo", "< echo SUCCESS"]


@pytest.mark.parametrize(
    ("failing", "reason"), [(refuse, "rate limited (429)"), (explode, "unexpected ZeroDivisionError")]
)
async def test_a_failing_tool_answers_with_an_error(failing: BaseTool, reason: str):
    tools, _ = bench(failing)
    with tools.recorded() as records:
        (reply,) = await tools.run(asking(failing.name, query="x"))
    assert reply.status == "error"
    assert [(record.outcome, record.error) for record in records] == [(Outcome.FAILED, reason)]


async def test_a_hanging_tool_is_cut():
    tools, _ = bench(hang, seconds=0.1)
    with tools.recorded() as records:
        assert await tools.run(asking("hang", query="x")) == []
    assert [(record.outcome, record.error) for record in records] == [(Outcome.TIMED_OUT, "no answer within 0 seconds")]


@pytest.mark.parametrize("message", [asking("no_such_tool"), asking("echo"), asking("echo", query=7)])
async def test_bad_calls_are_told_to_the_model(message: AIMessage):
    tools, _ = bench(echo)
    (reply,) = await tools.run(message)
    assert reply.status == "error" or message.tool_calls[0]["args"] == {"query": 7}


async def test_records_of_parallel_blocks_do_not_mix():
    tools, _ = bench(echo)

    async def block(calls: int) -> int:
        with tools.recorded() as records:
            for _ in range(calls):
                await tools.run(asking("echo", query="x"))
        return len(records)

    assert list(await asyncio.gather(block(1), block(3))) == [1, 3]
