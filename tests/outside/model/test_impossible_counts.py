"""Numbers that no call can have: in an endpoint's answer, in the budget itself."""

import math
import time
from typing import Any

import pytest

from testing.fakes import NOW
from triage.base.errors import BudgetExceeded
from triage.domain.run import Limits, Usage
from triage.outside.model.budget import Budget
from triage.outside.model.token_count import PriceTable, TokenCount

IMPOSSIBLE = [-1, -(10**8), 10**9, 10**400, 1.5, math.nan, math.inf, -math.inf, True, "5", None, [5]]


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
