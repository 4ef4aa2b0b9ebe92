"""The base of all values."""

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """A frozen value. Unknown fields are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")
