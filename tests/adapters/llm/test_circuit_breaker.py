"""An endpoint that keeps failing is left alone."""

import asyncio
from typing import Any

import pytest

from testing.servers.scripted_server import ScriptedReply, chat_completion, error_reply, serve_script
from tests.adapters.llm.model import GREEN, ModelSetup, cancel_call, colour
from triage.errors import ModelUnavailable

OPEN = "endpoint keeps failing: not asked any more"


async def reason(door: ModelSetup, prompt: str = "Which colour?") -> str:
    with pytest.raises(ModelUnavailable) as raised:
        await colour(door.model, prompt)
    return raised.value.reason


@pytest.mark.parametrize(
    "reply", [error_reply(429), error_reply(503), ScriptedReply(drop=True)], ids=["429", "503", "dropped"]
)
async def test_after_two_failed_calls_in_a_row_nothing_is_asked(reply: ScriptedReply):
    with serve_script([reply]) as server:
        door = ModelSetup(server)
        with door.model.measure_usage(600) as meter:
            reasons = [await reason(door) for _ in range(4)]
            frugal = door.model.with_fast_model().text_output("fast", 50)
            with pytest.raises(ModelUnavailable, match=OPEN):
                await frugal.ainvoke("go")
            with pytest.raises(ModelUnavailable, match=OPEN):
                door.embeddings().embed_query("go")
    assert len(server.requests) == 8
    assert len(meter.calls) == 8, "what is not asked leaves no record"
    assert reasons[2:] == [OPEN, OPEN]


async def test_calls_that_were_cut_off_count():
    with serve_script([ScriptedReply(delay_seconds=30)]) as server:
        door = ModelSetup(server)
        for _ in range(2):
            await cancel_call(door)
        assert await reason(door) == OPEN
    assert len(server.requests) == 2


async def test_an_answer_closes_the_count():
    busy = [error_reply(503)] * 4
    with serve_script([*busy, chat_completion(GREEN), *busy, chat_completion(GREEN)]) as server:
        door = ModelSetup(server)
        for _ in range(2):
            assert await reason(door) == "endpoint failed (503)"
            await colour(door.model)
    assert len(server.requests) == 10


async def test_an_answer_that_cannot_be_used_closes_it_too():
    busy = [error_reply(503)] * 4
    with serve_script([*busy, chat_completion(""), *busy, chat_completion(GREEN)]) as server:
        door = ModelSetup(server)
        assert [await reason(door) for _ in range(3)] == [
            "endpoint failed (503)",
            "empty answer",
            "endpoint failed (503)",
        ]
        await colour(door.model)


async def test_a_fallback_that_answers_closes_it():
    def script(request: Any) -> ScriptedReply:
        return chat_completion(GREEN) if request.body["model"] == "gpt-4o-mini" else error_reply(503)

    with serve_script(script) as server:
        door = ModelSetup(server)
        for _ in range(4):
            await colour(door.model)
    assert len(server.requests) == 16


@pytest.mark.parametrize(
    "reply", [error_reply(400), error_reply(400, "context_length_exceeded"), ScriptedReply(b"<html>")]
)
async def test_what_is_refused_or_unreadable_is_no_failing_endpoint(reply: ScriptedReply):
    with serve_script([reply]) as server:
        door = ModelSetup(server)
        reasons = [await reason(door) for _ in range(4)]
    assert OPEN not in reasons


async def test_a_call_that_waits_to_try_again_does_not_when_others_failed():
    """Two drafts fail while the third waits as long as the endpoint said: it makes no further request."""
    over = asyncio.Event()

    async def sleep(seconds: float) -> None:
        if seconds == 50:
            await over.wait()

    def script(request: Any) -> ScriptedReply:
        return error_reply(429, retry_after="50") if "patient" in str(request.body) else error_reply(503)

    with serve_script(script) as server:
        door = ModelSetup(server, sleep=sleep)
        waiting = asyncio.ensure_future(reason(door, "a patient one"))
        while not server.requests:  # noqa: ASYNC110 - the server is a thread
            await asyncio.sleep(0.005)
        assert [await reason(door), await reason(door)] == ["endpoint failed (503)"] * 2
        over.set()
        assert await waiting == OPEN
    assert len(server.requests) == 1 + 8
