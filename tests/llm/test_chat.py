"""The model door against a real HTTP server: what is asked, how often, what it costs, what each fault is called."""

import asyncio
import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel, SecretStr

from tests.endpoint import Endpoint as Server
from tests.endpoint import Reply, Script, completion, refusal, serving
from triage.domain.run import Limits
from triage.errors import BudgetSpent, ModelUnavailable, TimeSpent
from triage.llm.chat import ChatModel
from triage.llm.endpoint import Endpoint
from triage.llm.ledger import Ledger


class Colour(BaseModel):
    name: str
    depth: int


GREEN = '{"name": "green", "depth": 3}'


def model_at(server: Server, primary: str = "gpt-4o", limits: Limits | None = None, **changes: Any) -> ChatModel:
    waited: list[float] = changes.pop("waited", [])

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    endpoint = Endpoint(SecretStr("sk-test"), "run-7", f"{server.url}/v1")
    models = {"main": primary, "fast": "gpt-4o-mini"}
    return ChatModel(endpoint, models, "gpt-4o-mini", Ledger(limits or Limits()), time.monotonic, sleep, **changes)  # type: ignore[arg-type]


async def colour(model: ChatModel) -> Colour:
    answer: Colour = await model.structured(Colour, "main", 50).ainvoke("Which colour?")
    return answer


def names(server: Server) -> list[str]:
    return [request.body["model"] for request in server.requests]


async def test_structured_answer_is_validated_and_billed():
    with serving([completion(GREEN)]) as server:
        model = model_at(server)
        with model.metered(10) as meter:
            assert await colour(model) == Colour(name="green", depth=3)

    request = server.requests[0]
    assert request.body["response_format"]["json_schema"]["strict"] is True
    assert request.body["temperature"] == 0
    assert request.body["max_completion_tokens"] == 50
    assert request.headers["x-request-id"] == "run-7"
    assert (meter.usage.input_tokens, meter.usage.output_tokens, meter.usage.calls) == (100, 20, 1)
    assert meter.usage.usd == pytest.approx(100 * 2.5e-6 + 20 * 10e-6)
    assert meter.models == ["gpt-4o"]
    assert model.usage == meter.usage


async def test_cached_tokens_cost_less():
    with serving([completion(GREEN, cached=100)]) as server:
        model = model_at(server)
        await colour(model)
    assert model.usage.usd is not None
    assert model.usage.usd < 100 * 2.5e-6 + 20 * 10e-6


async def test_unknown_price_is_unknown_and_tokens_are_capped_all_the_same():
    with serving([completion(GREEN)]) as server:
        model = model_at(server, "my-own-model", Limits(tokens=200))
        await colour(model)
        with pytest.raises(BudgetSpent):
            await colour(model)
    assert model.usage.usd is None
    assert len(server.requests) == 1


GIVEN_UP: list[tuple[str, Reply, str]] = [
    ("401", refusal(401, "invalid_api_key"), "unauthorized (401)"),
    ("403", refusal(403), "forbidden (403)"),
    ("404", refusal(404, "model_not_found"), "no such model (404)"),
    ("410", refusal(410), "gone (410)"),
    ("quota", refusal(429, "insufficient_quota"), "quota spent (429)"),
    ("context", refusal(400, "context_length_exceeded"), "prompt too long for the model (400)"),
    ("filtered request", refusal(400, "content_filter"), "content filter"),
    ("too large", refusal(413), "prompt too long for the endpoint (413)"),
    ("html", Reply(b"<html>Bad Gateway</html>"), "unreadable reply"),
    ("null", Reply(None), "unreadable reply"),
    ("list", Reply([1]), "unreadable reply"),
    ("no choices", Reply({"choices": []}), "unreadable reply"),
    ("length", completion('{"name": "gr', finish_reason="length"), "answer cut at its length limit"),
    ("filter", completion("", finish_reason="content_filter"), "content filter"),
    ("refused", completion(None, refusal="No."), "refused by the model"),
    ("empty", completion(""), "empty answer"),
    ("prose", completion("Sure! Here it is."), "answer does not fit Colour"),
    ("wrong types", completion('{"name": 1}'), "answer does not fit Colour"),
    ("deep", completion("[" * 50_000), "answer does not fit Colour"),
]


@pytest.mark.parametrize(("reply", "reason"), [case[1:] for case in GIVEN_UP], ids=[case[0] for case in GIVEN_UP])
async def test_a_call_that_cannot_succeed_is_made_once_and_named(reply: Reply, reason: str):
    with serving([reply]) as server, pytest.raises(ModelUnavailable) as raised:
        await colour(model_at(server))
    assert raised.value.reason == reason
    assert len(server.requests) == 1, "neither repeated nor sent to the fallback"


