"""Replies of an interrupted run are not requested again."""

import json
import math
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from pydantic import BaseModel

from testing.servers.scripted_server import ScriptedReply, chat_completion, error_reply, serve_script
from tests.model.model import GREEN, Colour, FakeResponseCache, ModelSetup, asked_models, asked_modes, colour
from triage.base.errors import BudgetExceeded, ModelUnavailable
from triage.domain.run import Limits, Outcome, Usage


@tool
def look_up(name: str) -> str:
    """Look something up."""
    return name


@pytest.mark.parametrize(
    ("ask", "reply"),
    [
        (lambda m: m.structured_output(Colour, "main", 50), chat_completion(GREEN)),
        (lambda m: m.with_tools([], "main", 50), chat_completion("words \N{PILE OF POO}")),
        (
            lambda m: m.with_tools([look_up], "fast", 50),
            chat_completion("so", tool_calls=[("look_up", '{"name": "x"}')]),
        ),
        (lambda m: m.with_tools([look_up], "fast", 50), chat_completion(None, tool_calls=[("look_up", "{")])),
    ],
    ids=["structured", "text", "tools", "garbled tools"],
)
async def test_an_answer_is_the_same_when_it_is_replayed(ask: Any, reply: ScriptedReply):
    replies = FakeResponseCache()
    with serve_script([reply]) as server:
        first = await ask(ModelSetup(server, replies=replies).model).ainvoke("go")
        setup = ModelSetup(server, replies=replies)
        with setup.model.measure_usage(10) as meter:
            assert await ask(setup.model).ainvoke("go") == first
    assert len(server.requests) == 1
    (call,) = meter.calls
    assert (call.replayed, call.outcome, call.model) == (True, Outcome.SUCCESS, asked_models(server)[0])


async def test_a_reused_reply_counts_against_the_caps_and_costs_nothing():
    replies = FakeResponseCache()
    with serve_script([chat_completion(GREEN, cached=50)]) as server:
        first, second = ModelSetup(server, replies=replies), ModelSetup(server, Limits(tokens=200), replies=replies)
        await colour(first.model)
        with second.model.measure_usage(10) as meter:
            await colour(second.model)
        assert second.model.reused == first.model.usage
        assert second.model.usage == meter.usage == Usage()
        with pytest.raises(BudgetExceeded):
            await colour(second.model, "Another?")


async def test_a_replay_is_possible_after_the_endpoint_is_gone_or_given_up():
    replies = FakeResponseCache()
    with serve_script([chat_completion(GREEN), error_reply(401)]) as server:
        setup = ModelSetup(server, replies=replies)
        await colour(setup.model)
        with pytest.raises(ModelUnavailable):
            await colour(setup.model, "Another?")
        assert (await colour(setup.model)).depth == 3


class Shade(BaseModel):
    name: str
    depth: int


async def test_everything_that_affects_the_answer_is_part_of_the_key():
    replies = FakeResponseCache()
    reply = chat_completion(GREEN)
    with serve_script([reply]) as server, serve_script([reply]) as elsewhere:
        model = ModelSetup(server, replies=replies).model
        asked = [
            model.structured_output(Colour, "main", 50).ainvoke("go"),
            model.structured_output(Colour, "main", 50).ainvoke("go on"),
            model.structured_output(Colour, "main", 60).ainvoke("go"),
            model.structured_output(Colour, "fast", 50).ainvoke("go"),
            model.structured_output(Shade, "main", 50).ainvoke("go"),
            model.with_tools([], "main", 50).ainvoke("go"),
            model.with_tools([look_up], "main", 50).ainvoke("go"),
            model.with_tools([], "main", 50).ainvoke([AIMessage("go")]),
        ]
        for one in asked:
            await one
        await ModelSetup(elsewhere, replies=replies).model.structured_output(Colour, "main", 50).ainvoke("go")
    assert len(server.requests) == len(asked)
    assert len(elsewhere.requests) == 1


async def test_tool_calls_and_their_results_are_part_of_the_key():
    replies = FakeResponseCache()

    def talk(args: dict[str, Any] | str, content: str) -> list[Any]:
        asked: Any = {"name": "look_up", "id": "1", "args": args}
        calls = {"tool_calls": [asked]} if isinstance(args, dict) else {"invalid_tool_calls": [asked | {"error": None}]}
        return [HumanMessage("go"), AIMessage("", **calls), ToolMessage(content, tool_call_id="1")]

    talks = [
        talk({"name": "x"}, "a"),
        talk({"name": "y"}, "a"),
        talk({"name": "x"}, "b"),
        talk("{", "a"),
        talk("[", "a"),
    ]
    with serve_script([chat_completion("words")]) as server:
        for messages in [*talks, *talks]:
            await ModelSetup(server, replies=replies).model.with_tools([], "main", 50).ainvoke(messages)
    assert len(server.requests) == len(talks)


