"""Reads how long a server asks to wait before the next request."""

import re
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_SECONDS = re.compile(r"\s*(\d{1,12}(?:\.\d{1,9})?)\s*", re.ASCII)


def parse_retry_after(headers: Mapping[str, str], now: Callable[[], float] = time.time) -> float | None:
    """Returns the seconds that a `retry-after` header asks to wait; None when it is missing or unreadable.

    The header is a number or a date (RFC 9110, 10.2.3). `headers` have lower-case names.
    """
    value = headers.get("retry-after", "")
    if seconds := _SECONDS.fullmatch(value):
        return float(seconds[1])
    date = parse_http_date(value)
    return None if date is None else max(date.timestamp() - server_timestamp(headers, now), 0.0)


def server_timestamp(headers: Mapping[str, str], now: Callable[[], float] = time.time) -> float:
    """Returns when a response was sent, in seconds since 1970, by the server's clock where it is known."""
    date = parse_http_date(headers.get("date", ""))
    return date.timestamp() if date else now()


def parse_http_date(text: str) -> datetime | None:
    """Returns a date of an HTTP header in UTC; None for anything else."""
    try:
        date = parsedate_to_datetime(text)
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
