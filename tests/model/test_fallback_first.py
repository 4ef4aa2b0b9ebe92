"""The fallback answers on, once it had to."""

import asyncio
from dataclasses import dataclass, field

from testing.servers.scripted_server import ReceivedRequest, ScriptedReply, chat_completion, error_reply, serve_script
from tests.model.model import GREEN, ModelSetup, asked_models, colour
from triage.model.endpoint_features import FALLBACK_SECONDS

MAIN, FALLBACK, FAST = "gpt-4o", "gpt-4o-mini", "gpt-4.1-nano"
GIVES_WAY = [*[MAIN] * 3, FALLBACK]


@dataclass
class RateLimits:
    """The models that are rate-limited at the moment."""

    models: set[str] = field(default_factory=lambda: {MAIN})

    def reply(self, request: ReceivedRequest) -> ScriptedReply:
        return error_reply(429) if request.body["model"] in self.models else chat_completion(GREEN)


@dataclass
class Clock:
    now: float = 1_000.0

    def __call__(self) -> float:
        return self.now


async def test_the_fallback_answers_every_further_call():
    with serve_script(RateLimits().reply) as server:
        model = ModelSetup(server).model
        with model.measure_usage(60) as meter:
            for _ in range(5):
                await colour(model)
    assert asked_models(server) == [*GIVES_WAY, *[FALLBACK] * 4]
    assert meter.models == [FALLBACK]


async def test_after_ten_minutes_the_model_of_the_call_is_asked_again():
    clock = Clock()
    with serve_script(RateLimits().reply) as server:
        model = ModelSetup(server, clock=clock).model
        await colour(model)
        clock.now += FALLBACK_SECONDS - 1
        await colour(model)
        clock.now += 2
        await colour(model)
    assert asked_models(server) == [*GIVES_WAY, FALLBACK, *GIVES_WAY]


async def test_when_the_fallback_fails_too_the_model_of_the_call_is_asked_once_and_stays():
    limits = RateLimits()
    with serve_script(limits.reply) as server:
        model = ModelSetup(server).model
        await colour(model)
        limits.models = {FALLBACK}
        for _ in range(2):
            assert (await colour(model)).name == "green"
    assert asked_models(server) == [*GIVES_WAY, *[FALLBACK] * 3, MAIN, MAIN]


async def test_a_fallback_that_is_given_up_stands_in_no_longer():
    limits = RateLimits()

    def script(request: ReceivedRequest) -> ScriptedReply:
        is_gone = request.body["model"] == FALLBACK and not limits.models
        return error_reply(404) if is_gone else limits.reply(request)

    with serve_script(script) as server:
        model = ModelSetup(server).model
        await colour(model)
        limits.models = set()
        asked = await asyncio.gather(colour(model), return_exceptions=True)
        assert [str(error) for error in asked] == ["no such model (404)"]
        await colour(model)
    assert asked_models(server) == [*GIVES_WAY, FALLBACK, MAIN]


async def test_a_call_that_waits_does_not_ask_again_when_the_fallback_answered_another_one():
    answered = asyncio.Event()

    async def sleep(seconds: float) -> None:
        if seconds == 50:
            await answered.wait()

    def script(request: ReceivedRequest) -> ScriptedReply:
        if request.body["model"] == FALLBACK:
            return chat_completion(GREEN)
        return error_reply(429, retry_after="50" if "patient" in str(request.body) else "0")

    with serve_script(script) as server:
        setup = ModelSetup(server, sleep=sleep)
        waiting = asyncio.ensure_future(colour(setup.model, "a patient one"))
        while not server.requests:  # noqa: ASYNC110 - the server is a thread
            await asyncio.sleep(0.005)
        await colour(setup.model)
        answered.set()
        await waiting
    assert asked_models(server) == [MAIN, *GIVES_WAY, FALLBACK]


async def test_another_model_is_asked_as_before():
    with serve_script(RateLimits().reply) as server:
        model = ModelSetup(server, fast=FAST).model
        await colour(model)
        await model.with_tools([], "fast", 50).ainvoke("go")
        await model.with_fast_model().with_tools([], "main", 50).ainvoke("go")
    assert asked_models(server) == [*GIVES_WAY, FAST, FAST]
