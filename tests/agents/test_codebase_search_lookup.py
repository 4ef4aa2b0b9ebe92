"""The codebase agent looks things up before it answers: a few times, within all caps, and whatever goes wrong."""

import asyncio
import json
import math
import re
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, InvalidToolCall, SystemMessage, ToolMessage

from testing import factories
from testing.fakes import NOW, FakeClock, FakeCodebase, FakeModel, FakeProgressLog, FakeToolset, fake_services
from triage.agents import code_lookup, codebase_search
from triage.agents.code_lookup import CodeLookup
from triage.agents.code_tools import build_code_tools
from triage.agents.services import Services
from triage.agents.shown_code import ShownCode
from triage.agents.tool_runner import ToolRunner
from triage.base.errors import BudgetExceeded, InvalidAnswer, ModelUnavailable, TimeLimitExceeded
from triage.base.progress import measure_step
from triage.domain.agent_input import AgentInput
from triage.domain.run import Limits, Outcome, Usage
from triage.read.read_issue import read_issue

CODE = FakeCodebase(factories.FILES)
ENOUGH = AIMessage("enough")


def case() -> AgentInput:
    issue = factories.issue()
    return AgentInput(
        issue=issue,
        parsed=read_issue(issue),
        repository=factories.repository(),
        investigation=factories.investigation(),
    )


def asks(*calls: tuple[str, dict[str, Any]], words: str = "", start: int = 0) -> AIMessage:
    return AIMessage(
        words,
        tool_calls=[
            {"name": name, "args": args, "id": f"id{start + number}", "type": "tool_call"}
            for number, (name, args) in enumerate(calls)
        ],
    )


def reads(*starts: int) -> AIMessage:
    return asks(*(("read_lines", {"path": "src/parse.py", "start": start, "end": 3}) for start in starts))


def model_of(*turns: Any, **changes: Any) -> FakeModel:
    return FakeModel({"tools": list(turns), "CodebaseFinding": factories.codebase()} | changes)


def given_services(model: FakeModel, tools: Any = None, **changes: Any) -> Services:
    bench = tools or ToolRunner(build_code_tools(CODE), 5.0, FakeProgressLog(), lambda: NOW, FakeClock())
    return fake_services(codebase=CODE, model=model, code_tools=bench, **changes)


async def run(model: FakeModel, tools: Any = None, **changes: Any) -> Any:
    return await codebase_search.answer_with_model(case(), given_services(model, tools, **changes), model)


def turns_of(model: FakeModel) -> list[list[BaseMessage]]:
    return [list(prompt) for name, prompt in model.asked if name == "tools"]


def answered(model: FakeModel) -> str:
    """What the model that answers was shown, as one text."""
    (prompt,) = [prompt for name, prompt in model.asked if name == "CodebaseFinding"]
    messages = prompt if isinstance(prompt, list) else prompt.to_messages()
    assert [type(message) for message in messages] == [SystemMessage, HumanMessage], "fit for any endpoint"
    return "\n".join(message.text for message in messages)


def replies(messages: Sequence[BaseMessage]) -> list[ToolMessage]:
    return [message for message in messages if isinstance(message, ToolMessage)]


async def test_what_was_looked_up_reaches_the_answer():
    model = model_of(reads(2), asks(("find_symbol", {"name": "Store"})), ENOUGH)
    with measure_step(math.inf) as step:
        result = await run(model)

    assert result.finding.relevant_files[0].path == "src/parse.py"
    assert result.shortfalls == []
    assert [name for name, _ in model.asked] == ["tools", "tools", "tools", "CodebaseFinding"]
    shown = answered(model)
    assert '# read_lines({"end": 3, "path": "src/parse.py", "start": 2})\n[3] src/parse.py 2-3\n' in shown
    assert '# find_symbol({"name": "Store"})\n[4] src/store.py 1-4 Store' in shown
    assert [(record.tool, record.outcome) for record in step.tools] == [
        ("read_lines", Outcome.SUCCESS),
        ("find_symbol", Outcome.SUCCESS),
    ]


async def test_each_turn_sees_the_answers_of_those_before_as_data():
    model = model_of(reads(2), ENOUGH)
    await run(model)
    first, second = turns_of(model)
    assert [message.type for message in first] == ["system", "human"]
    assert [message.type for message in second] == ["system", "human", "ai", "tool"]
    assert "by calling `CodebaseFinding`" in first[0].text
    (reply,) = replies(second)
    mark = reply.text.split(">>")[0].removeprefix("<<answer 1 ")
    assert reply.text.startswith(f"<<answer 1 {mark}>>\n[3] src/parse.py 2-3\n")
    assert reply.text.endswith(f"<</answer 1 {mark}>>\n\nRoom left for answers: 15,937 characters, 7 calls.")


