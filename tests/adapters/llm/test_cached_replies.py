"""What was answered is not asked again by the run that goes on."""

import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from pydantic import BaseModel

from testing.fakes import FakeReplies
from testing.servers.scripted_server import Reply, completion, refusal, serving
from tests.adapters.llm.model import GREEN, Colour, Door, colour, modes, names
from triage.domain.run import Limits, Outcome
from triage.errors import BudgetSpent, ModelUnavailable


@tool
def look_up(name: str) -> str:
    """Look something up."""
    return name


CALLED = completion(tool_calls=[("Colour", GREEN)], finish_reason="tool_calls")


@pytest.mark.parametrize(
    ("ask", "reply"),
    [
        (lambda m: m.structured(Colour, "main", 50), completion(GREEN)),
        (lambda m: m.text("main", 50), completion("words \N{PILE OF POO}")),
        (lambda m: m.json_object("main", 50), completion('{"a": [1]}')),
        (lambda m: m.with_tools([look_up], "fast", 50), completion("so", tool_calls=[("look_up", '{"name": "x"}')])),
        (lambda m: m.with_tools([look_up], "fast", 50), completion(None, tool_calls=[("look_up", "{")])),
    ],
    ids=["structured", "text", "object", "tools", "garbled tools"],
)
async def test_an_answer_is_the_same_when_it_is_replayed(ask: Any, reply: Reply):
    replies = FakeReplies()
    with serving([reply]) as server:
        first = await ask(Door(server, replies=replies).model).ainvoke("go")
        door = Door(server, replies=replies)
        with door.model.metered(10) as meter:
            assert await ask(door.model).ainvoke("go") == first
    assert len(server.requests) == 1
    (call,) = meter.calls
    assert (call.replayed, call.outcome, call.model) == (True, Outcome.SUCCESS, names(server)[0])


async def test_a_replayed_answer_counts_like_a_fresh_one():
    replies = FakeReplies()
    with serving([completion(GREEN, cached=50)]) as server:
        first, second = Door(server, replies=replies), Door(server, Limits(tokens=200), replies=replies)
        await colour(first.model)
        await colour(second.model)
        assert second.model.usage == first.model.usage
        with pytest.raises(BudgetSpent):
            await colour(second.model, "Another?")


async def test_a_replay_is_possible_after_the_endpoint_is_gone_or_given_up():
    replies = FakeReplies()
    with serving([completion(GREEN), refusal(401)]) as server:
        door = Door(server, replies=replies)
        await colour(door.model)
        with pytest.raises(ModelUnavailable):
            await colour(door.model, "Another?")
        assert (await colour(door.model)).depth == 3


class Shade(BaseModel):
    name: str
    depth: int


async def test_whatever_shapes_the_answer_makes_it_another_question():
    replies = FakeReplies()
    reply = completion(GREEN)
    with serving([reply]) as server, serving([reply]) as elsewhere:
        model = Door(server, replies=replies).model
        asked = [
            model.structured(Colour, "main", 50).ainvoke("go"),
            model.structured(Colour, "main", 50).ainvoke("go on"),
            model.structured(Colour, "main", 60).ainvoke("go"),
            model.structured(Colour, "fast", 50).ainvoke("go"),
            model.structured(Shade, "main", 50).ainvoke("go"),
            model.json_object("main", 50).ainvoke("go"),
            model.text("main", 50).ainvoke("go"),
            model.with_tools([look_up], "main", 50).ainvoke("go"),
            model.text("main", 50).ainvoke([AIMessage("go")]),
        ]
        for one in asked:
            await one
        await Door(elsewhere, replies=replies).model.structured(Colour, "main", 50).ainvoke("go")
    assert len(server.requests) == len(asked)
    assert len(elsewhere.requests) == 1