BILLED = [case for case in GIVEN_UP if case[0] in ("length", "filter", "refused", "empty", "prose", "wrong types")]


@pytest.mark.parametrize("reply", [case[1] for case in BILLED], ids=[case[0] for case in BILLED])
async def test_tokens_of_an_unusable_answer_are_counted(reply: Reply):
    with serving([reply]) as server:
        model = model_at(server)
        with pytest.raises(ModelUnavailable):
            await colour(model)
    assert model.usage.tokens == 120


BUSY: list[tuple[str, Reply]] = [
    ("429", refusal(429, "rate_limit_exceeded")),
    ("500", refusal(500)),
    ("503", refusal(503)),
    ("408", refusal(408)),
    ("dropped", Reply(drop=True)),
]


@pytest.mark.parametrize("reply", [case[1] for case in BUSY], ids=[case[0] for case in BUSY])
async def test_a_busy_endpoint_gets_three_tries_then_the_fallback_once(reply: Reply):
    with serving([reply]) as server, pytest.raises(ModelUnavailable):
        await colour(model_at(server))
    assert names(server) == ["gpt-4o", "gpt-4o", "gpt-4o", "gpt-4o-mini"]


async def test_fallback_answers_when_the_primary_stays_busy():
    def script(request: Any) -> Reply:
        return completion(GREEN) if request.body["model"] == "gpt-4o-mini" else refusal(429)

    with serving(script) as server:
        model = model_at(server)
        with model.metered(10) as meter:
            assert (await colour(model)).name == "green"
    assert meter.models == ["gpt-4o-mini"]


async def test_retry_after_is_waited_for():
    waited: list[float] = []
    with serving([refusal(429, retry_after="7"), completion(GREEN)]) as server:
        model = model_at(server, waited=waited)
        with model.metered(60):
            await colour(model)
    assert waited == [7.0]


async def test_retry_after_beyond_the_time_left_goes_to_the_fallback_at_once():
    waited: list[float] = []

    def script(request: Any) -> Reply:
        return completion(GREEN) if request.body["model"] == "gpt-4o-mini" else refusal(429, retry_after="90")

    with serving(script) as server:
        model = model_at(server, waited=waited)
        with model.metered(30):
            await colour(model)
    assert names(server) == ["gpt-4o", "gpt-4o-mini"]
    assert waited == []


@pytest.mark.parametrize("header", ["soon", "", "-3", "Wed, 21 Oct 2015 07:28:00 GMT"])
async def test_odd_retry_after_headers_do_no_harm(header: str):
    waited: list[float] = []
    with serving([refusal(429, retry_after=header), completion(GREEN)]) as server:
        await colour(model_at(server, waited=waited))
    assert len(waited) == 1
    assert 0 <= waited[0] <= 1


async def test_a_dropped_model_is_not_asked_again():
    with serving([refusal(401)]) as server:
        model = model_at(server)
        for _ in range(3):
            with pytest.raises(ModelUnavailable, match="unauthorized"):
                await colour(model)
    assert len(server.requests) == 1


async def test_schema_refused_falls_to_function_calling_and_is_remembered():
    def script(request: Any) -> Reply:
        if "response_format" in request.body:
            return refusal(400, "unsupported")
        return completion(tool_calls=[("Colour", GREEN)], finish_reason="tool_calls")

    with serving(script) as server:
        model = model_at(server)
        for _ in range(2):
            assert (await colour(model)).depth == 3
    assert ["response_format" in request.body for request in server.requests] == [True, False, False]


async def test_tools_refused_too_falls_to_json_mode_with_the_schema_in_words():
    def script(request: Any) -> Reply:
        plain = request.body.get("response_format") == {"type": "json_object"}
        return completion(f"```json\n{GREEN}\n```") if plain else refusal(400)

    with serving(script) as server:
        assert (await colour(model_at(server))).depth == 3
    assert "depth" in json.dumps(server.requests[-1].body["messages"])
    assert len(server.requests) == 3


async def test_every_mode_refused_gives_up():
    with serving([refusal(400)]) as server, pytest.raises(ModelUnavailable, match="request refused"):
        await colour(model_at(server))
    assert len(server.requests) == 3


async def test_temperature_refused_is_left_out():
    def script(request: Any) -> Reply:
        return (
            refusal(400, "unsupported_value", param="temperature")
            if "temperature" in request.body
            else completion(GREEN)
        )

    with serving(script) as server:
        assert (await colour(model_at(server))).depth == 3
    assert "response_format" in server.requests[-1].body, "the mode was not at fault"


