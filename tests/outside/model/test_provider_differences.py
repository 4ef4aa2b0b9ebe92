"""Requests to well-known endpoints and models, as docs/endpoints.md describes them."""

import json
from itertools import pairwise
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from pydantic import BaseModel, Field

from testing.servers.model_endpoints import anthropic_endpoint, gemini_endpoint, openai_endpoint
from testing.servers.scripted_server import (
    ReceivedRequest,
    ScriptedReply,
    ScriptedServer,
    chat_completion,
    error_reply,
    serve_script,
    to_response,
)
from tests.outside.model.model import GREEN, Colour, ModelSetup, asked_models, asked_modes, colour
from triage.app.settings.inputs import Settings
from triage.base.errors import ModelUnavailable
from triage.domain.run import Limits
from triage.outside.model.chat_model import ChatModel
from triage.outside.model.endpoint_features import THINKING_TOKENS, EndpointFeatures

AZURE = "https://ours.openai.azure.com/openai/v1"


class Bounded(BaseModel):
    depth: float = Field(ge=0, le=1)
    names: list[str]
    text: str = Field(max_length=9)


@tool
def grep(text: str) -> str:
    """Find a text."""
    return text


async def ask_for_tools(model: ChatModel, *before: Any) -> AIMessage:
    answer: AIMessage = await model.with_tools([grep], "main", 60).ainvoke([HumanMessage("Look it up."), *before])
    return answer


def list_options(server: ScriptedServer, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(request.body.get(name) for name in names) for request in server.requests]


def serve_at(setup: ModelSetup, url: str) -> ModelSetup:
    """Let the model be asked as if its endpoint had another address."""
    setup.endpoint.features = EndpointFeatures(url)
    return setup


@pytest.mark.parametrize("model", [Settings.from_runner({}).model, Settings.from_runner({}).fast_model, "gpt-6-astra"])
@pytest.mark.parametrize("url", ["https://api.openai.com/v1", AZURE])
async def test_openai_is_asked_by_the_responses_api_and_refuses_nothing(model: str, url: str):
    with serve_script(openai_endpoint(GREEN, optional_reasoning="astra" not in model)) as server:
        setup = serve_at(ModelSetup(server, Limits(usd=10), main=model), url)
        assert (await colour(setup.model)).name == "green"
        assert (await ask_for_tools(setup.model)).tool_calls
    assert [request.path for request in server.requests] == ["/v1/responses"] * 2
    assert server.requests[0].body["text"]["format"]["name"] == "Colour"
    assert setup.budget.usage.tokens == 240
    options = list_options(server, "reasoning", "max_output_tokens", "store")
    assert options == [({"effort": "low"}, THINKING_TOKENS, False)] * 2, "nothing is stored at the provider"


async def test_a_gateway_that_names_the_responses_api_is_asked_by_it_from_then_on():
    with serve_script(openai_endpoint(GREEN, optional_reasoning=False)) as server:
        model = ModelSetup(server, main="openai/gpt-6-astra").model
        assert (await ask_for_tools(model)).tool_calls
        assert (await colour(model)).name == "green"
    assert [request.path.rpartition("/")[2] for request in server.requests] == ["completions", "responses", "responses"]


async def test_a_gateway_without_the_responses_api_is_asked_without_reasoning():
    by_completions = openai_endpoint(GREEN)

    def reply(request: ReceivedRequest) -> ScriptedReply:
        return error_reply(404) if request.path.endswith("/responses") else by_completions(request)

    with serve_script(reply) as server:
        model = ModelSetup(server, main="openai/gpt-6.1-terra").model
        for _ in range(2):
            assert (await ask_for_tools(model)).tool_calls
    efforts = [(request.path.rpartition("/")[2], request.body.get("reasoning_effort")) for request in server.requests]
    assert efforts == [
        ("completions", "low"),
        ("responses", None),
        *[("completions", "low")],
        *[("completions", "none")] * 2,
    ]