async def test_what_tools_were_asked_and_said_is_part_of_the_question():
    replies = FakeReplies()

    def talk(args: dict[str, Any] | str, said: str) -> list[Any]:
        asked: Any = {"name": "look_up", "id": "1", "args": args}
        calls = {"tool_calls": [asked]} if isinstance(args, dict) else {"invalid_tool_calls": [asked | {"error": None}]}
        return [HumanMessage("go"), AIMessage("", **calls), ToolMessage(said, tool_call_id="1")]

    talks = [
        talk({"name": "x"}, "a"),
        talk({"name": "y"}, "a"),
        talk({"name": "x"}, "b"),
        talk("{", "a"),
        talk("[", "a"),
    ]
    with serving([completion("words")]) as server:
        for messages in [*talks, *talks]:
            await Door(server, replies=replies).model.text("main", 50).ainvoke(messages)
    assert len(server.requests) == len(talks)


async def test_answers_of_the_fallback_and_of_another_mode_are_found_again():
    """The first run found out what the endpoint can do; the one that goes on does not ask that again."""
    replies = FakeReplies()

    def script(request: Any) -> Reply:
        if "response_format" in request.body:
            return refusal(400)
        return CALLED if request.body["model"] == "gpt-4o-mini" else refusal(429)

    with serving(script) as server:
        await colour(Door(server, replies=replies).model)
        asked = len(server.requests)
        door = Door(server, replies=replies)
        with door.model.metered(10) as meter:
            assert (await colour(door.model)).depth == 3
        assert len(server.requests) == asked
        assert (meter.models, meter.calls[0].mode) == (["gpt-4o-mini"], "function_calling")
        await colour(door.model.frugal(), "Another?")
    assert modes(server)[asked:] == ["tools"], "the mode is known from the replayed answer"


UNUSABLE = {
    "prose": completion("Sure!"),
    "empty": completion(""),
    "refused": completion(None, refusal="No."),
    "length": completion("{", finish_reason="length"),
    "busy": refusal(500),
}


@pytest.mark.parametrize("reply", UNUSABLE.values(), ids=UNUSABLE)
async def test_an_answer_that_could_not_be_used_is_asked_for_again(reply: Reply):
    """Else the re-run of a job that failed on it would fail on it again."""
    replies = FakeReplies()
    with serving([reply]) as server, pytest.raises(ModelUnavailable):
        await colour(Door(server, replies=replies).model)
    assert replies.kept == {}


@pytest.mark.parametrize(
    "spoil",
    [
        lambda kept: "",
        lambda kept: "no json",
        lambda kept: "[" * 100_000,
        lambda kept: "{}",
        lambda kept: json.dumps(json.loads(kept) | {"mode": "telepathy"}),
        lambda kept: json.dumps(json.loads(kept) | {"content": "prose"}),
        lambda kept: json.dumps(json.loads(kept) | {"input_tokens": "many"}),
        lambda kept: json.dumps(json.loads(kept) | {"more": 1}),
    ],
)
async def test_a_kept_answer_that_cannot_be_used_is_asked_for_again(spoil: Any):
    replies = FakeReplies()
    with serving([completion(GREEN)]) as server:
        await colour(Door(server, replies=replies).model)
        (key,) = replies.kept
        replies.kept[key] = spoil(replies.kept[key])
        door = Door(server, replies=replies)
        assert (await colour(door.model)).depth == 3
    assert len(server.requests) == 2
    assert door.model.usage.calls == 1


async def test_odd_letters_in_arguments_can_be_kept():
    replies = FakeReplies()
    with serving([completion(None, tool_calls=[("look_up", '{"name": "\\ud800"}')])]) as server:
        for _ in range(2):
            message = await Door(server, replies=replies).model.with_tools([look_up], "fast", 50).ainvoke("go")
            assert message.tool_calls[0]["args"] == {"name": "\ud800"}
    assert len(server.requests) == 1


async def test_keys_and_prompts_are_not_kept():
    replies = FakeReplies()
    with serving([completion(GREEN)]) as server:
        await colour(Door(server, replies=replies).model, "the secret issue")
    assert "sk-test" not in str(replies.kept)
    assert "secret issue" not in str(replies.kept)
