"""What the client learns from an endpoint's refusals and answers, for the rest of the run."""

import json
import re
from typing import Any

import pytest
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.tools import tool

from testing.servers.scripted_server import ReceivedRequest, ScriptedReply, chat_completion, error_reply, serve_script
from tests.outside.model.model import GREEN, Colour, ModelSetup, asked_modes, colour, measure
from triage.base.errors import BudgetExceeded, ModelUnavailable
from triage.domain.run import Limits
from triage.outside.model.endpoint_features import THINKING_TOKENS

PROSE = chat_completion("Sure! Here it is.")


@tool
def look_up(name: str) -> str:
    """Look something up."""
    return name


def refuse(is_refused: Any, message: str = "unsupported", *, param: str | None = None, status: int = 400) -> Any:
    """An endpoint that refuses some requests."""
    refusal = ScriptedReply({"error": {"message": message, "param": param}}, status)

    def script(request: ReceivedRequest) -> ScriptedReply:
        call = [("Colour", GREEN)] if "tools" in request.body else []
        answer = chat_completion(tool_calls=call) if call else chat_completion(f"```json\n{GREEN}\n```")
        return refusal if is_refused(request.body) else answer

    return script


def sends(name: str) -> Any:
    return lambda body: f'"{name}"' in json.dumps(body)


REFUSED: list[tuple[str, Any, int]] = [
    ("response_format", refuse(sends("response_format")), 3),
    ("response_format", refuse(sends("response_format"), status=422), 3),
    ("maxLength", refuse(sends("maxLength"), "Invalid schema: 'maxLength' is not permitted."), 1),
    ("strict", refuse(sends("strict")), 2),
    ("reasoning_effort", refuse(sends("reasoning_effort"), "Unrecognized argument: reasoning_effort"), 2),
    ("max_completion_tokens", refuse(sends("max_completion_tokens"), param="max_completion_tokens"), 1),
]


@pytest.mark.parametrize(("name", "script", "refusals"), REFUSED)
@pytest.mark.parametrize("has_tools", [False, True])
async def test_what_is_refused_is_left_out_from_then_on(name: str, script: Any, refusals: int, has_tools: bool):
    refusals = 0 if has_tools and name == "response_format" else refusals
    with serve_script(script) as server:
        model = ModelSetup(server).model
        tools = model.tools_or_answer([look_up], Colour, "main", 50)
        with measure(10) as meter:
            for _ in range(2):
                assert await (tools.ainvoke("Which?") if has_tools else colour(model)) == Colour(name="green", depth=3)
    assert len(server.requests) == refusals + 2
    assert [sends(name)(request.body) for request in server.requests] == [True] * refusals + [False] * 2
    assert {str(call.error) for call in meter.calls[:refusals]} <= {"request refused (400)", "request refused (422)"}
    assert all(request.body.get("max_tokens", THINKING_TOKENS) == THINKING_TOKENS for request in server.requests)
    if name == "response_format" and not has_tools:
        assert "depth" in json.dumps(server.requests[-1].body["messages"])


async def test_a_refused_parameter_is_found_where_mistral_names_it():
    detail = [{"type": "extra_forbidden", "loc": ["body", "max_completion_tokens"], "msg": "not permitted"}]
    with serve_script([ScriptedReply({"detail": detail}, 422), chat_completion(GREEN)]) as server:
        assert (await colour(ModelSetup(server).model)).depth == 3
    assert server.requests[-1].body["max_tokens"] == THINKING_TOKENS


@pytest.mark.parametrize(
    "message",
    [
        "max_tokens is too large: 16000. This model supports at most 4096 completion tokens.",
        "This model's maximum context length is 8192 tokens. However, you requested 18000 tokens.",
    ],
)
async def test_room_for_reasoning_that_is_refused_is_not_asked_for(message: str):
    script = refuse(lambda body: body["max_completion_tokens"] > 8_000, message, param="max_tokens")
    with serve_script(script) as server:
        model = ModelSetup(server).model
        for _ in range(2):
            await colour(model)
    assert [request.body["max_completion_tokens"] for request in server.requests] == [THINKING_TOKENS, 50, 50]


