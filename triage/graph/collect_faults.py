"""Collects everything that went wrong in a run from the records of its steps."""

from collections.abc import Iterator, Sequence

from triage.domain.fault import Fault, Part
from triage.domain.run import ModelCall, Outcome, StepRecord, ToolExecution

NO_REPLACEMENT = "nothing"


def collect_faults(steps: Sequence[StepRecord]) -> list[Fault]:
    """All faults, in the order of the records that hold them; what led to a step's failure stands before it."""
    found: list[Fault] = []
    for number, record in enumerate(steps):
        instead = find_replacement(record, steps[number + 1 :])
        found.extend(_call_faults(record, instead))
        found.extend(_tool_faults(record, instead))
        found.extend(_shortfall_faults(record))
        if record.outcome is not Outcome.SUCCESS:
            part: Part = "gate" if record.is_refused_by_gate else "step"
            found.append(_make_fault(record, part, record.step, record, instead))
    return found


def find_replacement(record: StepRecord, following: Sequence[StepRecord]) -> str:
    """Return what took the place of a failed step, from the steps that follow it; `nothing` when nothing did."""
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
