"""The measures, in the table's order: what may not happen first, then what must."""

from trust.measure import Measure
from trust.measures import (
    canaries,
    cancel,
    checkouts,
    effects,
    environments,
    events,
    faults,
    flood,
    hidden,
    idempotence,
    log,
    markdown,
    schedules,
    stages,
)

MEASURES: list[Measure] = [
    effects.MEASURE,
    canaries.MEASURE,
    hidden.MEASURE,
    markdown.MEASURE,
    log.MEASURE,
    stages.MEASURE,
    idempotence.MEASURE,
    schedules.MEASURE,
    cancel.MEASURE,
    events.MEASURE,
    faults.MEASURE,
    checkouts.MEASURE,
    environments.MEASURE,
    flood.MEASURE,
]