async def test_answers_of_the_fallback_and_of_another_mode_are_found_again():
    """The first run found out what the endpoint can do; the one that goes on does not ask that again."""
    replies = FakeResponseCache()

    def script(request: Any) -> ScriptedReply:
        if "response_format" in request.body:
            return error_reply(400)
        return chat_completion(GREEN) if request.body["model"] == "gpt-4o-mini" else error_reply(429)

    with serve_script(script) as server:
        await colour(ModelSetup(server, replies=replies).model)
        asked = len(server.requests)
        setup = ModelSetup(server, replies=replies)
        with setup.model.measure_usage(10) as meter:
            assert (await colour(setup.model)).depth == 3
        assert len(server.requests) == asked
        assert (meter.models, meter.calls[0].mode) == (["gpt-4o-mini"], "plain")
        await colour(setup.model.with_fast_model(), "Another?")
    assert asked_modes(server)[asked:] == ["plain"], "the mode is known from the replayed answer"


UNUSABLE = {
    "prose": chat_completion("Sure!"),
    "empty": chat_completion(""),
    "refused": chat_completion(None, refusal="No."),
    "length": chat_completion("{", finish_reason="length"),
    "busy": error_reply(500),
}


@pytest.mark.parametrize("reply", UNUSABLE.values(), ids=UNUSABLE)
async def test_an_answer_that_could_not_be_used_is_not_cached(reply: ScriptedReply):
    """Else the re-run of a job that failed on it would fail on it again."""
    replies = FakeResponseCache()
    with serve_script([reply]) as server, pytest.raises(ModelUnavailable):
        await colour(ModelSetup(server, replies=replies).model)
    assert replies.responses == {}


@pytest.mark.parametrize(
    "spoil",
    [
        lambda saved: "",
        lambda saved: "no json",
        lambda saved: "[" * 100_000,
        lambda saved: "{}",
        lambda saved: json.dumps(json.loads(saved) | {"mode": "telepathy"}),
        lambda saved: json.dumps(json.loads(saved) | {"content": "prose"}),
        lambda saved: json.dumps(json.loads(saved) | {"input_tokens": "many"}),
        lambda saved: json.dumps(json.loads(saved) | {"input_tokens": True}),
        lambda saved: json.dumps(json.loads(saved) | {"input_tokens": -1}),
        lambda saved: json.dumps(json.loads(saved) | {"output_tokens": -900}),
        lambda saved: json.dumps(json.loads(saved) | {"output_tokens": 10**9}),
        lambda saved: json.dumps(json.loads(saved) | {"output_tokens": math.nan}),
        lambda saved: json.dumps(json.loads(saved) | {"output_tokens": math.inf}),
        lambda saved: json.dumps(json.loads(saved) | {"cached_tokens": 10**6}),
        lambda saved: json.dumps(json.loads(saved) | {"more": 1}),
    ],
)
async def test_a_cached_answer_that_cannot_be_used_is_requested_again(spoil: Any):
    replies = FakeResponseCache()
    with serve_script([chat_completion(GREEN)]) as server:
        await colour(ModelSetup(server, replies=replies).model)
        (key,) = replies.responses
        replies.responses[key] = spoil(replies.responses[key])
        setup = ModelSetup(server, replies=replies)
        assert (await colour(setup.model)).depth == 3
    assert len(server.requests) == 2
    assert (setup.model.usage.calls, setup.model.reused) == (1, Usage())


async def test_lone_surrogates_are_replaced_so_that_the_reply_can_be_cached_and_sent_again():
    replies = FakeResponseCache()
    with serve_script([chat_completion("a\udfff", tool_calls=[("look_up", '{"name": "\\ud800"}')])]) as server:
        for _ in range(2):
            message = await ModelSetup(server, replies=replies).model.with_tools([look_up], "fast", 50).ainvoke("go")
            assert (message.text, message.tool_calls[0]["args"]) == ("a?", {"name": "?"})
    assert len(server.requests) == 1


async def test_keys_and_prompts_are_not_cached():
    replies = FakeResponseCache()
    with serve_script([chat_completion(GREEN)]) as server:
        await colour(ModelSetup(server, replies=replies).model, "the secret issue")
    assert "sk-test" not in str(replies.responses)
    assert "secret issue" not in str(replies.responses)