@pytest.mark.parametrize("calls", [[("other", "{}")], [("Colour", '{"broken": ')], []])
async def test_function_call_that_does_not_fit_is_an_error_not_none(calls: list[tuple[str, str]]):
    def script(request: Any) -> Reply:
        return refusal(400) if "response_format" in request.body else completion("", tool_calls=calls)

    with serving(script) as server, pytest.raises(ModelUnavailable):
        await colour(model_at(server))


async def test_caps_are_checked_before_the_call():
    with serving([completion(GREEN)]) as server:
        for limits in (Limits(tokens=60), Limits(usd=0.0001), Limits(usd=0)):
            with pytest.raises(BudgetSpent):
                await colour(model_at(server, limits=limits))
    assert server.requests == []


async def test_parallel_calls_reserve_before_they_start():
    """Room for one call, which reserves about 140 tokens: of three at once, one is made."""
    with serving([completion(GREEN)]) as server:
        model = model_at(server, limits=Limits(tokens=200))
        outcomes = await asyncio.gather(*[colour(model) for _ in range(3)], return_exceptions=True)
    assert len(server.requests) == 1
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["BudgetSpent", "BudgetSpent", "Colour"]


async def test_meters_of_parallel_blocks_do_not_mix():
    with serving([completion(GREEN)]) as server:
        model = model_at(server)

        async def block(calls: int) -> int:
            with model.metered(10) as meter:
                for _ in range(calls):
                    await colour(model)
            return meter.usage.calls

        assert list(await asyncio.gather(block(1), block(2))) == [1, 2]
    assert model.usage.calls == 3


async def test_no_time_left_makes_no_call():
    with serving([completion(GREEN)]) as server:
        model = model_at(server)
        with model.metered(-1), pytest.raises(TimeSpent):
            await colour(model)
    assert server.requests == []


async def test_a_cut_call_keeps_its_reservation():
    """It may have been billed, so its tokens stay set aside."""
    with serving([Reply(hang=5)]) as server:
        model = model_at(server, limits=Limits(tokens=200))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(colour(model), 0.3)
        with pytest.raises(BudgetSpent):
            await colour(model)


async def test_endpoint_without_usage_is_estimated():
    with serving([completion(GREEN, usage=False)]) as server:
        model = model_at(server)
        await colour(model)
    assert model.usage.calls == 1
    assert model.usage.tokens > 20


@pytest.mark.parametrize(
    ("ask", "reply", "expected"),
    [
        (lambda m: m.text("main", 50), completion("some words"), "some words"),
        (lambda m: m.json_object("main", 50), completion('{"a": 1}'), {"a": 1}),
        (lambda m: m.json_object("main", 50), completion('```json\n{"a": 1}\n```'), {"a": 1}),
    ],
)
async def test_words_and_objects(ask: Callable[[ChatModel], Any], reply: Reply, expected: Any):
    with serving([reply]) as server:
        assert await ask(model_at(server)).ainvoke("go") == expected


@pytest.mark.parametrize("content", ["[1, 2]", "no json", "[" * 50_000])
async def test_json_object_of_another_form_is_refused(content: str):
    with serving([completion(content)]) as server, pytest.raises(ModelUnavailable):
        await model_at(server).json_object("main", 50).ainvoke("go")


async def test_messages_from_outside_are_in_no_reason():
    script: Script = [refusal(400)]
    with serving(script) as server, pytest.raises(ModelUnavailable) as raised:
        await model_at(server).text("main", 50).ainvoke("go")
    assert "words from outside" not in str(raised.value)


async def test_a_refusal_for_another_reason_is_not_remembered_as_a_mode():
    """The first request is refused in every mode; the next one starts with the best mode again."""
    refused = [refusal(400)] * 3
    with serving([*refused, completion(GREEN)]) as server:
        model = model_at(server)
        with pytest.raises(ModelUnavailable):
            await colour(model)
        await colour(model)
    assert "json_schema" in server.requests[-1].body["response_format"]


async def test_a_wait_that_leaves_no_time_for_a_request_is_not_made():
    waited: list[float] = []

    def script(request: Any) -> Reply:
        return completion(GREEN) if request.body["model"] == "gpt-4o-mini" else refusal(429, retry_after="9")

    with serving(script) as server:
        model = model_at(server, waited=waited)
        with model.metered(10):
            await colour(model)
    assert waited == []
