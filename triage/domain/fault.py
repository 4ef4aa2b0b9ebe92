"""Something that went wrong in a run, and what was done instead."""

from datetime import datetime
from typing import Literal

from triage.domain.run import Outcome, StepName
from triage.domain.value import Value

Part = Literal["step", "gate", "shortfall", "model call", "tool"]


class Fault(Value):
    """Something that failed, ran out of time, was refused or was never tried."""

    at: datetime
    """When it began."""
    step: StepName
    round: int
    iteration: int
    part: Part
    """What failed. `gate`: the answer was refused; `shortfall`: a part of the answer is missing."""
    name: str
    """The tool, the model or the step."""
    outcome: Outcome
    error: str
    """A short name, never a message from outside."""
    instead: str
    """What replaced it; `nothing` if the run went on without it."""
