"""A sample of each measure, with and without the defence. `make trust` runs all cases."""

import pytest

from trust.measure import Measure
from trust.measures import MEASURES, canaries, effects, faults, hidden_text, markdown, text_cost

SHARES = {
    effects.MEASURE.name: 1 / 90,
    canaries.MEASURE.name: 1 / 35,
    hidden_text.MEASURE.name: 10 / 192,
    text_cost.MEASURE.name: 0.002,
}
SMALL_SHARE = 0.005
ONE_BY_ONE = [effects.MEASURE, faults.MEASURE]
MANY_FAILURES = [canaries.MEASURE, hidden_text.MEASURE, markdown.MEASURE]


def get_name(measure: Measure) -> str:
    return measure.name


@pytest.mark.parametrize("measure", MEASURES, ids=get_name)
def test_a_sample_has_no_failures(measure: Measure):
    result = measure.run(SHARES.get(measure.name, SMALL_SHARE))
    assert result.cases > 0
    assert result.failures == []


@pytest.mark.parametrize("measure", [one for one in MEASURES if one not in ONE_BY_ONE], ids=get_name)
def test_failures_without_the_defence_are_detected(measure: Measure):
    result = measure.run_without_defence()
    assert len(result.failures) > (result.cases / 2 if measure in MANY_FAILURES else 0)


def test_every_effect_of_an_agent_without_defence_is_detected():
    failures = effects.run_without_defence().failures
    assert [order for order in effects.ORDERS if not any(failure.startswith(order) for failure in failures)] == []


def test_every_fault_without_its_defence_is_detected():
    failures = faults.run_without_defence().failures
    tried = faults.UNHANDLED
    assert [fault.name for fault in tried if not any(failure.startswith(fault.name) for failure in failures)] == []
