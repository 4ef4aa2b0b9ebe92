"""How a format is requested, and what the client learns from an endpoint's responses for the rest of the run."""

import json
import re
from typing import Any

import pytest

from testing.servers.scripted_server import ScriptedReply, chat_completion, error_reply, serve_script
from tests.model.model import GREEN, ModelSetup, asked_modes, colour
from triage.base.errors import BudgetExceeded, ModelUnavailable
from triage.domain.run import Limits

PROSE = chat_completion("Sure! Here it is.")


def refuse_schemas(request: Any) -> ScriptedReply:
    return error_reply(400, "unsupported") if "response_format" in request.body else chat_completion(GREEN)


@pytest.mark.parametrize("status", [400, 422])
async def test_a_schema_that_is_refused_stands_in_the_prompt_from_then_on(status: int):
    def script(request: Any) -> ScriptedReply:
        refused = "response_format" in request.body
        return error_reply(status, "unsupported") if refused else chat_completion(f"```json\n{GREEN}\n```")

    with serve_script(script) as server:
        model = ModelSetup(server).model
        with model.measure_usage(10) as meter:
            for _ in range(2):
                assert (await colour(model)).depth == 3
    assert asked_modes(server) == ["json_schema", "plain", "plain"]
    assert "depth" in json.dumps(server.requests[-1].body["messages"])
    assert [call.mode for call in meter.calls] == ["json_schema", "plain", "plain"]
    assert [call.error for call in meter.calls] == [f"request refused ({status})", None, None]


async def test_a_refusal_for_another_reason_is_not_remembered_as_a_mode():
    """The first request is refused in every mode; the next one starts with the best mode again."""
    with serve_script([*[error_reply(400)] * 2, chat_completion(GREEN)]) as server:
        model = ModelSetup(server).model
        with pytest.raises(ModelUnavailable):
            await colour(model)
        await colour(model)
    assert asked_modes(server)[-1] == "json_schema"


@pytest.mark.parametrize("code", ["context_length_exceeded", None])
async def test_a_prompt_that_is_too_long_is_no_reason_to_change_mode(code: str | None):
    too_long = {"error": {"message": "maximum context length is 4096 tokens", "code": code}}
    with serve_script([ScriptedReply(too_long, 400), chat_completion(GREEN)]) as server:
        model = ModelSetup(server).model
        with pytest.raises(ModelUnavailable, match="prompt too long"):
            await colour(model)
        await colour(model)
    assert asked_modes(server) == ["json_schema", "json_schema"]


@pytest.mark.parametrize("answer", ["Sure! Here it is.", '{"title": "green"}', "[]"])
async def test_a_schema_that_is_accepted_and_always_ignored_is_not_used_again(answer: str):
    def script(request: Any) -> ScriptedReply:
        return chat_completion(answer if "response_format" in request.body else GREEN)

    with serve_script(script) as server:
        model = ModelSetup(server).model
        with pytest.raises(ModelUnavailable, match="does not fit"):
            await colour(model)
        for _ in range(2):
            assert (await colour(model)).depth == 3
    assert asked_modes(server) == ["json_schema", "json_schema", "plain", "plain"]


async def test_a_model_that_ignores_everything_is_asked_once_with_the_schema_in_the_prompt():
    with serve_script([PROSE]) as server:
        model = ModelSetup(server).model
        for _ in range(3):
            with pytest.raises(ModelUnavailable, match="no JSON object"):
                await colour(model)
    assert asked_modes(server) == ["json_schema", "json_schema", "plain", "plain"]


async def test_an_answer_that_can_be_read_gives_a_model_its_second_question_back():
    with serve_script([PROSE, PROSE, chat_completion(GREEN), PROSE, chat_completion(GREEN)]) as server:
        model = ModelSetup(server).model
        with pytest.raises(ModelUnavailable):
            await colour(model)
        assert [(await colour(model)).depth for _ in range(2)] == [3, 3]
    assert asked_modes(server) == ["json_schema", "json_schema", "plain", "plain", "plain"]


async def test_a_misfit_is_asked_for_again_with_the_reason_in_the_same_mode():
    with serve_script([chat_completion('{"name": "green"}'), chat_completion(GREEN)]) as server:
        model = ModelSetup(server).model
        with model.measure_usage(10) as meter:
            assert (await colour(model)).depth == 3
    assert asked_modes(server) == ["json_schema", "json_schema"]
    first, second = (request.body["messages"] for request in server.requests)
    assert second[: len(first)] == first
    assert [message["role"] for message in second[len(first) :]] == ["assistant", "user"]
    assert second[-2]["content"] == '{"name": "green"}'
    assert "depth missing or unreadable" in second[-1]["content"]
    assert re.fullmatch(r"<<problem (\w{16})>>\n[^\n]+\n<</problem \1>>", second[-1]["content"])
    assert (meter.usage.calls, meter.calls[0].error) == (2, "answer does not fit Colour: depth missing or unreadable")


