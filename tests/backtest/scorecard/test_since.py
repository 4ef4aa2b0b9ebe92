"""From which day on is counted."""

from datetime import UTC, datetime

import pytest

from triage.backtest.scorecard.since import parse_since
from triage.base.errors import BadInput

NOW = datetime(2026, 11, 22, 21, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("90d", "2026-08-24"),
        ("1d", "2026-11-21"),
        (" 12w ", "2026-08-30"),
        ("2026-08-01", "2026-08-01"),
        ("104w", "2024-11-24"),
    ],
)
def test_a_day(text: str, day: str) -> None:
    assert parse_since(text, NOW) == datetime.fromisoformat(day).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "90",
        "0d",
        "d",
        "-1d",
        "9999w",
        "2026-13-01",
        "2027-01-01",
        "2020-01-01",
        "20260801",
        "٩d",
        "90d\n::error::x",
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="give days such as 90d") as refused:
        parse_since(text, NOW)
    assert "\n" not in str(refused.value)
