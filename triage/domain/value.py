"""The base of all values."""

from pydantic import BaseModel, ConfigDict

RENAMED_FIELDS = ConfigDict(validate_by_name=True, validate_by_alias=True, serialize_by_alias=True)
"""For values whose JSON keeps the name that a field was first published with."""


class Value(BaseModel):
    """A frozen value. Unknown fields are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")
