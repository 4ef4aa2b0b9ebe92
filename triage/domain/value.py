"""The one base of all values."""

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """A frozen value: compared by content, refused when a field is unknown."""

    model_config = ConfigDict(frozen=True, extra="forbid")