# --- bounds


def number_of_turn(prompt: Sequence[BaseMessage]) -> int:
    return sum(isinstance(message, AIMessage) for message in prompt)


async def test_a_model_that_asks_for_ever_is_stopped():
    model = model_of()
    model.answers["tools"] = lambda prompt: reads(number_of_turn(prompt) + 1)
    progress = FakeProgressLog()
    result = await run(model, progress=progress)
    *_, last = turns = turns_of(model)
    assert len(turns) == code_lookup.MAX_TURNS + 1, "the answer may come in the same conversation"
    assert replies(last)[-1].text.endswith(", 0 calls.")
    assert result.shortfalls == []
    assert progress.lines == ["Codebase search: things looked up: 3; it asked for nothing new."]


async def test_an_identical_call_is_answered_from_the_first_with_a_note():
    model = model_of(reads(1), asks(("read_lines", {"end": 3, "start": 1, "path": "src/parse.py"}), start=5), ENOUGH)
    tools = FakeToolset("lines")
    model.answers["tools"] = [reads(1, 1), reads(1, 2), ENOUGH]
    await run(model, tools)
    assert [len(message.tool_calls) for message in tools.ran] == [1, 1]
    *_, last = turns_of(model)
    repeated = code_lookup.REPEATED.format(number=1)
    assert [repeated in reply.text for reply in replies(last)] == [False, True, True, False]
    assert answered(model).count("# read_lines(") == 2, "what was answered once stands there once"


async def test_eight_calls_are_run_and_every_further_one_is_told():
    tools = FakeToolset("lines")
    model = model_of(reads(*range(1, 6)), reads(*range(11, 18)), ENOUGH)
    await run(model, tools)
    assert [len(message.tool_calls) for message in tools.ran] == [5, 3]
    *_, last = turns = turns_of(model)
    assert len(turns) == 3, "the last for the answer"
    assert replies(last)[-1].text.endswith(", 0 calls.")
    assert answered(model).count(code_lookup.LIMIT_REACHED) == 4


async def test_a_turn_leaves_a_quarter_of_the_room_to_the_next():
    tools = FakeToolset("x\n" * 50_000)
    model = model_of(reads(1), reads(2), reads(3), ENOUGH)
    lookup = CodeLookup(given_services(model, tools), model, tools, ShownCode())
    await lookup.answer([SystemMessage("s"), HumanMessage("h")])
    sizes = [len(one.answer) for one in lookup.answers]
    room = code_lookup.MAX_ANSWERS_CHARS
    for size in sizes:
        assert room * 0.75 - 100 < size <= room * 0.75 + 100, "and the note on what was left out"
        room -= size
    assert len(sizes) == 3


@pytest.mark.parametrize(
    ("limits", "cost", "turns"),
    [
        (Limits(tokens=100_000), Usage(input_tokens=9_000, output_tokens=100, calls=1, usd=0.001), 4),
        (Limits(tokens=100_000), Usage(input_tokens=62_000, output_tokens=100, calls=1, usd=0.001), 1),
        (Limits(usd=1.0), Usage(calls=1, usd=0.18), 2),
        (Limits(usd=1.0), Usage(calls=1, usd=None), 4),
    ],
)
async def test_the_loop_leaves_what_critic_and_writer_need(limits: Limits, cost: Usage, turns: int):
    model = model_of()
    model.cost = cost
    model.answers["tools"] = lambda prompt: reads(number_of_turn(prompt) + 1)
    progress = FakeProgressLog()
    result = await run(model, limits=limits, progress=progress)
    assert len(turns_of(model)) == turns
    assert result.shortfalls == []
    if turns < 4:
        assert progress.lines[-1].endswith("the rest of the budget is for critic and writer.")


async def test_the_loop_leaves_the_time_that_an_answer_takes():
    clock = FakeClock()

    def slow(prompt: Any) -> AIMessage:
        clock.seconds += 25
        return reads(number_of_turn(prompt) + 1)

    model = model_of()
    model.answers["tools"] = slow
    result = await run(model, clock=clock, limits=Limits(agent_seconds=60))
    assert len(turns_of(model)) == 2, "after 50 of 60 seconds the rest is for the answer"
    assert result.shortfalls == []


# --- what goes wrong

FAILURES = [
    BudgetExceeded("max-tokens (100,000) would be exceeded"),
    TimeLimitExceeded("no time left for this call"),
    ModelUnavailable("request refused (400)"),
]


@pytest.mark.parametrize("error", FAILURES)
async def test_a_failing_turn_costs_the_looking_up_and_not_the_answer(error: Exception):
    model = model_of(error)
    result = await run(model)
    assert result.finding.why == factories.WHY
    assert result.shortfalls == [f"looking things up ended early: {error}; answered from what was there"]


