"""What a batch still has to do and may spend, however often its process was killed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.backlog.backlog_values import make_plan, make_report
from triage.backlog.backlog import BatchRecord, Caps
from triage.backlog.batch_progress import limit_run, measure_progress, share_caps, sum_spent
from triage.domain.run import Limits

PLAN = make_plan([[1, 2, 3], [4]], usd=4.0, tokens=40_000)
RESERVED = Caps(usd=1.0, tokens=10_000)


def start(number: int) -> BatchRecord:
    return BatchRecord(number=number, reserved=RESERVED)


def end(number: int, usd: float = 0.25) -> BatchRecord:
    return BatchRecord(number=number, spent=Caps(usd=usd, tokens=1_000), report=make_report(number))


@given(st.lists(st.integers(1, 30), min_size=1, max_size=60), st.integers(0, 10**9), st.floats(0, 1_000))
def test_batches_together_get_at_most_the_caps(sizes: list[int], tokens: int, usd: float) -> None:
    numbers = iter(range(1, 10_000))
    plan = make_plan([[next(numbers) for _ in range(size)] for size in sizes], usd, tokens)
    shares = [share_caps(plan, batch) for batch in range(1, len(sizes) + 1)]
    assert sum(share.tokens for share in shares) <= tokens
    assert sum(share.usd for share in shares) <= usd * (1 + 1e-9)


def test_what_ended_is_finished_and_paid() -> None:
    progress = measure_progress(PLAN, 1, [start(1), end(1)])
    assert progress.finished == {1}
    assert progress.crashed == ()
    assert progress.left == Caps(usd=2.75, tokens=29_000)


def test_a_start_without_an_end_counts_with_all_that_it_could_take() -> None:
    progress = measure_progress(PLAN, 1, [start(1), end(1), start(2)])
    assert progress.finished == {1}
    assert progress.left == Caps(usd=1.75, tokens=19_000)
    assert sum_spent([start(2), start(2), end(2)]) == Caps(usd=1.25, tokens=11_000)


def test_an_issue_that_ends_the_process_twice_is_given_up() -> None:
    assert measure_progress(PLAN, 1, [start(2)]).crashed == ()
    assert measure_progress(PLAN, 1, [start(2), start(2)]).crashed == (2,)
    assert measure_progress(PLAN, 1, [start(2), start(2), end(2)]).crashed == ()


def test_a_cancelled_triage_is_tried_again_and_its_cost_counts() -> None:
    cancelled = BatchRecord(number=2, spent=Caps(usd=0.5, tokens=500), reason="cancelled", is_final=False)
    progress = measure_progress(PLAN, 1, [start(2), cancelled])
    assert progress.finished == frozenset()
    assert progress.left == Caps(usd=2.5, tokens=29_500)


@pytest.mark.parametrize(
    ("left", "expected"),
    [
        (Caps(usd=9.0, tokens=999_999), Caps(usd=1.0, tokens=100_000)),
        (Caps(usd=0.2, tokens=50_000), Caps(usd=0.2, tokens=50_000)),
        (Caps(usd=0.0, tokens=50_000), Caps(usd=0, tokens=0)),
        (Caps(usd=5.0, tokens=999), Caps(usd=0, tokens=0)),
    ],
)
def test_a_triage_takes_no_more_than_is_left(left: Caps, expected: Caps) -> None:
    assert limit_run(Limits(usd=1.0, tokens=100_000), left) == expected