async def test_system_messages_that_are_refused_go_to_the_user():
    script = refuse(sends("system"), "Developer instruction is not enabled for this model")
    with serve_script(script) as server:
        model = ModelSetup(server).model
        for _ in range(2):
            await model.structured_output(Colour, "main", 50).ainvoke([SystemMessage("rules"), HumanMessage("issue")])
    assert [[one["role"] for one in request.body["messages"]] for request in server.requests] == [
        ["system", "user"],
        ["user"],
        ["user"],
    ]
    assert server.requests[-1].body["messages"][0]["content"] == "rules\n\nissue"


async def test_a_refusal_for_another_reason_teaches_nothing():
    """The first call is refused in every form; the next one begins with the best one again."""
    refused = {"is": True}
    with serve_script(refuse(lambda body: refused["is"])) as server:
        model = ModelSetup(server, fallback="gpt-4o").model
        with pytest.raises(ModelUnavailable, match="request refused"):
            await colour(model)
        refused["is"] = False
        await colour(model)
    assert asked_modes(server)[-2:] == ["plain", "json_schema"]


# --- answers


@pytest.mark.parametrize("answer", ['{"name": "green"}', '{"name": "green", "depth": ""}'])
async def test_a_field_that_is_missing_once_changes_nothing_for_the_rest_of_the_run(answer: str):
    with serve_script([chat_completion(answer), chat_completion(GREEN)]) as server:
        model = ModelSetup(server).model
        with measure(10) as meter:
            for _ in range(2):
                assert (await colour(model)).depth == 3
    assert asked_modes(server) == ["json_schema"] * 3
    first, second, third = (request.body["messages"] for request in server.requests)
    assert second[: len(first)] == first == third
    assert [message["role"] for message in second[len(first) :]] == ["assistant", "user"]
    assert second[-2]["content"] == answer
    assert "depth missing or unreadable" in second[-1]["content"]
    assert re.fullmatch(r"<<problem (\w{16})>>\n[^\n]+\n<</problem \1>>", second[-1]["content"])
    assert meter.calls[0].error == "answer does not fit Colour: depth missing or unreadable"


async def test_a_second_question_that_the_budget_cannot_pay_is_not_asked():
    with serve_script([PROSE]) as server, pytest.raises(BudgetExceeded):
        await colour(ModelSetup(server, Limits(tokens=250)).model)
    assert len(server.requests) == 1


async def test_a_busy_endpoint_is_asked_the_second_question_again():
    misfit = chat_completion('{"name": "green"}')
    with serve_script([misfit, error_reply(500), chat_completion(GREEN)]) as server:
        assert (await colour(ModelSetup(server).model)).depth == 3
    assert [len(request.body["messages"]) for request in server.requests] == [1, 3, 3]


PICTURE = HumanMessage(
    [{"type": "text", "text": "Which colour?"}, {"type": "image", "mime_type": "image/png", "base64": "aWNv"}]
)


@pytest.mark.parametrize(
    ("model", "script", "requests"),
    [
        ("gpt-6-luna", refuse(lambda _: False), [True]),
        ("provider/gpt-6-luna", refuse(sends("image_url"), "image_url is not supported"), [True, False]),
        ("gpt-6-luna", refuse(sends("image_url")), [True, False]),
        ("tiny", refuse(lambda _: False), [False]),
    ],
)
async def test_pictures_go_to_models_that_take_them(model: str, script: Any, requests: list[bool]):
    with serve_script(script) as server:
        setup = ModelSetup(server, main=model, fast=model, fallback=model)
        answer = await setup.model.structured_output(Colour, "main", 50).ainvoke([SystemMessage("See."), PICTURE])
    assert answer.name == "green"
    assert [sends("image_url")(one.body) for one in server.requests] == requests
    assert all("Which colour?" in json.dumps(one.body) for one in server.requests)
