"""What the jobs hand over in files: `select` what is to be run, `run` what happened. Each is read as a stranger's."""

from typing import TypeVar

from pydantic import Field, ValidationError

from triage.base.errors import BadInput
from triage.domain.value import Value
from triage.reproduce.evidence import Evidence, Selection
from triage.reproduce.verdict import decide_verdict

MAX_FILE_BYTES = 8_000_000
MAX_ORDERS = 20
"""Issues whose examples are run again in one week."""
SELECTION, EVIDENCE = "selection.json", "evidence.json"
T = TypeVar("T", bound=Value)


class Order(Value):
    """What is to be run for one issue, or why nothing is."""

    number: int = Field(ge=1)
    selection: Selection | None = None
    refusal: str = Field("", max_length=1_000)
    """The end of a sentence."""
    is_own: bool = False
    """The example stands in the command, not in the report."""


class Orders(Value):
    orders: list[Order] = Field(default_factory=list, max_length=MAX_ORDERS)


class Result(Value):
    number: int = Field(ge=1)
    evidence: Evidence


class Results(Value):
    results: list[Result] = Field(default_factory=list, max_length=MAX_ORDERS)


def parse_file(kind: type[T], data: bytes | None) -> T:
    """Return what a job wrote; an empty value without a file. Raises BadInput for anything else."""
    if data is None:
        return kind()
    try:
        if len(data) > MAX_FILE_BYTES:
            raise ValueError
        return kind.model_validate_json(data)
    except (ValueError, ValidationError, RecursionError):
        raise BadInput("The file of the job before cannot be read. Use the artifact that it uploads.") from None


def accept_evidence(selection: Selection | None, evidence: Evidence | None) -> Evidence | None:
    """Return the evidence with the verdict that its runs have; None if it is about other versions than the selection.

    Whoever breaks out of the container of the job `run` writes this file.
    """
    if selection is None or evidence is None:
        return None
    selected = [*selection.targets, *([selection.newest] if selection.newest else [])]
    known = {(target.on, target.commit) for target in selected}
    ran = [(run.on, run.commit) for run in evidence.runs]
    if not ran or not known.issuperset(ran) or ran[0] != (selected[0].on, selected[0].commit):
        return None
    verdict = decide_verdict(selection, evidence.runs, evidence.measure)
    return evidence.model_copy(update={"verdict": verdict})
