"""Numbers that no call can have: in an endpoint's answer, in a cached reply, in the budget itself."""

import contextlib
import json
import math
import time
from typing import Any

import pytest

from testing.fakes import NOW
from testing.servers.scripted_server import chat_completion, serve_script
from tests.model.model import GREEN, Colour, FakeResponseCache, ModelSetup, colour
from triage.base.errors import BudgetExceeded, ModelUnavailable
from triage.domain.run import Limits, Usage
from triage.model.budget import Budget
from triage.model.token_count import PriceTable, TokenCount

IMPOSSIBLE = [-1, -(10**8), 10**9, 10**400, 1.5, math.nan, math.inf, -math.inf, True, "5", None, [5]]


@pytest.mark.parametrize("number", IMPOSSIBLE)
@pytest.mark.parametrize("field", ["input_tokens", "output_tokens", "cached_tokens"])
async def test_a_cached_reply_with_impossible_counts_is_asked_for_again(field: str, number: object):
    await check_forged_reply_is_not_used({field: number})


@pytest.mark.parametrize(
    "forged", [{"model": "free-of-charge"}, {"model": ""}, {"model": "gpt-4.1-nano"}, {"cached_tokens": 101}]
)
async def test_a_cached_reply_of_another_price_is_asked_for_again(forged: dict[str, object]):
    await check_forged_reply_is_not_used(forged)


async def check_forged_reply_is_not_used(forged: dict[str, object]) -> None:
    cache = FakeResponseCache()
    with serve_script([chat_completion(GREEN)]) as server:
        await colour(ModelSetup(server, replies=cache).model)
        cache.responses = {key: json.dumps(json.loads(text) | forged) for key, text in cache.responses.items()}
        setup = ModelSetup(server, replies=cache)
        assert await colour(setup.model) == Colour(name="green", depth=3)
    assert len(server.requests) == 2
    assert setup.budget.usage.tokens == 120
    assert setup.budget.reused == Usage()


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
@pytest.mark.parametrize("number", [-1, -(10**8), 10**9, 10**400, 1.5, math.nan, math.inf, -math.inf, [5]])
@pytest.mark.parametrize("field", ["prompt_tokens", "completion_tokens", "total_tokens"])
async def test_our_estimate_counts_where_an_endpoint_reports_an_impossible_number(field: str, number: object):
    reply = chat_completion(GREEN)
    reply.body["usage"][field] = number
    with serve_script([reply]) as server:
        setup = ModelSetup(server)
        with setup.model.measure_usage(10) as meter, contextlib.suppress(ModelUnavailable):
            await colour(setup.model)
    usage = setup.budget.usage
    assert usage.input_tokens >= 20
    assert all(call.estimated for call in meter.calls)
    assert usage.output_tokens >= 5 or setup.budget._reserved


@pytest.mark.parametrize("number", IMPOSSIBLE)
def test_the_budget_takes_no_impossible_number(number: Any):
    for counts in ((number,), (100, number), (100, 0, number), (100, 0, 101)):
        with pytest.raises(ValueError, match="not a count of tokens"):
            TokenCount(*counts)


@pytest.mark.parametrize("number", [-1, -1e-9, math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("field", ["input_tokens", "output_tokens", "calls", "usd", "known_usd"])
def test_a_usage_is_not_negative_and_finite(field: str, number: float):
    with pytest.raises(ValueError, match=field):
        Usage(**{field: number})


def test_an_impossible_number_in_a_request_counts_its_prompt_and_its_longest_answer():
    budget = Budget(Limits(tokens=1_000), PriceTable(), time.monotonic, lambda: NOW)
    with pytest.raises(ValueError, match="not a count"), budget.record_request("gpt-4o", "plain", 100, 400) as request:
        request.tokens = TokenCount(-(10**8))
    assert budget.usage.input_tokens == 100
    with pytest.raises(BudgetExceeded), budget.record_request("gpt-4o", "plain", 501, 0):
        pass
