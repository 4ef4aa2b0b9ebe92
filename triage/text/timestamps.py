"""Times that somebody else wrote down."""

from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import BeforeValidator

MIN_YEAR, MAX_YEAR = 1970, 5000
"""Years between which a day may be added or taken away, and a time be written as seconds."""


def parse_timestamp(written: Any) -> datetime | None:
    """A time as GitHub writes it; none for what is no such time, has no zone, or is of no age of ours."""
    if isinstance(written, datetime):
        return written
    try:
        read = datetime.fromisoformat(written)
        known = read.astimezone(UTC) if read.tzinfo else None
    except (TypeError, ValueError, OverflowError):
        return None
    return known if known and MIN_YEAR < known.year < MAX_YEAR else None


Timestamp = Annotated[datetime | None, BeforeValidator(parse_timestamp)]
