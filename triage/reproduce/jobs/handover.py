"""What the jobs hand over in files: `select` what is to be run, `run` what happened. Each is read as a stranger's."""

from collections.abc import Mapping
from hashlib import sha256
from typing import TypeVar

from pydantic import Field, ValidationError

from triage.base.errors import BadInput
from triage.domain.value import Value
from triage.reproduce.evidence import Evidence, Selection
from triage.reproduce.verdict import decide_verdict

MAX_FILE_BYTES = 8_000_000
MAX_RESULTS_BYTES = 7_000_000
"""Of the file with the results: secrets are replaced later, by longer text."""
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


def parse_orders(data: bytes | None, digest: str) -> list[Order]:
    """Return what was selected. Raises BadInput for a file with another SHA-256: the job `run` may have replaced it."""
    if data is not None and sha256(data).hexdigest() != digest:
        raise BadInput(
            "The selection is not that of the job with task: reproduce-select. Pass its output reproduce-selection on."
        )
    return parse_file(Orders, data).orders


def join_results(found: Mapping[int, Evidence]) -> tuple[str, list[int]]:
    """Return the file with the results, and the issues whose results are too large for it.

    What was executed is in it for the last version alone, which the comment and the ranking take.
    """
    results = [Result(number=number, evidence=_shorten(evidence)) for number, evidence in found.items()]
    results.sort(key=lambda one: len(one.model_dump_json()))
    left_out: list[int] = []
    while len((text := Results(results=results).model_dump_json()).encode()) > MAX_RESULTS_BYTES:
        left_out.append(results.pop().number)
    return text, left_out


def _shorten(evidence: Evidence) -> Evidence:
    *earlier, last = evidence.runs
    return evidence.model_copy(update={"runs": [*(run.model_copy(update={"executed": []}) for run in earlier), last]})


def accept_evidence(selection: Selection | None, evidence: Evidence | None) -> Evidence | None:
    """Return the evidence with the verdict that its runs have; None if it names other versions than the selection.

    Whoever breaks out of the container of the job `run` writes this file.
    """
    if selection is None or evidence is None:
        return None
    *selected, newest = [(target and (target.on, target.commit)) for target in (*selection.targets, selection.newest)]
    changes = filter(None, (evidence.first_bad, evidence.first_good))
    named = {name for change in changes for name in (change.release, change.before, *change.gap)}
    if [(run.on, run.commit) for run in evidence.runs] not in (selected, [*selected, newest]):
        return None
    if not named <= {"", *selection.releases}:
        return None
    verdict = decide_verdict(selection, evidence.runs, evidence.measure)
    return evidence.model_copy(update={"verdict": verdict})