async def test_a_misfit_in_a_mode_that_works_changes_nothing_for_the_rest_of_the_run():
    answers = [chat_completion(GREEN), PROSE, PROSE, chat_completion(GREEN)]
    with serve_script(answers) as server:
        model = ModelSetup(server).model
        await colour(model)
        with pytest.raises(ModelUnavailable, match="does not fit"):
            await colour(model)
        assert (await colour(model)).depth == 3
    assert asked_modes(server) == ["json_schema"] * 4


async def test_a_second_question_counts_against_the_requests_of_a_call():
    refusals = [error_reply(400), *(error_reply(400, param=name) for name in ("temperature", "max_completion_tokens"))]
    with serve_script([*refusals, PROSE]) as server, pytest.raises(ModelUnavailable, match="does not fit"):
        await colour(ModelSetup(server).model)
    assert len(server.requests) == 4


async def test_a_second_question_that_the_budget_cannot_pay_is_not_asked():
    with serve_script([PROSE]) as server, pytest.raises(BudgetExceeded):
        await colour(ModelSetup(server, Limits(tokens=200)).model)
    assert len(server.requests) == 1


async def test_a_busy_endpoint_is_asked_the_second_question_again():
    with serve_script([PROSE, error_reply(500), chat_completion(GREEN)]) as server:
        assert (await colour(ModelSetup(server).model)).depth == 3
    assert [len(request.body["messages"]) for request in server.requests] == [1, 3, 3]


@pytest.mark.parametrize(
    "reply",
    [chat_completion(""), chat_completion("{", finish_reason="length"), chat_completion(None, refusal="No.")],
    ids=["empty", "length", "refused"],
)
async def test_an_answer_that_fails_for_another_reason_leaves_the_mode(reply: ScriptedReply):
    with serve_script([reply, chat_completion(GREEN)]) as server:
        model = ModelSetup(server).model
        with pytest.raises(ModelUnavailable):
            await colour(model)
        await colour(model)
    assert asked_modes(server) == ["json_schema", "json_schema"]


async def test_the_fast_model_shares_the_learned_features():
    with serve_script(refuse_schemas) as server:
        model = ModelSetup(server, main="gpt-4o-mini").model
        await colour(model)
        await colour(model.with_fast_model())
    assert asked_modes(server) == ["json_schema", "plain", "plain"]


async def test_the_fallback_starts_with_the_mode_that_is_left():
    def script(request: Any) -> ScriptedReply:
        if "response_format" in request.body:
            return error_reply(400)
        return chat_completion(GREEN) if request.body["model"] == "gpt-4o-mini" else error_reply(429)

    with serve_script(script) as server:
        assert (await colour(ModelSetup(server).model)).depth == 3
    assert asked_modes(server) == ["json_schema", "plain", "plain", "plain"]


# --- parameters


def only_takes(*refused: str) -> Any:
    """An endpoint that refuses a parameter by name."""

    def script(request: Any) -> ScriptedReply:
        found = next((name for name in refused if name in request.body), None)
        return error_reply(400, "unsupported_parameter", param=found) if found else chat_completion(GREEN)

    return script


async def test_temperature_refused_is_left_out_from_then_on():
    with serve_script(only_takes("temperature")) as server:
        model = ModelSetup(server).model
        for _ in range(2):
            assert (await colour(model)).depth == 3
    assert ["temperature" in request.body for request in server.requests] == [True, False, False]
    assert asked_modes(server) == ["json_schema"] * 3, "the mode was not at fault"


async def test_a_model_that_takes_max_tokens_only_gets_it():
    with serve_script(only_takes("max_completion_tokens")) as server:
        model = ModelSetup(server).model
        for _ in range(2):
            await colour(model)
    assert [request.body.get("max_tokens") for request in server.requests] == [None, 50, 50]
    assert asked_modes(server) == ["json_schema"] * 3


async def test_a_refused_parameter_is_found_in_the_message_too():
    """As Mistral words it."""
    detail = [{"type": "extra_forbidden", "loc": ["body", "max_completion_tokens"], "msg": "not permitted"}]
    with serve_script([ScriptedReply({"detail": detail}, 422), chat_completion(GREEN)]) as server:
        assert (await colour(ModelSetup(server).model)).depth == 3
    assert server.requests[-1].body["max_tokens"] == 50


async def test_a_model_that_refuses_both_names_is_given_up():
    with serve_script(only_takes("max_completion_tokens", "max_tokens")) as server, pytest.raises(ModelUnavailable):
        await colour(ModelSetup(server).model)
    assert len(server.requests) == 3


async def test_an_ignored_length_limit_uses_the_older_parameter_from_then_on():
    """As Ollama does: the answer is longer than it may be."""
    long = chat_completion(GREEN)
    long.body["usage"]["completion_tokens"] = 51
    with serve_script([long]) as server:
        model = ModelSetup(server).model
        for _ in range(3):
            await colour(model)
    assert [request.body.get("max_completion_tokens") for request in server.requests] == [50, None, None]
    assert [request.body.get("max_tokens") for request in server.requests] == [None, 50, 50]