@pytest.mark.parametrize("effort", ["none", "low", "high"])
async def test_the_effort_is_the_one_of_the_settings(effort: Any):
    with serve_script([chat_completion(GREEN)]) as server:
        setup = ModelSetup(server)
        setup.endpoint.features = EndpointFeatures(effort=effort)
        await colour(setup.model)
    assert list_options(server, "reasoning_effort") == [(effort,)]


async def test_a_model_that_cannot_do_without_reasoning_does_little_of_it():
    with serve_script(openai_endpoint(GREEN, optional_reasoning=False)) as server:
        setup = ModelSetup(server, main="gpt-6-astra")
        setup.endpoint.features = EndpointFeatures(effort="none")
        for _ in range(2):
            assert (await colour(setup.model)).name == "green"
    assert list_options(server, "reasoning_effort") == [("none",), ("low",), ("low",)]


# --- models that think


def think(room: int, *, reply: Any = None) -> Any:
    """A model that needs more than `room` for its thoughts."""

    def script(request: ReceivedRequest) -> ScriptedReply:
        body = request.body
        limit = body.get("max_completion_tokens") or body["max_output_tokens"]
        cut = chat_completion("", finish_reason="length")
        cut.body["usage"] |= {"completion_tokens": limit, "total_tokens": 100 + limit}
        cut.body["usage"]["completion_tokens_details"] = {"reasoning_tokens": limit}
        answer = cut if limit <= room else chat_completion(GREEN)
        return to_response(answer) if request.path.endswith("/responses") else answer

    return script


@pytest.mark.parametrize("url", ["", AZURE])
async def test_an_answer_that_was_cut_while_it_thought_is_asked_for_once_more_with_more_room(url: str):
    with serve_script(think(THINKING_TOKENS)) as server:
        setup = serve_at(ModelSetup(server), url)
        assert (await colour(setup.model)).name == "green"
    limits = [
        limit for limits in list_options(server, "max_completion_tokens", "max_output_tokens") for limit in limits
    ]
    assert list(filter(None, limits)) == [THINKING_TOKENS, 2 * THINKING_TOKENS]


async def test_a_model_that_thinks_without_end_is_paid_twice_and_the_other_one_answers():
    def script(request: ReceivedRequest) -> ScriptedReply:
        return think(10**6)(request) if request.body["model"] == "gpt-4o" else chat_completion(GREEN)

    with serve_script(script) as server:
        model = ModelSetup(server).model
        for _ in range(2):
            assert (await colour(model)).name == "green"
    assert asked_models(server) == ["gpt-4o", "gpt-4o", "gpt-4o-mini", "gpt-4o-mini"]


async def test_the_room_is_what_the_caps_leave():
    with serve_script([chat_completion(GREEN)]) as server:
        await colour(ModelSetup(server, Limits(tokens=5_000)).model)
        await colour(ModelSetup(server, Limits(usd=0.05)).model)
        await colour(ModelSetup(server, Limits(tokens=200)).model)
    assert [low for (low,) in list_options(server, "max_completion_tokens")] == [
        pytest.approx(2_450, abs=30),
        pytest.approx(2_480, abs=30),
        pytest.approx(50, abs=60),
    ], "half of the rest, so that another one can be asked if this answer gets lost"


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content"])
async def test_an_answer_among_the_thoughts_is_taken(field: str):
    reply = chat_completion(None)
    reply.body["choices"][0]["message"][field] = f"I see. {GREEN}"
    with serve_script([reply]) as server:
        assert (await colour(ModelSetup(server).model)).name == "green"


ITEM = {"type": "reasoning", "id": "rs-1", "summary": [], "encrypted_content": "gAAA"}


async def test_reasoning_is_handed_on_between_turns_by_the_responses_api():
    with serve_script(openai_endpoint('{"text": "x"}', thoughts=[ITEM])) as server:
        model = serve_at(ModelSetup(server, main="gpt-6-astra"), AZURE).model
        turn = await ask_for_tools(model)
        result = ToolMessage("found", tool_call_id="call-0")
        await ask_for_tools(
            model, AIMessage("", tool_calls=turn.tool_calls, additional_kwargs=turn.additional_kwargs), result
        )
    assert server.requests[0].body["include"] == ["reasoning.encrypted_content"]
    assert [item["type"] for item in server.requests[1].body["input"]] == [
        *("message", "reasoning", "function_call", "function_call_output")
    ]
    assert server.requests[1].body["input"][1]["encrypted_content"] == "gAAA"


