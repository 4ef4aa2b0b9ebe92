"""Decides what a batch still has to do and may still spend, from the records of its file.

The caps of the backlog are split by number of issues, so that jobs that run at the same time cannot exceed them
together. A triage that began and has no end, because the process was killed, counts with all that it could take.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from triage.backlog.backlog import BacklogPlan, BatchRecord, Caps
from triage.domain.run import Limits, Usage

MAX_STARTS = 2
"""Of one triage without an end. An issue that ends the process twice would do so for ever."""
GAVE_UP = "Its triage did not end, twice: the job was killed, or it ran out of memory."
MIN_TOKENS = 1_000
"""With fewer left, no model is asked."""


@dataclass(frozen=True)
class BatchProgress:
    finished: frozenset[int]
    """Issues that stay as they are."""
    crashed: tuple[int, ...]
    """Issues that are not tried again."""
    left: Caps
    """What the batch may still spend."""


def measure_progress(plan: BacklogPlan, batch: int, records: Sequence[BatchRecord]) -> BatchProgress:
    """Returns the progress of a batch, which counts from 1."""
    finished = {record.number for record in records if record.reserved is None and record.is_final}
    starts = {number: len(caps) for number, caps in _find_open_starts(records).items()}
    crashed = [
        number for number in plan.batches[batch - 1] if starts.get(number, 0) >= MAX_STARTS and number not in finished
    ]
    return BatchProgress(
        frozenset(finished), tuple(crashed), subtract_caps(share_caps(plan, batch), sum_spent(records))
    )


def _find_open_starts(records: Sequence[BatchRecord]) -> dict[int, list[Caps]]:
    """Returns what was reserved by triages without an end, by issue."""
    starts: dict[int, list[Caps]] = {}
    for record in records:
        if record.reserved is not None:
            starts.setdefault(record.number, []).append(record.reserved)
        elif starts.get(record.number):
            starts[record.number].pop()
    return starts


def sum_spent(records: Sequence[BatchRecord]) -> Caps:
    """Returns what a batch has spent, with everything that triages without an end could take."""
    reserved = [caps for starts in _find_open_starts(records).values() for caps in starts]
    taken = [*(record.spent for record in records if record.spent), *reserved]
    return Caps(usd=sum(caps.usd for caps in taken), tokens=sum(caps.tokens for caps in taken))


def subtract_caps(caps: Caps, taken: Caps) -> Caps:
    return Caps(usd=max(0.0, caps.usd - taken.usd), tokens=max(0, caps.tokens - taken.tokens))


def share_caps(plan: BacklogPlan, batch: int) -> Caps:
    """Returns the part of the backlog's caps for one batch. All parts together are at most the caps."""
    size, total = len(plan.batches[batch - 1]), plan.issue_count
    return Caps(usd=plan.caps.usd * size / total, tokens=plan.caps.tokens * size // total)


def limit_run(limits: Limits, left: Caps) -> Caps:
    """Returns what the next triage may take: the caps of one run, or what the batch has left. Zero: no model."""
    usd, tokens = min(limits.usd, left.usd), min(limits.tokens, left.tokens)
    return Caps(usd=usd, tokens=tokens) if usd > 0 and tokens >= MIN_TOKENS else Caps(usd=0, tokens=0)


def to_caps(usage: Usage) -> Caps:
    return Caps(usd=usage.priced_usd, tokens=usage.tokens)
