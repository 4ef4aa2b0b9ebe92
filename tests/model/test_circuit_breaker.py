"""An endpoint that keeps failing is left alone."""

import asyncio
from typing import Any

import pytest

from testing.servers.scripted_server import ScriptedReply, chat_completion, error_reply, serve_script
from tests.model.model import GREEN, ModelSetup, cancel_call, colour
from triage.base.errors import ModelUnavailable

OPEN = "endpoint keeps failing: not asked any more"


async def reason(setup: ModelSetup, prompt: str = "Which colour?") -> str:
    with pytest.raises(ModelUnavailable) as raised:
        await colour(setup.model, prompt)
    return raised.value.reason


@pytest.mark.parametrize(
    "reply", [error_reply(429), error_reply(503), ScriptedReply(drop=True)], ids=["429", "503", "dropped"]
)
async def test_after_two_failed_calls_in_a_row_nothing_is_asked(reply: ScriptedReply):
    with serve_script([reply]) as server:
        setup = ModelSetup(server)
        with setup.model.measure_usage(600) as meter:
            reasons = [await reason(setup) for _ in range(4)]
            fast = setup.model.with_fast_model().with_tools([], "fast", 50)
            with pytest.raises(ModelUnavailable, match=OPEN):
                await fast.ainvoke("go")
            with pytest.raises(ModelUnavailable, match=OPEN):
                setup.embeddings().embed_query("go")
    assert len(server.requests) == 8
    assert len(meter.calls) == 8, "what is not asked leaves no record"
    assert reasons[2:] == [OPEN, OPEN]


async def test_after_two_cut_answers_in_a_row_no_model_is_asked():
    cut, whole = chat_completion("<think>Hmm", finish_reason="length"), chat_completion(GREEN)
    with serve_script([cut, whole, cut, cut, whole]) as server:
        setup = ModelSetup(server)
        assert await reason(setup) == "answer cut at its length limit"
        await colour(setup.model, "again")
        assert await reason(setup) == "answer cut at its length limit", "one in a row"
        assert await reason(setup) == "answer cut at its length limit"
        assert await reason(setup) == "2 answers in a row were cut at their length limit"
        with pytest.raises(ModelUnavailable, match="in a row were cut"):
            await setup.model.with_fast_model().with_tools([], "fast", 50).ainvoke("go")
    assert len(server.requests) == 4


async def test_cancelled_calls_count():
    with serve_script([ScriptedReply(delay_seconds=30)]) as server:
        setup = ModelSetup(server)
        for _ in range(2):
            await cancel_call(setup)
        assert await reason(setup) == OPEN
    assert len(server.requests) == 2


async def test_an_unusable_answer_resets_the_count_too():
    busy = [error_reply(503)] * 4
    with serve_script([*busy, chat_completion(""), *busy, chat_completion(GREEN)]) as server:
        setup = ModelSetup(server)
        assert [await reason(setup) for _ in range(3)] == [
            "endpoint failed (503)",
            "empty answer",
            "endpoint failed (503)",
        ]
        await colour(setup.model)


@pytest.mark.parametrize(
    "reply", [error_reply(400), error_reply(400, "context_length_exceeded"), ScriptedReply(b"<html>")]
)
async def test_refused_and_unreadable_calls_do_not_count(reply: ScriptedReply):
    with serve_script([reply]) as server:
        setup = ModelSetup(server)
        reasons = [await reason(setup) for _ in range(4)]
    assert OPEN not in reasons


async def test_a_call_that_waits_to_try_again_does_not_when_others_failed():
    """Two calls fail while the third waits as the endpoint asked: it makes no further request."""
    over = asyncio.Event()

    async def sleep(seconds: float) -> None:
        if seconds == 50:
            await over.wait()

    def script(request: Any) -> ScriptedReply:
        return error_reply(429, retry_after="50") if "patient" in str(request.body) else error_reply(503)

    with serve_script(script) as server:
        setup = ModelSetup(server, sleep=sleep)
        waiting = asyncio.ensure_future(reason(setup, "a patient one"))
        while not server.requests:  # noqa: ASYNC110 - the server is a thread
            await asyncio.sleep(0.005)
        assert [await reason(setup), await reason(setup)] == ["endpoint failed (503)"] * 2
        over.set()
        assert await waiting == OPEN
    assert len(server.requests) == 1 + 8
