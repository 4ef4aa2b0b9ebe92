"""Every error of an endpoint over HTTP: its name, the number of requests, and what it costs."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from testing.servers.scripted_server import ScriptedReply, chat_completion, error_reply, serve_script
from tests.outside.model.model import GREEN, ModelSetup, asked_models, cancel_call, colour, measure
from triage.base.errors import ModelUnavailable, TimeLimitExceeded
from triage.domain.run import Limits, Outcome
from triage.outside.model.chat_model import MAX_REQUESTS
from triage.outside.model.endpoint import Endpoint
from triage.outside.model.endpoint_features import MAX_REFUSALS
from triage.outside.model.model_errors import WrongFormat

PLENTY = Limits(tokens=10_000_000, usd=1_000)
"""A lost answer stays reserved."""
GIVEN_UP: dict[str, tuple[ScriptedReply, str]] = {
    "401": (error_reply(401, "invalid_api_key"), "unauthorized (401)"),
    "402": (error_reply(402), "payment required (402)"),
    "403": (error_reply(403), "forbidden (403)"),
    "404": (error_reply(404, "model_not_found"), "no such model (404)"),
    "quota": (error_reply(429, "insufficient_quota"), "quota spent (429)"),
    "context": (error_reply(400, "context_length_exceeded"), "prompt too long for the model (400)"),
    "context in words": (
        ScriptedReply({"error": {"message": "This model's maximum context length is 4096 tokens.", "code": 400}}, 400),
        "prompt too long for the model (400)",
    ),
    "filtered request": (error_reply(400, "content_filter"), "content filter"),
    "too large": (error_reply(413), "prompt too long for the endpoint (413)"),
    "html": (ScriptedReply(b"<html>Bad Gateway</html>"), "unreadable reply"),
    "nothing": (ScriptedReply(b""), "unreadable reply"),
    "deep body": (ScriptedReply(b"[" * 500_000), "unreadable reply"),
    "error in words with 200": (ScriptedReply({"error": "words from outside"}), "unreadable reply"),
    "fatal error with 200": (ScriptedReply({"error": {"message": "x", "code": 402}}), "payment required (402)"),
    "choices of another kind": (ScriptedReply({"choices": ["x"]}), "unreadable reply"),
    "length": (chat_completion('{"name": "gr', finish_reason="length"), "answer cut at its length limit"),
    "filter": (chat_completion("", finish_reason="content_filter"), "content filter"),
    "refused": (chat_completion(None, refusal="No."), "refused by the model"),
    "empty": (chat_completion(""), "empty answer"),
    "blank": (chat_completion(" \n"), "empty answer"),
    "null content": (chat_completion(None), "empty answer"),
}


@pytest.mark.parametrize(("reply", "reason"), GIVEN_UP.values(), ids=GIVEN_UP)
async def test_a_call_that_cannot_succeed_is_made_once_by_each_model_and_named(reply: ScriptedReply, reason: str):
    with serve_script([reply]) as server:
        model = ModelSetup(server).model
        with measure(10) as meter, pytest.raises(ModelUnavailable) as raised:
            await colour(model)
    assert raised.value.reason == reason
    has_less_room = reason == "prompt too long for the model (400)"
    assert asked_models(server) == [
        "gpt-4o",
        *["gpt-4o"] * has_less_room,
        "gpt-4o-mini",
        *["gpt-4o-mini"] * has_less_room,
    ]
    assert {(call.mode, call.outcome, call.error) for call in meter.calls} == {("json_schema", Outcome.FAILED, reason)}


MISFITS = {
    "prose": ("Sure! Here it is.", "no JSON object"),
    "a field missing": ('{"name": "green"}', "depth missing or unreadable"),
    "a field of another type": ('{"name": "green", "depth": "deep"}', "depth missing or unreadable"),
    "null": ("null", "no JSON object"),
    "deep": ("[" * 50_000, "no JSON object"),
    "deep objects": ('{"name": ' * 50_000, "no JSON object"),
}


@pytest.mark.parametrize(("answer", "problem"), MISFITS.values(), ids=MISFITS)
async def test_an_answer_that_does_not_fit_is_asked_for_once_more_and_paid_twice(answer: str, problem: str):
    with serve_script([chat_completion(answer)]) as server:
        model = ModelSetup(server).model
        with measure(10) as meter, pytest.raises(ModelUnavailable) as raised:
            await colour(model)
    reason = f"answer does not fit Colour: {problem}"
    assert raised.value.reason == reason
    assert asked_models(server) == ["gpt-4o"] * 2 + ["gpt-4o-mini"] * 2
    assert {call.error for call in meter.calls} == {reason}
    assert model.usage.tokens == 4 * 120


@pytest.mark.parametrize(
    ("answer", "is_prose"),
    [
        ("<think>in a.py</think>It is b.py.", True),
        ('It is b.py: {"name": "green"}', False),
        ("In b.py `{x}` becomes {'a': 1}.", True),
    ],
    ids=["prose", "a form that lacks a field", "code with braces"],
)
async def test_prose_is_told_from_another_form(answer: str, is_prose: bool):
    with serve_script([chat_completion(answer)]) as server, pytest.raises(WrongFormat) as raised:
        await colour(ModelSetup(server).model)
    assert raised.value.is_prose is is_prose


@pytest.mark.parametrize("name", ["length", "filter", "refused", "empty", "blank", "null content"])
async def test_tokens_of_an_unusable_answer_are_counted(name: str):
    with serve_script([GIVEN_UP[name][0]]) as server:
        model = ModelSetup(server, fallback="gpt-4o").model
        with measure(10) as meter, pytest.raises(ModelUnavailable):
            await colour(model)
    assert model.usage.tokens == 120
    assert model.usage.usd == pytest.approx(100 * 2.5e-6 + 20 * 10e-6)
    assert not meter.calls[0].estimated


BUSY: dict[str, tuple[ScriptedReply, str]] = {
    "429": (error_reply(429, "rate_limit_exceeded"), "rate limited (429)"),
    "408": (error_reply(408), "endpoint failed (408)"),
    "500": (error_reply(500), "endpoint failed (500)"),
    "502": (ScriptedReply(b"<html>Bad Gateway</html>", 502), "endpoint failed (502)"),
    "529": (error_reply(529), "endpoint failed (529)"),
    "dropped": (ScriptedReply(drop=True), "connection failed"),
    "half a body": (chat_completion(GREEN, cut=True), "connection failed"),
    "error with 200": (
        ScriptedReply({"error": {"message": "words from outside", "code": 502}}),
        "endpoint failed (502)",
    ),
    "error with 200 without a status": (ScriptedReply({"error": {"code": "server_error"}}), "endpoint failed (502)"),
}


@pytest.mark.parametrize(("reply", "reason"), BUSY.values(), ids=BUSY)
async def test_a_busy_model_gets_three_attempts_then_the_other_one(reply: ScriptedReply, reason: str):
    with serve_script([reply]) as server:
        model = ModelSetup(server, PLENTY).model
        with measure(60) as meter, pytest.raises(ModelUnavailable) as raised:
            await colour(model)
    assert asked_models(server) == ["gpt-4o"] * 3 + ["gpt-4o-mini"] * 3
    assert raised.value.reason == reason
    assert [call.model for call in meter.calls] == asked_models(server)
    assert {call.error for call in meter.calls} == {reason}


async def test_a_fallback_that_is_the_same_model_is_not_asked_again():
    with serve_script([error_reply(503)]) as server, pytest.raises(ModelUnavailable, match="503"):
        await colour(ModelSetup(server, fallback="gpt-4o").model)
    assert asked_models(server) == ["gpt-4o"] * 3


async def test_a_refused_connection_costs_nothing():
    with serve_script([]) as server:
        setup = ModelSetup(server)
    with measure(10) as meter, pytest.raises(ModelUnavailable, match="connection failed"):
        await colour(setup.model)
    assert setup.model.usage.tokens == 0
    assert [call.usage.calls for call in meter.calls] == [0] * 6


async def test_a_silent_endpoint_times_out(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("triage.outside.model.endpoint.READ_SECONDS", 0.1)
    with serve_script([ScriptedReply(delay_seconds=30)]) as server, pytest.raises(ModelUnavailable, match="timed out"):
        await colour(ModelSetup(server).model)
    assert asked_models(server) == ["gpt-4o", "gpt-4o-mini"], "a slow one is not asked again"


async def test_the_connection_gives_up_after_the_agent(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("triage.outside.model.endpoint.GRACE_SECONDS", 0.05)
    with serve_script([chat_completion(GREEN), ScriptedReply(delay_seconds=30)]) as server:
        model = ModelSetup(server, fallback="gpt-4o").model
        await colour(model)
        with measure(0.2) as meter, pytest.raises(ModelUnavailable, match="timed out"):
            await colour(model)
    assert len(server.requests) == 2
    assert [(call.outcome, call.error) for call in meter.calls] == [(Outcome.TIMED_OUT, "timed out")]


async def test_a_slow_model_has_the_time_of_its_agent(monkeypatch: pytest.MonkeyPatch):
    """A minute of the connection's own limit is scaled down to a tenth of a second."""
    monkeypatch.setattr("triage.outside.model.endpoint.READ_SECONDS", 0.1)
    with serve_script([replace(chat_completion(GREEN), delay_seconds=0.4)]) as server:
        model = ModelSetup(server).model
        with measure(60) as meter:
            assert (await colour(model)).name == "green"
    assert [call.outcome for call in meter.calls] == [Outcome.SUCCESS]


