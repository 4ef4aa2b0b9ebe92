"""The time that a scorecard counts from, and the end of a job that is cancelled."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from testing.apps import make_app
from testing.each_row import each_row
from testing.fakes import FakeOutput
from tests.run.run_harness import RunHarness
from triage.app.settings.inputs import Settings
from triage.backtest.scorecard import make_scorecard, parse_since
from triage.base.errors import BadInput
from triage.domain.run import Status

NOW = datetime(2026, 11, 22, 21, 30, tzinfo=UTC)


def test_a_cancelled_job_says_so() -> None:
    harness = RunHarness(output=FakeOutput())
    context = harness.build_context()
    context.cancelled.set()
    result = asyncio.run(make_scorecard(make_app(Settings(), Path()), context))
    assert result is Status.DEGRADED
    assert "The scorecard is not ready" in harness.output.summaries[0]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("90d", "2026-08-24"),
        (" 14d ", "2026-11-08"),
    ],
)
def test_a_day(text: str, day: str) -> None:
    assert parse_since(text, NOW) == datetime.fromisoformat(day).replace(tzinfo=UTC)


@each_row(
    "text",
    [
        "",
        "0d",
        "12w",
        "2026-08-01",
        "٩d",
        "90d\n::error::x",
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="is not a number of days such as 90d") as refused:
        parse_since(text, NOW)
    assert "\n" not in str(refused.value)
