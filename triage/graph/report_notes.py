"""What went wrong in a run: its faults, the notes of the report, and the status that follows."""

from collections.abc import Iterator, Sequence

from triage.domain.run import Fault, ModelCall, Outcome, Part, Status, StepRecord, ToolExecution
from triage.graph.active_skills import list_skill_notes
from triage.graph.triage_state import BugTriageState
from triage.ports import Services

NO_REPLACEMENT = "nothing"
FAST_MODEL_AGENTS = ("investigator", "web_search")
"""Agents that ask the fast model at every degradation level."""
_SHALLOW = (
    "The checkout has only a part of the history: what changed between two versions and who knows the code may be "
    "missing. `fetch-depth: 0` brings all of it."
)
_REPLACEMENTS = {
    "rules answered": "; answered by rules instead",
    "another model answered": "; the fast model answered instead",
}


def determine_status(state: BugTriageState, faults: Sequence[Fault], ended_early: str) -> Status:
    """Return `degraded` when anything failed, a limit decided, the run was cut, or the index is incomplete."""
    failed = any(_is_failed_step(fault) or _is_failed_tool(fault) for fault in faults)
    limited = any(decision.forced for decision in state.planner_decisions) or bool(_list_degradation_notes(state))
    indexed = state.index is not None and state.index.files > 0 and not state.index.partial and not state.index.notes
    broken = failed or limited or bool(ended_early) or not indexed or state.output is None
    return Status.DEGRADED if broken else Status.COMPLETE


def _is_failed_step(fault: Fault) -> bool:
    # Without past issues the report is what it would be without memory: nothing is missing, and a note says so.
    return fault.part in ("step", "gate", "shortfall") and fault.step != "memory"


def _is_failed_tool(fault: Fault) -> bool:
    # A skipped call had bad arguments: the model was told, and could go on.
    return fault.part == "tool" and fault.outcome is not Outcome.SKIPPED


def list_notes(state: BugTriageState, faults: Sequence[Fault], services: Services, ended_early: str) -> list[str]:
    """Return what is missing and why, one sentence each, worst first."""
    notes = [ended_early] if ended_early else []
    notes += _list_index_notes(state, in_job=bool(services.identity.run_url))
    notes += [_describe_step(fault) for fault in faults if _is_failed_step(fault)]
    notes += [
        f"Not all past issues could be read: {fault.error.rstrip('.')}." for fault in faults if fault.step == "memory"
    ]
    if left_out := state.parsed.comments_left_out:
        notes.append(f"The thread is long: {left_out:,} older comments of other people were not read.")
    notes += [f"An attachment was not read: {one.problem}." for one in state.issue.attachments if one.problem]
    notes += [
        f"The {fault.step.replace('_', ' ')}'s tool {fault.name} failed: {fault.error}."
        for fault in faults
        if _is_failed_tool(fault)
    ]
    notes += [f"A limit decided: {decision.reason}." for decision in state.planner_decisions if decision.forced]
    notes += _list_degradation_notes(state)
    notes += list_skill_notes(state, services)
    if services.engine == "rules":
        notes.append("No language model was used: every answer is by rules.")
    if services.web_tools is None:
        notes.append("Web search is off: see the inputs `web-search` and `tavily-api-key`.")
    return list(dict.fromkeys(notes))


def _list_index_notes(state: BugTriageState, *, in_job: bool) -> list[str]:
    index = state.index
    if index is None:
        return ["The repository was not indexed: only the issue's text was used."]
    if index.files == 0:
        hint = ["Is there an `actions/checkout` step before this one?"] if in_job else []
        return [*(index.notes or ["No source files were found in this folder."]), *hint]
    partial = ["Part of the repository was not indexed."] if index.partial else []
    shallow = [_SHALLOW] if index.shallow else []
    return [*partial, *index.notes, *shallow]


def _list_degradation_notes(state: BugTriageState) -> list[str]:
    notes: list[str] = []
    for level, what in (("rules", "answered by rules"), ("fast model", "went to the fast model")):
        names = [
            name for decision in state.planner_decisions if decision.budget_level == level for name in decision.selected
        ]
        names = [name for name in names if level == "rules" or name not in FAST_MODEL_AGENTS]
        if names:
            agents = ", ".join(name.replace("_", " ") for name in dict.fromkeys(names))
            notes.append(f"The budget ran low: {agents} {what}.")
    return notes


def _describe_step(fault: Fault) -> str:
    agent = fault.step.replace("_", " ").capitalize()
    if fault.part == "shortfall":
        return (
            f"{agent}: {fault.error}."
            if fault.replacement == NO_REPLACEMENT
            else f"{agent}: {fault.error}; {fault.replacement}."
        )
    return f"{agent}: {fault.error}{_REPLACEMENTS.get(fault.replacement, '')}."


def collect_faults(steps: Sequence[StepRecord]) -> list[Fault]:
    """Return all faults, in the order of the records that hold them; what led to a step's failure stands before it."""
    return [fault for number, record in enumerate(steps, 1) for fault in _list_faults(record, steps[number:])]


def _find_replacement(record: StepRecord, following: Sequence[StepRecord]) -> str:
    """Return what took the place of a failed step, from the steps that follow it; `nothing` when nothing did."""
    if record.outcome is Outcome.SUCCESS:
        return NO_REPLACEMENT
    again = [other for other in following if other.step == record.step and other.round == record.round]
    answered = next((other for other in again if other.outcome is Outcome.SUCCESS), None)
    if answered is None:
        return NO_REPLACEMENT
    return "rules answered" if answered.engine == "rules" else "another model answered"


def _list_faults(record: StepRecord, following: Sequence[StepRecord]) -> Iterator[Fault]:
    replacement = _find_replacement(record, following)
    for number, call in enumerate(record.calls, 1):
        if call.outcome is not Outcome.SUCCESS:
            answered = any(other.outcome is Outcome.SUCCESS for other in record.calls[number:])
            found = "another request was answered" if answered else replacement
            yield _make_fault(record, "model call", call.model, call, found)
    for tool in record.tools:
        if tool.outcome is not Outcome.SUCCESS:
            found = "the agent went on without it" if record.outcome is Outcome.SUCCESS else replacement
            yield _make_fault(record, "tool", tool.tool, tool, found)
    for shortfall in record.shortfalls:
        error, _, found = shortfall.rpartition("; ")
        failed = record.model_copy(update={"outcome": Outcome.FAILED, "error": error or shortfall})
        yield _make_fault(record, "shortfall", record.step, failed, found if error else NO_REPLACEMENT)
    if record.outcome is not Outcome.SUCCESS:
        part: Part = "gate" if record.is_refused else "step"
        yield _make_fault(record, part, record.step, record, replacement)


def _make_fault(
    record: StepRecord, part: Part, name: str, failed: StepRecord | ModelCall | ToolExecution, replacement: str
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
        replacement=replacement,
    )