async def test_a_cancelled_call_is_recorded():
    with serve_script([ScriptedReply(delay_seconds=30)]) as server:
        setup = ModelSetup(server)
        with measure(60) as meter:
            await cancel_call(setup)
    (call,) = meter.calls
    assert (call.outcome, call.error) == (Outcome.TIMED_OUT, "cancelled before it answered")


# --- waiting


@pytest.mark.parametrize("status", [429, 503])
async def test_retry_after_is_waited_for(status: int):
    with serve_script([error_reply(status, retry_after="7"), chat_completion(GREEN)]) as server:
        setup = ModelSetup(server)
        with measure(60):
            await colour(setup.model)
    assert setup.waited == [7.0]


@pytest.mark.parametrize("seconds", ["90", "999999999999"])
async def test_retry_after_beyond_the_time_left_goes_to_the_fallback_at_once(seconds: str):
    def script(request: Any) -> ScriptedReply:
        return (
            chat_completion(GREEN) if request.body["model"] == "gpt-4o-mini" else error_reply(429, retry_after=seconds)
        )

    with serve_script(script) as server:
        setup = ModelSetup(server)
        with measure(30):
            await colour(setup.model)
    assert asked_models(server) == ["gpt-4o", "gpt-4o-mini"]
    assert setup.waited == []