@pytest.mark.parametrize("model", ["deepseek-v4", "other"])
async def test_reasoning_is_handed_on_between_turns_to_its_own_model_only(model: str):
    reply = chat_completion(None, tool_calls=[("grep", "{}")])
    reply.body["choices"][0]["message"]["reasoning_content"] = "I look it up."
    with serve_script([reply]) as server:
        turn = await ask_for_tools(ModelSetup(server, main="deepseek-v4").model)
        before = AIMessage("", tool_calls=turn.tool_calls, additional_kwargs=turn.additional_kwargs)
        await ask_for_tools(ModelSetup(server, main=model).model, before, ToolMessage("x", tool_call_id="call-0"))
    is_handed_on = "reasoning_content" in json.dumps(server.requests[1].body)
    assert is_handed_on == (model == "deepseek-v4")


# --- other services


async def test_anthropic_is_asked_with_the_schema_in_the_prompt_from_the_start():
    """The first answer would be prose."""
    with serve_script(anthropic_endpoint(GREEN)) as server:
        setup = serve_at(ModelSetup(server, main="claude-sonnet-5-5"), "https://api.anthropic.com/v1/")
        assert (await colour(setup.model)).name == "green"
        assert (await ask_for_tools(setup.model)).tool_calls
    assert asked_modes(server) == ["plain", "tools"]


async def test_gemini_may_refuse_the_schema_and_reads_it_in_the_prompt():
    with serve_script(gemini_endpoint(GREEN)) as server:
        model = ModelSetup(server, main="gemini-3.8-flash").model
        assert [(await colour(model)).name for _ in range(2)] == ["green", "green"]
    assert asked_modes(server) == [*["json_schema"] * 3, "plain", "plain"]


@pytest.mark.parametrize(
    "text",
    [
        "Conversation roles must alternate user/assistant/user/assistant/...",
        "After the optional system message, conversation roles must alternate user and assistant roles",
    ],
)
async def test_a_chat_template_that_wants_alternating_roles_gets_one_message_of_the_user(text: str):
    """As vLLM answers for Mistral and Gemma."""

    def answer(request: ReceivedRequest) -> ScriptedReply:
        roles = [message["role"] for message in request.body["messages"]]
        if any(one == other for one, other in pairwise(roles)):
            return ScriptedReply({"object": "error", "message": text, "type": "BadRequestError", "code": 400}, 400)
        return chat_completion(GREEN)

    prompt = [SystemMessage("rules"), HumanMessage("the issue"), HumanMessage("memory"), HumanMessage("skill")]
    with serve_script(answer) as server:
        model = ModelSetup(server).model
        for _ in range(2):
            assert (await model.structured_output(Colour, "main", 50).ainvoke(prompt)).name == "green"
    assert asked_modes(server) == ["json_schema"] * 3, "learned once, and the mode was not at fault"
    assert [message["content"] for message in server.requests[-1].body["messages"]] == [
        "rules",
        "the issue\n\nmemory\n\nskill",
    ]


async def test_no_schema_has_what_endpoints_refuse_and_all_lists_and_texts_have_an_end():
    with serve_script([chat_completion(GREEN)]) as server:
        model = ModelSetup(server).model
        with pytest.raises(ModelUnavailable):
            await model.structured_output(Bounded, "main", 50).ainvoke("Which?")
    sent = server.requests[0].body["response_format"]["json_schema"]["schema"]["properties"]
    assert sent["depth"] == {"type": "number"}
    assert sent["names"] == {"type": "array", "maxItems": 12, "items": {"type": "string", "maxLength": 500}}
    assert sent["text"] == {"type": "string", "maxLength": 9}
