"""Requests to well-known endpoints, as docs/endpoints.md describes them."""

from itertools import pairwise
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.tools import tool

from testing.servers.model_endpoints import anthropic_endpoint, gemini_endpoint, openai_endpoint
from testing.servers.scripted_server import (
    ReceivedRequest,
    ScriptedReply,
    ScriptedServer,
    chat_completion,
    serve_script,
)
from tests.model.model import GREEN, Colour, ModelSetup, asked_modes, colour
from triage.app.settings import Settings
from triage.base.errors import ModelUnavailable
from triage.model.chat_model import ChatModel
from triage.model.endpoint_features import EndpointFeatures


@tool
def grep(text: str) -> str:
    """Find a text."""
    return text


async def ask_for_tools(model: ChatModel) -> AIMessage:
    answer: AIMessage = await model.with_tools([grep], "main", 60).ainvoke("Look it up.")
    return answer


def list_options(server: ScriptedServer, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(request.body.get(name) for name in names) for request in server.requests]


@pytest.mark.parametrize(
    "model", [Settings.from_runner({}).model, Settings.from_runner({}).fast_model, "openai/gpt-6.1-terra"]
)
async def test_the_default_models_are_asked_without_reasoning_and_refuse_nothing(model: str):
    """Tokens for reasoning would count as part of the answer's length, and tools would be refused."""
    with serve_script(openai_endpoint(GREEN)) as server:
        setup = ModelSetup(server, main=model)
        assert (await colour(setup.model)).name == "green"
        assert (await ask_for_tools(setup.model)).tool_calls
    assert asked_modes(server) == ["json_schema", "tools"]
    options = list_options(server, "reasoning_effort", "temperature", "max_completion_tokens", "max_tokens")
    assert options == [("none", 0, 50, None), ("none", 0, 60, None)]


async def test_a_deployment_with_another_name_is_asked_without_reasoning_once_its_tools_need_it():
    """As on Azure."""
    with serve_script(openai_endpoint(GREEN)) as server:
        model = ModelSetup(server, main="our-deployment").model
        assert (await ask_for_tools(model)).tool_calls
        assert (await colour(model)).name == "green"
    assert [effort for (effort,) in list_options(server, "reasoning_effort")] == [None, "none", "none"]


async def test_a_model_that_always_reasons_is_asked_without_the_effort():
    with serve_script(openai_endpoint(GREEN, optional_reasoning=False)) as server:
        model = ModelSetup(server, main="gpt-6-astra").model
        assert (await colour(model)).name == "green"
        assert (await colour(model)).name == "green"
        with pytest.raises(ModelUnavailable, match="request refused"):
            await ask_for_tools(model)
    options = list_options(server, "reasoning_effort", "temperature")
    assert options[:4] == [("none", 0), (None, 0), (None, None), (None, None)]


async def test_the_refused_effort_is_found_in_the_message_of_a_gateway():
    """LiteLLM passes on the text and not always the name."""
    text = "litellm.BadRequestError: Function tools with reasoning_effort are not supported for gpt-5.6."
    refusal = ScriptedReply({"error": {"message": text, "type": None, "param": None, "code": "400"}}, 400)
    with serve_script([refusal, chat_completion(tool_calls=[("grep", "{}")])]) as server:
        await ask_for_tools(ModelSetup(server, main="triage").model)
    assert list_options(server, "reasoning_effort") == [(None,), ("none",)]


@pytest.mark.parametrize("model", ["gpt-4.1", "gpt-5", "claude-sonnet-5-5", "gemini-3.8-flash", "gpt-oss-120b"])
async def test_other_models_are_not_sent_an_effort(model: str):
    with serve_script([chat_completion(GREEN)]) as server:
        await colour(ModelSetup(server, main=model).model)
    assert "reasoning_effort" not in server.requests[0].body


async def test_anthropic_is_asked_with_the_schema_in_the_prompt_from_the_start():
    """The first answer would be prose."""
    with serve_script(anthropic_endpoint(GREEN)) as server:
        setup = ModelSetup(server, main="claude-sonnet-5-5")
        setup.model.features = EndpointFeatures("https://api.anthropic.com/v1/")
        assert (await colour(setup.model)).name == "green"
        assert (await ask_for_tools(setup.model)).tool_calls
    assert asked_modes(server) == ["plain", "tools"]


async def test_gemini_may_refuse_the_schema_and_reads_it_in_the_prompt():
    with serve_script(gemini_endpoint(GREEN)) as server:
        model = ModelSetup(server, main="gemini-3.8-flash").model
        assert [(await colour(model)).name for _ in range(2)] == ["green", "green"]
    assert asked_modes(server) == ["json_schema", "plain", "plain"]


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
