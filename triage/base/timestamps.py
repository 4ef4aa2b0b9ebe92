"""Timestamps in text from outside."""

from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import BeforeValidator

_MIN_YEAR, _MAX_YEAR = 1970, 5000
"""Between them, a day can be added or subtracted, and a time can be written as seconds since 1970."""


def parse_timestamp(written: Any) -> datetime | None:
    """A time as GitHub writes it, in UTC; None for anything else: not a time, without a zone, or an odd year."""
    if isinstance(written, datetime):
        return written
    try:
        parsed = datetime.fromisoformat(written)
        timestamp = parsed.astimezone(UTC) if parsed.tzinfo else None
    except (TypeError, ValueError, OverflowError):
        return None
    return timestamp if timestamp and _MIN_YEAR < timestamp.year < _MAX_YEAR else None


Timestamp = Annotated[datetime | None, BeforeValidator(parse_timestamp)]
