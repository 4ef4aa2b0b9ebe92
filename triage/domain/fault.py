"""Everything that went wrong in a run, each with what was done instead. Derived from the steps' records."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Literal

from triage.domain.run import ModelCall, Outcome, StepName, StepRecord, ToolExecution
from triage.domain.value import Value

Part = Literal["step", "gate", "shortfall", "model call", "tool"]
NO_REPLACEMENT = "nothing"


class Fault(Value):
    """Something that failed, ran out of time, was refused or was never tried."""

    at: datetime
    """When it began."""
    step: StepName
    round: int
    iteration: int
    part: Part
    """What failed; `gate` when there was an answer and it could not be used, `shortfall` for a part of one."""
    name: str
    """The tool, the model that was asked, or the step."""
    outcome: Outcome
    error: str
    """Its name, in our words."""
    instead: str
    """What took its place, in our words; `nothing` when the run went on without."""


def collect_faults(steps: Sequence[StepRecord]) -> list[Fault]:
    """All faults, in the order of the records that hold them; what led to a step's failure stands before it."""
    found: list[Fault] = []
    for number, record in enumerate(steps):
        instead = _find_replacement(record, steps[number + 1 :])
        found.extend(_call_faults(record, instead))
        found.extend(_tool_faults(record, instead))
        found.extend(_shortfall_faults(record))
        if record.outcome is not Outcome.SUCCESS:
            part: Part = "gate" if is_refused_by_gate(record) else "step"
            found.append(_make_fault(record, part, record.step, record, instead))
    return found


def is_refused_by_gate(record: StepRecord) -> bool:
    """There was a result, and it could not be used."""
    return record.outcome is not Outcome.SUCCESS and record.gate is not None


def _find_replacement(record: StepRecord, following: Sequence[StepRecord]) -> str:
    if record.outcome is Outcome.SUCCESS:
        return NO_REPLACEMENT
    if record.step == "supervisor":
        return "rules decided"
    again = [other for other in following if other.step == record.step and other.round == record.round]
    answered = next((other for other in again if other.outcome is Outcome.SUCCESS), None)
    if answered is None:
        return NO_REPLACEMENT
    return "rules answered" if answered.engine == "rules" else "another model answered"


def _call_faults(record: StepRecord, instead: str) -> Iterator[Fault]:
    for number, call in enumerate(record.calls):
        if call.outcome is not Outcome.SUCCESS:
            answered = any(other.outcome is Outcome.SUCCESS for other in record.calls[number + 1 :])
            yield _make_fault(
                record, "model call", call.model, call, "another request was answered" if answered else instead
            )


def _tool_faults(record: StepRecord, instead: str) -> Iterator[Fault]:
    for tool in record.tools:
        if tool.outcome is not Outcome.SUCCESS:
            went_on = record.outcome is Outcome.SUCCESS
            yield _make_fault(record, "tool", tool.tool, tool, "the agent went on without it" if went_on else instead)


def _shortfall_faults(record: StepRecord) -> Iterator[Fault]:
    """Each says what stood in after its last semicolon."""
    for shortfall in record.shortfalls:
        error, _, instead = shortfall.rpartition("; ")
        named = record.model_copy(update={"outcome": Outcome.FAILED, "error": error or shortfall})
        yield _make_fault(record, "shortfall", record.step, named, instead if error else NO_REPLACEMENT)


def _make_fault(
    record: StepRecord, part: Part, name: str, failed: StepRecord | ModelCall | ToolExecution, instead: str
) -> Fault:
    return Fault(
        at=failed.started_at,
        step=record.step,
        round=record.round,
        iteration=record.iteration,
        part=part,
        name=name,
        outcome=failed.outcome,
        error=failed.error or failed.outcome.lower().replace("_", " "),
        instead=instead,
    )
