"""All measures in the order of the table: first what must not happen, then what must."""

from trust.measure import Measure
from trust.measures import (
    answer_memory,
    approvals,
    canaries,
    cancellation,
    checkouts,
    comment_faults,
    effects,
    environments,
    faults,
    forged_cache,
    hidden_text,
    log_commands,
    markdown,
    model_run_cap,
    proposal_writes,
    sanitizers,
    text_cost,
    webhooks,
)

MEASURES: list[Measure] = [
    effects.MEASURE,
    approvals.MEASURE,
    proposal_writes.MEASURE,
    canaries.MEASURE,
    hidden_text.MEASURE,
    markdown.MEASURE,
    log_commands.MEASURE,
    text_cost.MEASURE,
    sanitizers.MEASURE,
    comment_faults.MEASURE,
    cancellation.MEASURE,
    webhooks.MEASURE,
    faults.MEASURE,
    answer_memory.MEASURE,
    forged_cache.MEASURE,
    checkouts.MEASURE,
    environments.MEASURE,
    model_run_cap.MEASURE,
]
