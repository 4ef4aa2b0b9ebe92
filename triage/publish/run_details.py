"""How a run went, for the job's page: the picture, the steps, and folded what was decided, asked and amiss."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from triage.domain.report import RunReport
from triage.domain.run import ModelCall, StepName, ToolExecution, Usage
from triage.publish import wording
from triage.publish.run_stages import split_into_stages
from triage.publish.sections import Fold
from triage.publish.template import render_block

MAX_ROWS = 100
"""Of any table; the JSON report holds the rest."""


@dataclass(frozen=True)
class RequestRow:
    """A request to a model, or a tool's call."""

    at: float
    """Seconds since the run's start; negative for what an interrupted run had asked."""
    step: StepName
    asked: str
    how: str
    seconds: float
    usage: Usage | None
    outcome: str


def build_detail_folds(report: RunReport, picture: str) -> Iterator[Fold]:
    """What is seen at once, then what opens on a click."""
    asked = sorted(_list_requests(report), key=lambda row: row.at)
    yield Fold("What ran", render_block("audit", "ran", summarize_run(report), picture), is_open=True)
    yield Fold(_summarize_usage(report), _render_table("steps", report.steps))
    faults = wording.format_count(len(report.faults), "fault")
    yield Fold(f"{faults}, and what was done instead", _render_table("faults", report.faults))
    yield Fold(_summarize_decisions(report), _render_table("decisions", report.decisions))
    yield Fold(f"{_summarize_requests(report)}, one by one", _render_table("asked", asked))
    yield Fold("What was indexed", render_block("audit", "index", report.index) if report.index else "")


def _render_table(macro: str, rows: Sequence[object]) -> str:
    """A table's rows, as far as anybody reads them; empty without any."""
    if not rows:
        return ""
    cut = (
        f"\n\nThe first {MAX_ROWS} of {len(rows):,}: the rest stands in the JSON report."
        if len(rows) > MAX_ROWS
        else ""
    )
    return render_block("audit", macro, rows[:MAX_ROWS]) + cut


def summarize_run(report: RunReport) -> str:
    """Who decided, and how much was asked, in a sentence."""
    total = len(report.decisions)
    by_model = sum(decision.origin == "model" for decision in report.decisions)
    if not total:
        return "Nobody decided anything: the run ended before that."
    who = " by a model" if by_model == total else f", {by_model} of them by a model" if by_model else " by rules"
    rounds = max(stage.round for stage in split_into_stages(report))
    facts = [
        wording.format_count(total, "decision") + who,
        _count_refused(report),
        wording.format_count(rounds, "round") if rounds > 1 else "",
        _summarize_requests(report),
        wording.format_count(len(report.faults), "fault") if report.faults else "",
    ]
    return "; ".join(fact for fact in facts if fact) + "."


def _count_refused(report: RunReport) -> str:
    refused = sum(bool(decision.refused) for decision in report.decisions)
    return f"{wording.format_count(refused, 'proposal')} not taken" if refused else ""


def _summarize_usage(report: RunReport) -> str:
    """What the steps took, beside what they might have taken."""
    used, limits = report.usage, report.limits
    told = [f"{wording.format_count(len(report.steps), 'step')}: {report.seconds:.1f} of {limits.run_seconds:.0f} s"]
    if used.calls or used.tokens:
        price = "price unknown"
        if used.usd is not None:
            price = f"{wording.format_dollars(used.usd)} of {wording.format_dollars(limits.usd)} US dollars"
        told += [f"{used.tokens:,} of {limits.tokens:,} tokens", price]
    return ", ".join(told)


def _summarize_decisions(report: RunReport) -> str:
    refused = _count_refused(report)
    decided = f"{wording.format_count(len(report.decisions), 'decision')} of at most {report.limits.iterations}"
    return f"{decided}, {refused}" if refused else decided


def _summarize_requests(report: RunReport) -> str:
    calls = [call for step in report.steps for call in step.calls]
    kept = sum(call.replayed for call in calls)
    tools = sum(len(step.tools) for step in report.steps)
    counts = [
        wording.format_count(len(calls) - kept, "request") + " to models" if len(calls) > kept else "",
        wording.format_count(kept, "answer") + " kept from an interrupted run" if kept else "",
        wording.format_count(tools, "tool call") if tools else "",
    ]
    return ", ".join(count for count in counts if count)


def _list_requests(report: RunReport) -> Iterator[RequestRow]:
    for step in report.steps:
        for call in step.calls:
            at = _seconds_since_start(report, call.started_at)
            yield RequestRow(
                at, step.step, call.model, call.mode, call.ms / 1000, call.usage, _describe_call_outcome(call)
            )
        for tool in step.tools:
            how = " → ".join(part for part in (tool.input_summary, tool.output_summary) if part)
            at = _seconds_since_start(report, tool.started_at)
            yield RequestRow(at, step.step, tool.tool, how, tool.ms / 1000, None, _describe_outcome(tool))


def _seconds_since_start(report: RunReport, moment: datetime) -> float:
    return (moment - report.started_at).total_seconds()


def _describe_call_outcome(call: ModelCall) -> str:
    return "kept from an interrupted run, not asked again" if call.replayed else _describe_outcome(call)


def _describe_outcome(one: ModelCall | ToolExecution) -> str:
    word = wording.OUTCOMES[one.outcome]
    return f"{word}: {one.error}" if one.error else word
