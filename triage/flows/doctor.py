"""What is configured, what can be reached, what is missing."""

from collections.abc import Callable, Sequence
from typing import Literal

from triage.domain.value import Value
from triage.errors import TriageError


class Check(Value):
    """One line of the doctor. `missing` is a choice one may have made; `broken` does not work as configured."""

    name: str
    state: Literal["ok", "missing", "broken"]
    detail: str


Probe = Callable[[], Check]


def run_checks(probes: Sequence[tuple[str, Probe]]) -> list[Check]:
    """Run every probe; one that fails is a check that is broken."""
    return [_run_probe(what, probe) for what, probe in probes]


def _run_probe(what: str, probe: Probe) -> Check:
    try:
        return probe()
    except TriageError as error:
        return Check(name=what, state="broken", detail=str(error))
