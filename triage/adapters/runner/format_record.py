"""Describes finished steps and tools in one line, for logs and the terminal."""

from triage.domain.run import StepRecord, ToolExecution


def format_elapsed(seconds: float) -> str:
    """Returns minutes and seconds, such as `01:05`."""
    whole = max(int(seconds), 0)
    return f"{whole // 60:02d}:{whole % 60:02d}"


def format_record(record: StepRecord | ToolExecution) -> str:
    """Returns how a step or a tool call ended: outcome, seconds, tokens, dollars. Quotes nobody else."""
    outcome = record.outcome.lower().replace("_", " ")
    if isinstance(record, ToolExecution):
        parts, reasons = [f"{record.tool} {outcome} in {record.ms / 1000:.1f} s"], [record.error]
    else:
        parts = [f"{record.step} {outcome} in {record.seconds:.1f} s", *_format_usage(record)]
        reasons = [record.error, *record.shortfalls]
    suffix = "; ".join(reason for reason in reasons if reason)
    return ", ".join(parts) + (f": {suffix}" if suffix else "")


def _format_usage(record: StepRecord) -> list[str]:
    if record.engine == "rules":
        return ["by rules"]
    usage, requests = record.usage, len(record.calls)
    parts = []
    if usage.tokens or requests > 1:
        parts.append(f"{usage.tokens:,} tokens" + (f" in {requests} requests" if requests > 1 else ""))
        parts.append("cost unknown" if usage.usd is None else f"${usage.usd:.4f}")
    return [*parts, f"by {record.model or 'model'}"]
