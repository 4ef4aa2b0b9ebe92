"""The budget: what is reserved before a call, billed after it, and never exceeded by more than a reply."""

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage

from testing.servers.scripted_server import ScriptedReply, chat_completion, error_reply, serve_script, to_response
from tests.outside.model.model import GREEN, Colour, ModelSetup, cancel_call, colour, measure
from triage.base.errors import BudgetExceeded, ModelUnavailable
from triage.domain.project_config import Price
from triage.domain.run import Limits, Usage
from triage.outside.model import token_count
from triage.outside.model.endpoint_features import EndpointFeatures
from triage.outside.model.token_count import TokenCount, cost_usd

# --- before the call


async def test_caps_are_checked_before_the_call():
    with serve_script([chat_completion(GREEN)]) as server:
        for limits in (Limits(tokens=60), Limits(usd=0.0001), Limits(usd=0)):
            with pytest.raises(BudgetExceeded):
                await colour(ModelSetup(server, limits).model)
    assert server.requests == []


async def test_parallel_calls_reserve_before_they_start():
    """Room for one call, which reserves about 140 tokens: of three at once, one is made."""
    with serve_script([chat_completion(GREEN)]) as server:
        model = ModelSetup(server, Limits(tokens=200)).model
        outcomes = await asyncio.gather(*[colour(model) for _ in range(3)], return_exceptions=True)
    assert len(server.requests) == 1
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["BudgetExceeded", "BudgetExceeded", "Colour"]


async def needed(ask: Any) -> int:
    """The smallest limit under which the call is made."""
    low, high = 1, 2_000
    with serve_script([chat_completion(GREEN)]) as server:
        while low < high:
            cap = (low + high) // 2
            try:
                await ask(ModelSetup(server, Limits(tokens=cap, usd=100)).model)
            except BudgetExceeded:
                low = cap + 1
            else:
                high = cap
    return low


async def test_everything_that_is_sent_is_estimated():
    plain = await needed(lambda model: model.with_tools([], "main", 50).ainvoke("word"))
    assert plain == 50 + 6 + token_count.TOKENS_PER_MESSAGE
    assert await needed(lambda model: model.with_tools([], "main", 90).ainvoke("word")) == plain + 40
    assert await needed(lambda model: model.with_tools([], "main", 50).ainvoke("wordword" * 300)) > plain + 700
    assert await needed(lambda model: model.structured_output(Colour, "main", 50).ainvoke("word")) > plain + 40
    calls = [AIMessage("", tool_calls=[{"name": "f", "args": {"x": "y" * 300}, "id": "1"}])]
    assert await needed(lambda model: model.with_tools([], "main", 50).ainvoke(calls)) > plain + 100


@pytest.mark.parametrize(
    ("text", "least"), [("错误" * 300, 600), ("\N{PILE OF POO}" * 300, 400), ("a b c " * 100, 200), ("", 0)]
)
def test_an_estimate_goes_by_bytes(text: str, least: int):
    assert least <= token_count.estimate_text(text) <= len(text.encode())


def test_tool_calls_in_other_scripts_are_not_counted_by_their_escapes():
    asked = AIMessage("", tool_calls=[{"name": "f", "args": {"x": "错" * 300}, "id": "1"}])
    assert 300 < token_count.estimate_prompt([asked], "") < 400


@given(st.text())
def test_any_text_can_be_estimated(text: str):
    assert token_count.estimate_prompt([HumanMessage(text)], text) >= token_count.estimate_text(text)


# --- after the call


@pytest.mark.parametrize("tool", [True, False])
async def test_a_cap_is_exceeded_by_no_more_than_a_reply(tool: bool):
    """The endpoint bills more than was estimated; no call starts beyond the limit."""
    reply = chat_completion("words")
    reply.body["usage"] = {"prompt_tokens": 900, "completion_tokens": 50, "total_tokens": 950}
    with serve_script([reply]) as server:
        model = ModelSetup(server, Limits(tokens=1_000, usd=100)).model
        await model.with_tools([], "main", 50).ainvoke("go")
        with pytest.raises(BudgetExceeded):
            await model.with_tools([], "main", 50).ainvoke("go")
    assert model.usage.tokens <= 1_000 + 50


async def test_cached_tokens_cost_less():
    with serve_script([chat_completion(GREEN, cached=80)]) as server:
        model = ModelSetup(server).model
        await colour(model)
    assert model.usage.usd == pytest.approx(20 * 2.5e-6 + 80 * 1.25e-6 + 20 * 10e-6)


@pytest.mark.parametrize("is_response", [False, True])
async def test_tokens_that_are_written_to_a_cache_cost_more(is_response: bool):
    """A quarter more than others, with GPT-6."""
    reply = chat_completion(GREEN)
    reply.body["usage"]["prompt_tokens_details"] = {"cached_tokens": 20, "cache_write_tokens": 40}
    with serve_script([to_response(reply) if is_response else reply]) as server:
        setup = ModelSetup(server, main="gpt-6-luna")
        setup.endpoint.features = EndpointFeatures("https://api.openai.com/v1" if is_response else "")
        await colour(setup.model)
    assert setup.model.usage.usd == pytest.approx((40 * 0.1 + 20 * 0.01 + 40 * 0.125 + 20 * 0.5) / 1e6)


async def usage_of(reported: Any) -> Usage:
    reply = chat_completion(GREEN)
    reply.body["usage"] = reported
    with serve_script([reply]) as server:
        model = ModelSetup(server).model
        await colour(model)
    return model.usage


