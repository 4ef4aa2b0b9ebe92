"""All measures in the order of the table: first what must not happen, then what must."""

from trust.measure import Measure
from trust.measures import (
    approvals,
    attachments,
    canaries,
    cancellation,
    checkouts,
    comment_faults,
    effects,
    environments,
    faults,
    hidden_text,
    log_commands,
    markdown,
    model_run_cap,
    proposal_writes,
    stranger_examples,
    text_cost,
    text_memory,
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
    comment_faults.MEASURE,
    cancellation.MEASURE,
    webhooks.MEASURE,
    faults.MEASURE,
    text_memory.MEASURE,
    checkouts.MEASURE,
    stranger_examples.MEASURE,
    attachments.MEASURE,
    environments.MEASURE,
    model_run_cap.MEASURE,
]
