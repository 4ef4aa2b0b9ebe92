"""An endpoint that keeps failing is left alone."""

import asyncio
from typing import Any

import pytest

from testing.servers.scripted_server import Reply, completion, refusal, serving
from tests.adapters.llm.model import GREEN, Door, colour, cut_off
from triage.errors import ModelUnavailable

OPEN = "endpoint keeps failing: not asked any more"


async def reason(door: Door, prompt: str = "Which colour?") -> str:
    with pytest.raises(ModelUnavailable) as raised:
        await colour(door.model, prompt)
    return raised.value.reason


@pytest.mark.parametrize("reply", [refusal(429), refusal(503), Reply(drop=True)], ids=["429", "503", "dropped"])
async def test_after_two_failed_calls_in_a_row_nothing_is_asked(reply: Reply):
    with serving([reply]) as server:
        door = Door(server)
        with door.model.metered(600) as meter:
            reasons = [await reason(door) for _ in range(4)]
            frugal = door.model.frugal().text("fast", 50)
            with pytest.raises(ModelUnavailable, match=OPEN):
                await frugal.ainvoke("go")
            with pytest.raises(ModelUnavailable, match=OPEN):
                door.embeddings().embed_query("go")
    assert len(server.requests) == 8
    assert len(meter.calls) == 8, "what is not asked leaves no record"
    assert reasons[2:] == [OPEN, OPEN]


async def test_calls_that_were_cut_off_count():
    with serving([Reply(hang=30)]) as server:
        door = Door(server)
        for _ in range(2):
            await cut_off(door)
        assert await reason(door) == OPEN
    assert len(server.requests) == 2


async def test_an_answer_closes_the_count():
    busy = [refusal(503)] * 4
    with serving([*busy, completion(GREEN), *busy, completion(GREEN)]) as server:
        door = Door(server)
        for _ in range(2):
            assert await reason(door) == "endpoint failed (503)"
            await colour(door.model)
    assert len(server.requests) == 10


async def test_an_answer_that_cannot_be_used_closes_it_too():
    busy = [refusal(503)] * 4
    with serving([*busy, completion(""), *busy, completion(GREEN)]) as server:
        door = Door(server)
        assert [await reason(door) for _ in range(3)] == [
            "endpoint failed (503)",
            "empty answer",
            "endpoint failed (503)",
        ]
        await colour(door.model)


async def test_a_fallback_that_answers_closes_it():
    def script(request: Any) -> Reply:
        return completion(GREEN) if request.body["model"] == "gpt-4o-mini" else refusal(503)

    with serving(script) as server:
        door = Door(server)
        for _ in range(4):
            await colour(door.model)
    assert len(server.requests) == 16


@pytest.mark.parametrize("reply", [refusal(400), refusal(400, "context_length_exceeded"), Reply(b"<html>")])
async def test_what_is_refused_or_unreadable_is_no_failing_endpoint(reply: Reply):
    with serving([reply]) as server:
        door = Door(server)
        reasons = [await reason(door) for _ in range(4)]
    assert OPEN not in reasons


async def test_a_call_that_waits_to_try_again_does_not_when_others_failed():
    """Two drafts fail while the third waits as long as the endpoint said: it makes no further request."""
    over = asyncio.Event()

    async def sleep(seconds: float) -> None:
        if seconds == 50:
            await over.wait()

    def script(request: Any) -> Reply:
        return refusal(429, retry_after="50") if "patient" in str(request.body) else refusal(503)

    with serving(script) as server:
        door = Door(server, sleep=sleep)
        waiting = asyncio.ensure_future(reason(door, "a patient one"))
        while not server.requests:  # noqa: ASYNC110 - the server is a thread
            await asyncio.sleep(0.005)
        assert [await reason(door), await reason(door)] == ["endpoint failed (503)"] * 2
        over.set()
        assert await waiting == OPEN
    assert len(server.requests) == 1 + 8
