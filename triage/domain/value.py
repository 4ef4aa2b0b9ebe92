"""The base of all values."""

import hashlib
import json
from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator

RENAMED_FIELDS = ConfigDict(validate_by_name=True, validate_by_alias=True, serialize_by_alias=True)
"""For values whose JSON keeps the name that a field was first published with."""


class Value(BaseModel):
    """A frozen value. Unknown fields are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class YamlSection(Value):
    """A section of a YAML file. Keys have hyphens, and a key without a value is ignored."""

    model_config = ConfigDict(alias_generator=lambda name: name.replace("_", "-"), populate_by_name=True)

    @model_validator(mode="before")
    @classmethod
    def _drop_nulls(cls, data: Any) -> Any:
        return {key: value for key, value in data.items() if value is not None} if isinstance(data, dict) else data


def dump_canonical(value: Value) -> str:
    """Return a value as JSON that is the same on every machine: sorted keys, no spaces, ASCII."""
    return json.dumps(value.model_dump(mode="json"), sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def hash_value(value: Value) -> str:
    """Return the SHA-256 of the canonical JSON, in 64 hexadecimal digits."""
    return hashlib.sha256(dump_canonical(value).encode("ascii")).hexdigest()
