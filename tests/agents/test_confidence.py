"""How sure the rules are of the first file."""

from hypothesis import given
from hypothesis import strategies as st

from triage.agents.codebase_rules import MAX_CONFIDENCE, estimate_confidence
from triage.domain.code import Hit


@given(st.integers(0, 10_000).map(lambda number: number / 10_000))
def test_it_is_never_above_the_measured_probability(probability: float):
    found = estimate_confidence([Hit(path="shop/cart.py", score=1.0, probability=probability, passages=[], reasons=[])])
    assert min(probability, MAX_CONFIDENCE) - 0.01 <= found <= min(probability, MAX_CONFIDENCE)


def test_without_a_hit_nothing_is_sure():
    assert estimate_confidence([]) == 0.0
