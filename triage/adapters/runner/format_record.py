"""Steps and tools in words, for the log and the terminal alike."""

from triage.domain.run import StepRecord, ToolExecution


def format_elapsed(seconds: float) -> str:
    """Minutes and seconds since the start, such as `01:05`."""
    whole = max(int(seconds), 0)
    return f"{whole // 60:02d}:{whole % 60:02d}"


def format_record(record: StepRecord | ToolExecution) -> str:
    """How a step or a tool call ended: outcome, seconds, tokens, dollars. Counts and our own words only."""
    ending = record.outcome.lower().replace("_", " ")
    if isinstance(record, ToolExecution):
        parts, reasons = [f"{record.tool} {ending} in {record.ms / 1000:.1f} s"], [record.error]
    else:
        parts = [f"{record.step} {ending} in {record.seconds:.1f} s", *_format_usage(record)]
        reasons = [record.error, *record.shortfalls]
    named = "; ".join(reason for reason in reasons if reason)
    return ", ".join(parts) + (f": {named}" if named else "")


def _format_usage(record: StepRecord) -> list[str]:
    if record.engine == "rules":
        return ["by rules"]
    usage, requests = record.usage, len(record.calls)
    told = []
    if usage.tokens or requests > 1:
        told.append(f"{usage.tokens:,} tokens" + (f" in {requests} requests" if requests > 1 else ""))
        told.append("cost unknown" if usage.usd is None else f"${usage.usd:.4f}")
    return [*told, f"by {record.model or 'model'}"]
