"""A sample of each measure, and the proof that its judge sees. All of it: `make trust`."""

import pytest

from trust.measure import Measure
from trust.measures import MEASURES

SAMPLE = 0.002


def named(measure: Measure) -> str:
    return measure.name


@pytest.mark.parametrize("measure", MEASURES, ids=named)
def test_a_sample_holds(measure: Measure):
    figure = measure.run(SAMPLE)
    assert figure.cases > 0
    assert figure.failures == []


@pytest.mark.parametrize("measure", MEASURES, ids=named)
def test_without_the_defence_the_judge_sees_it(measure: Measure):
    assert measure.run_without_defence().failures
