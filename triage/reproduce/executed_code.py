"""What the rest of the triage learns from a run: the repository's code that the example executed."""

from collections.abc import Callable

from triage.domain.code import ExecutedCode
from triage.domain.issue import Frame
from triage.reproduce.evidence import Evidence


def find_executed_code(evidence: Evidence, find_path: Callable[[str], str]) -> ExecutedCode | None:
    """Return what the last version executed that could be run; None without one.

    `find_path` returns the repository's file that an installed file came from; empty if it is not known.
    """
    run = next((run for run in reversed(evidence.runs) if run.executed), None)
    if run is None:
        return None
    shown = run.place if run.same_failure and find_path(run.place.path if run.place else "") else None
    place = shown and Frame(path=find_path(shown.path), line=shown.line, function=shown.function)
    functions = [
        Frame(path=path, line=one.line, function=one.function) for one in run.executed if (path := find_path(one.path))
    ]
    return ExecutedCode(functions=functions, place=place, error=run.error if place else "")
