"""Collects everything that went wrong in a run from the records of its steps."""

from collections.abc import Iterator, Sequence

from triage.domain.fault import Fault, Part
from triage.domain.run import ModelCall, Outcome, StepRecord, ToolExecution

NO_REPLACEMENT = "nothing"


def collect_faults(steps: Sequence[StepRecord]) -> list[Fault]:
    """All faults, in the order of the records that hold them; what led to a step's failure stands before it."""
    return [fault for number, record in enumerate(steps, 1) for fault in _list_faults(record, steps[number:])]


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


def _list_faults(record: StepRecord, following: Sequence[StepRecord]) -> Iterator[Fault]:
    replacement = find_replacement(record, following)
    for number, call in enumerate(record.calls, 1):
        if call.outcome is not Outcome.SUCCESS:
            answered = any(other.outcome is Outcome.SUCCESS for other in record.calls[number:])
            instead = "another request was answered" if answered else replacement
            yield _make_fault(record, "model call", call.model, call, instead)
    for tool in record.tools:
        if tool.outcome is not Outcome.SUCCESS:
            instead = "the agent went on without it" if record.outcome is Outcome.SUCCESS else replacement
            yield _make_fault(record, "tool", tool.tool, tool, instead)
    for shortfall in record.shortfalls:
        error, _, instead = shortfall.rpartition("; ")
        failed = record.model_copy(update={"outcome": Outcome.FAILED, "error": error or shortfall})
        yield _make_fault(record, "shortfall", record.step, failed, instead if error else NO_REPLACEMENT)
    if record.outcome is not Outcome.SUCCESS:
        part: Part = "gate" if record.is_refused_by_gate else "step"
        yield _make_fault(record, part, record.step, record, replacement)


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
