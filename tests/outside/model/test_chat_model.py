"""The model against a real HTTP server: requests, and how answers are read."""

import asyncio

import pytest

from testing.fakes import NOW
from testing.servers.scripted_server import chat_completion, serve_script
from tests.outside.model.model import GREEN, Colour, ModelSetup, colour, measure
from triage.domain.run import Outcome


async def test_structured_answer_is_validated_billed_and_recorded():
    with serve_script([chat_completion(GREEN)]) as server:
        model = ModelSetup(server).model
        with measure(10) as meter:
            assert await colour(model) == Colour(name="green", depth=3)

    request = server.requests[0]
    assert request.body["response_format"]["json_schema"]["strict"] is True
    assert request.body["max_completion_tokens"] == 16_000
    assert request.headers["x-request-id"] == "run-7"
    (call,) = meter.calls
    assert (call.usage.input_tokens, call.usage.output_tokens, call.usage.calls) == (100, 20, 1)
    assert call.usage.usd == pytest.approx(100 * 2.5e-6 + 20 * 10e-6)
    assert meter.models == ["gpt-4o"]
    assert model.usage == call.usage
    assert (call.model, call.mode, call.outcome, call.error) == ("gpt-4o", "json_schema", Outcome.SUCCESS, None)
    assert (call.started_at, call.estimated) == (NOW, False)


async def test_meters_of_parallel_blocks_do_not_mix():
    with serve_script([chat_completion(GREEN)]) as server:
        model = ModelSetup(server).model

        async def block(calls: int) -> int:
            with measure(10) as meter:
                for _ in range(calls):
                    await colour(model)
            return len(meter.calls)

        assert list(await asyncio.gather(block(1), block(2))) == [1, 2]
    assert model.usage.calls == 3
