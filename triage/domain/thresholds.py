"""From which probability on a report names a place or an earlier issue. `bug-triage backtest` measures them."""

from typing import Annotated

from pydantic import Field

from triage.domain.code import MatchSource
from triage.domain.value import YamlSection

Chance = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class Thresholds(YamlSection):
    """How sure the report must be to name a place or an earlier issue: probabilities from 0 to 1."""

    # `python -m bench.found` and `python -m bench.duplicates` print how often each is right in public repositories.
    trace: Chance = Field(0.3, description="Least chance of the file in which a stack trace ends.")
    message: Chance = Field(0.5, description="Least chance of the file that has the error message.")
    name: Chance = Field(0.7, description="Least chance of the file that has what the issue names.")
    duplicate: Chance = Field(0.6, description="Least chance that an earlier issue reports the same.")

    @property
    def least_of_place(self) -> float:
        return min(self.trace, self.message, self.name)

    def for_sign(self, sign: MatchSource) -> float:
        """Return the least chance of a place that this sign leads to. What is true of itself needs less."""
        return {"trace": self.trace, "message": self.message, "name": self.name}[sign]


NO_THRESHOLDS = Thresholds(trace=0, message=0, name=0, duplicate=0)
"""Names whatever is likeliest, to measure how often it is right."""
