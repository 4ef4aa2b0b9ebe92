"""What the rest of the triage learns from a run: the code that the example executed, and what fails where."""

import re
from collections.abc import Callable

from triage.domain.code import ExecutedCode
from triage.domain.issue import Frame
from triage.reproduce.evidence import Evidence
from triage.reproduce.expected import stem
from triage.say.hidden_state import hash_failure

_QUOTED = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"|`[^`\n]*`")


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


def find_failure(evidence: Evidence, find_path: Callable[[str], str]) -> str:
    """Return a hash of the reported error on the default branch: its type, its words without values, file and function.

    Empty if another error is raised, or the function is not known. The words count because many examples end in one
    function that checks what it gets.
    """
    run = evidence.runs[-1]
    path = find_path(run.place.path) if run.place and evidence.measure == "error" and run.same_failure else ""
    if run.place is None or not path:
        return ""
    kind, _, message = run.error.partition(": ")
    return hash_failure(kind, stem(_QUOTED.sub("", message)), path, run.place.function.rpartition(".")[2])
