"""The base of all values, and times in text from outside."""

from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator


class Value(BaseModel):
    """A frozen value. Unknown fields are errors. In JSON a field has its alias: the name that it was published with."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", validate_by_name=True, validate_by_alias=True, serialize_by_alias=True
    )


class YamlSection(Value):
    """A section of a YAML file. Keys have hyphens, and a key without a value is ignored."""

    model_config = ConfigDict(alias_generator=lambda name: name.replace("_", "-"))

    @model_validator(mode="before")
    @classmethod
    def _drop_nulls(cls, data: Any) -> Any:
        return {key: value for key, value in data.items() if value is not None} if isinstance(data, dict) else data


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
