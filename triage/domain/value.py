"""The base of all values."""

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