async def test_what_was_looked_up_before_a_failure_is_kept():
    model = model_of(reads(2), ModelUnavailable("rate limited (429)"))
    result = await run(model)
    assert "[3] src/parse.py 2-3\n" in answered(model)
    assert len(result.shortfalls) == 1


async def test_a_turn_that_hangs_is_cut_in_time_for_the_answer():
    model = model_of(lambda _: asyncio.sleep(60))
    result = await run(model, limits=Limits(agent_seconds=4.2))
    assert result.finding.why == factories.WHY
    assert result.shortfalls == ["looking things up ended early: no answer in time; answered from what was there"]


async def test_what_a_model_refuses_is_not_asked_again():
    model = model_of(InvalidAnswer("refused by the model"))
    with pytest.raises(InvalidAnswer):
        await run(model)
    assert [name for name, _ in model.asked] == ["tools"]
    refusing = model_of(reads(2), InvalidAnswer("refused by the model"))
    assert (await run(refusing)).finding.why == factories.WHY, "what was looked up is new to it"


async def test_every_call_is_answered_under_its_own_id():
    bad = InvalidToolCall(name="read_lines", args='{"path": ', id="bad", error=None, type="invalid_tool_call")
    message = asks(
        ("read_lines", {"path": "src/parse.py", "start": 1, "end": 1}),
        ("no such/tool", {}),
        ("read_lines", {"start": 1}),
        ("grep", {"text": "??"}),
        words="I will look",
    )
    message.tool_calls += [message.tool_calls[0] | {"id": each} for each in ("call_0_0", None, "id0")]
    message.invalid_tool_calls.append(bad)
    model = model_of(message, ENOUGH)
    await run(model)
    *_, last = turns_of(model)
    (asked,) = [each for each in last if isinstance(each, AIMessage)]
    ids = [call["id"] for call in asked.tool_calls]
    assert len(set(ids)) == len(ids) == 8
    assert [reply.tool_call_id for reply in replies(last)] == ids
    assert asked.invalid_tool_calls == [], "arguments that are no JSON are not sent again"
    assert [call["name"] for call in asked.tool_calls][1] == "tool"
    told = [reply.text.split("\n")[1] for reply in replies(last)]
    assert told[1] == "There is no such tool; there are: grep, find_symbol, read_lines, git_log, show_commit."
    assert told[2] == "These arguments do not fit (path: missing; end: missing)."
    assert told[7] == "The arguments are not a JSON object."
    assert told[3].startswith("Nothing in the indexed commit")
    assert set(told[4:7]) == {code_lookup.REPEATED.format(number=1)}


names = st.sampled_from(["grep", "find_symbol", "read_lines", "git_log", "show_commit"]) | st.text(max_size=80)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=8,
)
arguments = st.dictionaries(
    st.sampled_from(["query", "text", "path", "start", "end", "name"]) | st.text(max_size=9), values, max_size=4
)
wanted = st.tuples(
    names, arguments | st.text(max_size=30), st.none() | st.sampled_from(["", "1", "2"]) | st.text(max_size=60)
)


@settings(max_examples=10, deadline=None)
@given(turns=st.lists(st.lists(wanted, max_size=20), max_size=5))
def test_whatever_is_asked_the_conversation_stays_well_formed(turns: list[list[tuple[str, Any, str | None]]]):
    messages = [
        AIMessage(
            "",
            tool_calls=[
                {"name": n, "args": a, "id": i, "type": "tool_call"} for n, a, i in asked if isinstance(a, dict)
            ],
            invalid_tool_calls=[
                InvalidToolCall(name=n, args=a, id=i, error=None, type="invalid_tool_call")
                for n, a, i in asked
                if isinstance(a, str)
            ],
        )
        for asked in turns
    ]
    model = model_of(*messages, *[ENOUGH] * 3)
    result = asyncio.run(run(model))
    assert result.finding.why == factories.WHY
    sent = turns_of(model)
    assert len(sent) <= code_lookup.MAX_TURNS + 1
    waiting: list[str | None] = []
    for message in sent[-1] if sent else []:
        if isinstance(message, AIMessage):
            assert not waiting
            waiting = [call["id"] for call in message.tool_calls]
            assert all(waiting)
            for call in message.tool_calls:
                assert re.fullmatch(r"[\w-]{1,64}", call["name"])
                json.dumps(call["args"], ensure_ascii=False).encode("utf-8")
        elif isinstance(message, ToolMessage):
            assert message.tool_call_id == waiting.pop(0)
    assert not waiting
    answered(model).encode("utf-8")
