"""What the jobs hand over in files of one format: `select` what is to be run, `run` what happened.

Each is read as a stranger's.
"""

from collections.abc import Mapping
from hashlib import sha256

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


class Order(Value):
    """What is to be run for one issue, or why nothing is; from the job `run` what happened, alone."""

    number: int = Field(ge=1)
    selection: Selection | None = None
    refusal: str = Field("", max_length=1_000)
    """The end of a sentence."""
    is_own: bool = False
    """The example stands in the command, not in the report."""
    evidence: Evidence | None = None


class Orders(Value):
    orders: list[Order] = Field(default_factory=list, max_length=MAX_ORDERS)


def parse_orders(data: bytes | None, digest: str | None = None) -> list[Order]:
    """Return what a job wrote; nothing without a file.

    Raises BadInput for anything else, and for a file with another SHA-256 than `digest`: the job `run` may have
    replaced it.
    """
    if data is None:
        return []
    if digest is not None and sha256(data).hexdigest() != digest:
        raise BadInput(
            "The selection is not that of the job with task: reproduce-select. Pass its output reproduce-selection on."
        )
    try:
        if len(data) > MAX_FILE_BYTES:
            raise ValueError
        return Orders.model_validate_json(data).orders
    except (ValueError, ValidationError, RecursionError):
        raise BadInput("The file of the job before cannot be read. Use the artifact that it uploads.") from None


def dump_results(found: Mapping[int, Evidence]) -> tuple[str, list[int]]:
    """Return the file with the results, and the issues whose results are too large for it.

    What was executed is in it for the last version alone, which the comment and the ranking take.
    """
    orders: list[Order] = []
    for number, evidence in found.items():
        *earlier, last = evidence.runs
        runs = [*(run.model_copy(update={"executed": []}) for run in earlier), last]
        orders.append(Order(number=number, evidence=evidence.model_copy(update={"runs": runs})))
    orders.sort(key=lambda one: len(one.model_dump_json()))
    left_out: list[int] = []
    while len((text := Orders(orders=orders).model_dump_json()).encode()) > MAX_RESULTS_BYTES:
        left_out.append(orders.pop().number)
    return text, left_out


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
