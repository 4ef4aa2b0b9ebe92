"""What the rest of the triage learns from a run: the repository's code that the example executed."""

from collections.abc import Callable

from triage.domain.code import ExecutedCode, ExecutedFunction
from triage.domain.issue import Frame
from triage.reproduce.evidence import Evidence


def find_executed_code(evidence: Evidence, find_path: Callable[[str], str]) -> ExecutedCode | None:
    """Return what the last version executed that could be run; None without one.

    `find_path` returns the repository's file that an installed file came from; empty if it is not known.
    """
    run = next((run for run in reversed(evidence.runs) if run.executed), None)
    if run is None:
        return None
    place = run.place and Frame(path=find_path(run.place.path), line=run.place.line, function=run.place.function)
    functions = [
        ExecutedFunction(path=path, line=one.line, function=one.function, is_by_last=one.is_by_last)
        for one in run.executed
        if (path := find_path(one.path))
    ]
    return ExecutedCode(functions=functions, place=place if place and place.path else None, error=run.error)