async def test_reasoning_is_part_of_the_output():
    reported = {"prompt_tokens": 100, "completion_tokens": 80, "total_tokens": 180}
    reasoning = {"completion_tokens_details": {"reasoning_tokens": 60}}
    assert (await usage_of(reported | reasoning)).output_tokens == 80


async def test_reasoning_that_only_the_total_includes_is_counted_too():
    reported = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 180}
    assert (await usage_of(reported)).output_tokens == 80


async def test_cached_tokens_are_counted_with_a_service_tier():
    reported = {"prompt_tokens": 100, "completion_tokens": 0, "prompt_tokens_details": {"cached_tokens": 100}}
    reply = chat_completion(GREEN)
    reply.body.update(usage=reported, service_tier="priority")
    with serve_script([reply]) as server:
        model = ModelSetup(server).model
        await colour(model)
    assert model.usage.usd == pytest.approx(100 * 1.25e-6)


@pytest.mark.parametrize(
    "reported",
    [
        {"prompt_tokens": None, "completion_tokens": None, "total_tokens": None},
        {"prompt_tokens": -5, "completion_tokens": 3},
        {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
        {"prompt_tokens": 10**400, "completion_tokens": 3},
        {},
        None,
    ],
)
async def test_an_unusable_usage_is_estimated(reported: Any):
    usage = await usage_of(reported)
    assert usage.calls == 1
    assert usage.input_tokens > 50
    assert usage.output_tokens == token_count.estimate_text(GREEN) + token_count.TOKENS_PER_MESSAGE


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda c: (
            st.lists(c)
            | st.dictionaries(
                st.sampled_from(
                    ["prompt_tokens", "completion_tokens", "total_tokens", "prompt_tokens_details", "cached_tokens"]
                ),
                c,
            )
        ),
    )
)
def test_any_reported_usage_is_valid_or_ignored(reported: Any):
    counted = token_count.parse_usage(reported)
    assert counted is None or (counted.input >= counted.cached >= 0 and counted.output >= 0)


# --- prices


async def test_tokens_are_limited_without_a_known_price():
    with serve_script([chat_completion(GREEN)]) as server:
        model = ModelSetup(server, Limits(tokens=200), main="my-own-model").model
        await colour(model)
        with pytest.raises(BudgetExceeded):
            await colour(model)
    assert model.usage.usd is None
    assert len(server.requests) == 1


async def test_the_projects_own_prices_win():
    own = {
        "gpt-4o": Price(input=10, output=20),
        "my-own-model": Price(input=1, output=0, cached_input=0.5, cache_write=2),
    }
    with serve_script([chat_completion(GREEN, cached=80)]) as server:
        usual, gateways = (
            ModelSetup(server, prices=own).model,
            ModelSetup(server, prices=own, main="corp/my-own-model").model,
        )
        await colour(usual)
        await colour(gateways)
    assert usual.usage.usd == pytest.approx((100 * 10 + 20 * 20) / 1e6), "what is cached costs as much unless told"
    assert gateways.usage.usd == pytest.approx((20 * 1 + 80 * 0.5) / 1e6)
    assert cost_usd(own, "my-own-model", TokenCount(9, 1, 2, 3)) == pytest.approx((4 + 2 * 0.5 + 3 * 2) / 1e6)


def test_a_model_that_costs_nothing_has_a_known_price():
    assert cost_usd({"local": Price(input=0, output=0)}, "local", TokenCount(1_000, 1_000)) == 0.0


# --- calls whose bill nobody has seen


async def test_a_cancelled_call_counts_its_prompt_and_leaves_the_rest_reserved():
    """It may have been billed: the report counts what is likely, the limit what is possible."""
    with serve_script([ScriptedReply(delay_seconds=30)]) as server:
        setup = ModelSetup(server, Limits(tokens=20_000))
        with measure(60) as meter:
            await cancel_call(setup)
        spent = setup.model.usage
        room = server.requests[0].body["max_completion_tokens"]
        left = 20_000 - spent.tokens - room
        assert 0 <= left - room <= 1, "as much as is reserved is left"
        with pytest.raises(BudgetExceeded), setup.budget.record_request("gpt-4o", "plain", left + 1, 0):
            pass
        with setup.budget.record_request("gpt-4o", "plain", left, 0):
            pass
    assert [spent] == [call.usage for call in meter.calls]
    assert (spent.calls, spent.output_tokens) == (1, 0)
    assert 50 < spent.input_tokens < 150
    assert spent.usd == pytest.approx(spent.input_tokens * 2.5e-6)
    assert meter.calls[0].estimated
    assert meter.models == [], "nobody answered"


@pytest.mark.parametrize(
    "reply", [ScriptedReply(drop=True), chat_completion(GREEN, cut=True), ScriptedReply(b"<html>")]
)
async def test_a_lost_answer_counts_its_prompt(reply: ScriptedReply):
    with serve_script([reply]) as server:
        model = ModelSetup(server, fallback="gpt-4o").model
        with measure(60) as meter, pytest.raises(ModelUnavailable):
            await colour(model)
    assert all(call.estimated and call.usage.input_tokens for call in meter.calls)
    assert model.usage.calls == len(server.requests)


@pytest.mark.parametrize("status", [400, 401, 429, 500])
async def test_a_refused_request_costs_nothing_and_reserves_nothing(status: int):
    with serve_script([error_reply(status)]) as server:
        setup = ModelSetup(server, Limits(tokens=400))
        with pytest.raises(ModelUnavailable):
            await colour(setup.model)
        assert setup.model.usage == Usage()
        with setup.budget.record_request("gpt-4o", "plain", 400, 0):
            pass
