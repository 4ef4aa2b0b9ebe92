"""What is left of a budget, and who may still ask a model."""

import hypothesis
import pytest
from hypothesis import strategies as st

from testing.fakes import FakeModel, fake_services
from triage.domain.run import Limits, Usage
from triage.graph.routing import measure_budget

LIMITS = Limits(tokens=100_000, usd=1.0)


def tokens(count: int) -> Usage:
    return Usage(input_tokens=count, calls=1)


def is_low(spent: Usage) -> bool:
    model = FakeModel({})
    model.spent = spent
    return measure_budget(fake_services(model=model, limits=LIMITS)).is_low


@pytest.mark.parametrize(
    ("spent", "expected"),
    [
        (Usage(), False),
        (tokens(79_000), False),
        (tokens(81_000), True),
        (tokens(200_000), True),
        (Usage(input_tokens=10, calls=1, usd=0.75), False),
        (Usage(input_tokens=10, calls=1, usd=0.85), True),
        (Usage(input_tokens=10, calls=1, usd=None), False),
    ],
)
def test_the_rest_is_for_the_writer(spent: Usage, expected: bool):
    assert is_low(spent) is expected


@hypothesis.given(st.integers(0, 150_000), st.integers(0, 150_000))
def test_who_spends_more_has_less(less: int, more: int):
    less, more = sorted((less, more))
    assert is_low(tokens(less)) <= is_low(tokens(more))
