"""Embeddings are paid from the run's budget, and retried like other calls."""

import pytest

from testing.abandoned_work import AbandonedWork
from testing.servers.scripted_server import ReceivedRequest, Script, ScriptedReply, error_reply, serve_script
from tests.outside.model.model import ModelSetup, measure
from triage.base.errors import BudgetExceeded, ModelUnavailable
from triage.base.threads import Abandoned, in_thread
from triage.domain.run import Limits, Outcome


def vectors(request: ReceivedRequest, tokens: int | None = 7) -> ScriptedReply:
    rows = [{"object": "embedding", "index": i, "embedding": [1.0, 2.0]} for i in range(len(request.body["input"]))]
    usage = {} if tokens is None else {"usage": {"prompt_tokens": tokens, "total_tokens": tokens}}
    return ScriptedReply({"object": "list", "data": rows, "model": "m", **usage})


def billing(tokens: int | None) -> Script:
    return lambda request: vectors(request, tokens)


def test_vectors_come_in_order_and_are_billed_as_the_endpoint_says():
    with serve_script(billing(1_000)) as server:
        setup = ModelSetup(server)
        with measure(10) as meter:
            assert setup.embeddings().embed_documents(["x", "y"]) == [[1.0, 2.0], [1.0, 2.0]]
            assert setup.embeddings().embed_query("z") == [1.0, 2.0]
    assert setup.model.usage.input_tokens == 2_000
    assert setup.model.usage.output_tokens == 0
    assert setup.model.usage.usd == pytest.approx(2_000 * 0.02e-6)
    assert [(call.model, call.mode, call.outcome) for call in meter.calls] == [
        ("text-embedding-3-small", "embeddings", Outcome.SUCCESS)
    ] * 2
    assert meter.models == [], "no model has answered the agent"
    assert {request.headers["x-request-id"] for request in server.requests} == {"run-7"}
    assert [request.path for request in server.requests] == ["/v1/embeddings"] * 2


def test_missing_usage_is_estimated_by_bytes():
    with serve_script(billing(None)) as server:
        setup = ModelSetup(server)
        with measure(10) as meter:
            setup.embeddings().embed_documents(["x" * 300, "错" * 300])
    assert setup.model.usage.input_tokens == 100 + 300
    assert meter.calls[0].estimated


def test_vectors_leave_half_of_the_tokens_for_the_agents():
    with serve_script(billing(400)) as server:
        setup = ModelSetup(server, Limits(tokens=1_000))
        embeddings = setup.embeddings()
        embeddings.embed_documents(["x" * 1_200])
        with pytest.raises(BudgetExceeded, match="half of max-tokens"):
            embeddings.embed_documents(["x" * 600])
    assert len(server.requests) == 1
    assert setup.model.usage.tokens == 400


def test_vectors_leave_half_of_the_dollars_too():
    with serve_script(billing(400)) as server:
        embeddings = ModelSetup(server, Limits(usd=0.000_010)).embeddings()
        embeddings.embed_documents(["x" * 600])
        with pytest.raises(BudgetExceeded, match="half of max-cost-usd"):
            embeddings.embed_documents(["x" * 600])


BUSY = {"429": error_reply(429, retry_after="2"), "503": error_reply(503), "dropped": ScriptedReply(drop=True)}


@pytest.mark.parametrize("reply", BUSY.values(), ids=BUSY)
def test_a_busy_endpoint_gets_three_attempts(reply: ScriptedReply):
    with serve_script([reply]) as server:
        setup = ModelSetup(server)
        with measure(60) as meter, pytest.raises(ModelUnavailable):
            setup.embeddings().embed_query("x")
    assert len(server.requests) == 3
    assert len(meter.calls) == 3
    assert len(setup.waited) == 2


def test_an_endpoint_that_comes_back_answers():
    script = iter([error_reply(503), None])
    with serve_script(lambda request: next(script) or vectors(request)) as server:
        assert ModelSetup(server).embeddings().embed_query("x") == [1.0, 2.0]


REFUSED: dict[str, tuple[ScriptedReply, str]] = {
    "401": (error_reply(401), "unauthorized (401)"),
    "404": (error_reply(404), "no such model (404)"),
    "quota": (error_reply(429, "insufficient_quota"), "quota spent (429)"),
    "html": (ScriptedReply(b"<html>"), "unreadable reply"),
    "no vectors": (ScriptedReply({"data": []}), "unreadable reply"),
    "odd usage": (ScriptedReply({"data": [{"embedding": [1.0]}], "usage": "much"}), "unreadable reply"),
}


@pytest.mark.parametrize(("reply", "reason"), REFUSED.values(), ids=REFUSED)
def test_an_endpoint_that_refuses_is_asked_once_and_named(reply: ScriptedReply, reason: str):
    with serve_script([reply]) as server:
        setup = ModelSetup(server)
        with measure(60) as meter, pytest.raises(ModelUnavailable) as raised:
            setup.embeddings().embed_query("x")
    assert raised.value.reason == reason
    assert [call.error for call in meter.calls] == [reason]
    assert len(server.requests) == 1


def test_a_refused_call_uses_nothing_of_the_share():
    script = iter([error_reply(400), None])
    with serve_script(lambda request: next(script) or vectors(request)) as server:
        embeddings = ModelSetup(server, Limits(tokens=1_000)).embeddings()
        with pytest.raises(ModelUnavailable):
            embeddings.embed_query("x" * 1_200)
        assert embeddings.embed_query("x" * 1_200)


async def test_nothing_is_sent_when_the_caller_has_left():
    abandoned = AbandonedWork()
    with serve_script(billing(1)) as server:
        embeddings = ModelSetup(server).embeddings()

        def work() -> None:
            abandoned.arrive()
            embeddings.embed_query("x")

        await abandoned.run(work)
    assert isinstance(abandoned.outcome, Abandoned)
    assert server.requests == []


async def test_calls_in_a_thread_are_recorded_where_it_was_started():
    with serve_script(billing(3)) as server:
        setup = ModelSetup(server)
        with measure(10) as meter:
            await in_thread(lambda: setup.embeddings().embed_query("x"))
    assert [call.usage.input_tokens for call in meter.calls] == [3]