async def test_no_time_left_makes_no_call():
    with serve_script([chat_completion(GREEN)]) as server:
        model = ModelSetup(server).model
        with measure(-1) as meter, pytest.raises(TimeLimitExceeded):
            await colour(model)
    assert server.requests == []
    assert meter.calls == []


# --- giving up


@pytest.mark.parametrize("reply", [GIVEN_UP[name][0] for name in ("401", "402", "403", "404", "quota")])
async def test_a_dropped_model_is_not_asked_again(reply: ScriptedReply):
    with serve_script([reply]) as server:
        model = ModelSetup(server).model
        reasons = [await reason_of(model) for _ in range(3)]
    assert asked_models(server) == ["gpt-4o", "gpt-4o-mini"]
    assert len(set(reasons)) == 1


async def reason_of(model: Any) -> str:
    with pytest.raises(ModelUnavailable) as raised:
        await colour(model)
    return raised.value.reason


EVERYTHING = [reply for reply, _ in (GIVEN_UP | BUSY).values()] + [error_reply(400), error_reply(422), error_reply(418)]
EVERYTHING += [error_reply(400, param=name) for name in ("temperature", "max_completion_tokens", "max_tokens")]


@given(st.lists(st.sampled_from(EVERYTHING), min_size=1, max_size=5))
@example([error_reply(400)])
@example([error_reply(429), error_reply(400), error_reply(400), error_reply(429)])
@settings(max_examples=10, deadline=None)
def test_no_mixture_of_errors_takes_more_requests_than_are_allowed(script: list[ScriptedReply]):
    with serve_script(script) as server:
        asyncio.run(reason_of(ModelSetup(server, PLENTY).model))
    assert 1 <= len(server.requests) <= 2 * (MAX_REQUESTS + MAX_REFUSALS)


def test_the_address_is_never_taken_from_the_environment(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://elsewhere.test")
    monkeypatch.setenv("OPENAI_API_BASE", "http://elsewhere.test")
    with serve_script([]) as server:
        endpoint = ModelSetup(server).endpoint
    own = Endpoint(endpoint.api_key, "run-7")
    assert own.chat_client("gpt-4o").openai_api_base == "https://api.openai.com/v1"
    assert str(own.sdk_client.base_url) == "https://api.openai.com/v1/"
