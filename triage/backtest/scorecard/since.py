"""From which day on a scorecard counts."""

import re
from datetime import UTC, datetime, timedelta

from triage.base.errors import BadInput
from triage.base.quote_value import quote_value

DEFAULT = "90d"
_MAX_DAYS = 731
_SPAN = re.compile(r"([1-9][0-9]{0,3})([dw])", re.ASCII)
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)


def parse_since(text: str, now: datetime) -> datetime:
    """Returns the start of the day in UTC, for `90d`, `12w` or `2026-08-01`.

    Raises:
        BadInput: It is none of these, in the future, or more than two years ago.
    """
    today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    day = _parse_day(text.strip(), today)
    if day is None or not today - timedelta(days=_MAX_DAYS) <= day <= today:
        raise BadInput(
            f"The time {quote_value(text)} is not one of the last two years: give days such as 90d, weeks such as 12w, "
            "or a day such as 2026-08-01."
        )
    return day


def _parse_day(text: str, today: datetime) -> datetime | None:
    if span := _SPAN.fullmatch(text):
        return today - timedelta(days=int(span[1]) * (7 if span[2] == "w" else 1))
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC) if _DAY.fullmatch(text) else None
    except ValueError:
        return None
