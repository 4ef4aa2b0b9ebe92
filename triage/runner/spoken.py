"""Steps and tools in words, for the log and the terminal alike."""

from triage.domain.run import StepRecord, ToolExecution


def elapsed(seconds: float) -> str:
    """Minutes and seconds since the start, such as `01:05`."""
    whole = max(int(seconds), 0)
    return f"{whole // 60:02d}:{whole % 60:02d}"


def told(record: StepRecord | ToolExecution) -> str:
    """How a step or a tool call ended: outcome, seconds, tokens, dollars. Counts and our own words only."""
    if isinstance(record, ToolExecution):
        parts = [f"{record.tool} {record.outcome.lower()} in {record.ms / 1000:.1f} s"]
    else:
        parts = [f"{record.step} {record.outcome.lower()} in {record.seconds:.1f} s", *_spent(record)]
    return ", ".join(parts) + (f": {record.error}" if record.error else "")


def _spent(record: StepRecord) -> list[str]:
    if record.engine == "rules":
        return ["by rules"]
    usage = record.usage
    price = "cost unknown" if usage.usd is None else f"${usage.usd:.4f}"
    return [f"{usage.tokens:,} tokens", price, f"by {record.model or 'model'}"]
