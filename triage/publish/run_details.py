"""How a run went, for the job's page: the picture, the steps, and folded what was decided, asked and amiss."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from triage.domain.report import RunReport
from triage.domain.run import ModelCall, StepName, ToolExecution, Usage
from triage.publish import wording
from triage.publish.run_stages import stages
from triage.publish.sections import Fold
from triage.publish.template import block

MAX_ROWS = 100
"""Of any table; the JSON report holds the rest."""


@dataclass(frozen=True)
class Asked:
    """A request to a model, or a tool's call."""

    at: float
    """Seconds since the run's start; negative for what an interrupted run had asked."""
    step: StepName
    asked: str
    how: str
    seconds: float
    usage: Usage | None
    outcome: str


def folds(report: RunReport, picture: str) -> Iterator[Fold]:
    """What is seen at once, then what opens on a click."""
    asked = sorted(_asked(report), key=lambda row: row.at)
    yield Fold("What ran", block("audit", "ran", headline(report), picture), opened=True)
    yield Fold(_spent(report), _table("steps", report.steps))
    faults = wording.counted(len(report.faults), "fault")
    yield Fold(f"{faults}, and what was done instead", _table("faults", report.faults))
    yield Fold(_decided(report), _table("decisions", report.decisions))
    yield Fold(f"{_requests(report)}, one by one", _table("asked", asked))
    yield Fold("What was indexed", block("audit", "index", report.index) if report.index else "")


def _table(macro: str, rows: Sequence[object]) -> str:
    """A table's rows, as far as anybody reads them; empty without any."""
    if not rows:
        return ""
    cut = (
        f"\n\nThe first {MAX_ROWS} of {len(rows):,}: the rest stands in the JSON report."
        if len(rows) > MAX_ROWS
        else ""
    )
    return block("audit", macro, rows[:MAX_ROWS]) + cut


def headline(report: RunReport) -> str:
    """Who decided, and how much was asked, in a sentence."""
    total = len(report.decisions)
    by_model = sum(decision.origin == "model" for decision in report.decisions)
    if not total:
        return "Nobody decided anything: the run ended before that."
    who = " by a model" if by_model == total else f", {by_model} of them by a model" if by_model else " by rules"
    rounds = max(stage.round for stage in stages(report))
    facts = [
        wording.counted(total, "decision") + who,
        _not_taken(report),
        wording.counted(rounds, "round") if rounds > 1 else "",
        _requests(report),
        wording.counted(len(report.faults), "fault") if report.faults else "",
    ]
    return "; ".join(fact for fact in facts if fact) + "."


def _not_taken(report: RunReport) -> str:
    refused = sum(bool(decision.refused) for decision in report.decisions)
    return f"{wording.counted(refused, 'proposal')} not taken" if refused else ""


def _spent(report: RunReport) -> str:
    """What the steps took, beside what they might have taken."""
    used, limits = report.usage, report.limits
    told = [f"{wording.counted(len(report.steps), 'step')}: {report.seconds:.1f} of {limits.run_seconds:.0f} s"]
    if used.calls or used.tokens:
        price = "price unknown"
        if used.usd is not None:
            price = f"{wording.dollars(used.usd)} of {wording.dollars(limits.usd)} US dollars"
        told += [f"{used.tokens:,} of {limits.tokens:,} tokens", price]
    return ", ".join(told)


def _decided(report: RunReport) -> str:
    refused = _not_taken(report)
    decided = f"{wording.counted(len(report.decisions), 'decision')} of at most {report.limits.iterations}"
    return f"{decided}, {refused}" if refused else decided


def _requests(report: RunReport) -> str:
    calls = [call for step in report.steps for call in step.calls]
    kept = sum(call.replayed for call in calls)
    tools = sum(len(step.tools) for step in report.steps)
    counts = [
        wording.counted(len(calls) - kept, "request") + " to models" if len(calls) > kept else "",
        wording.counted(kept, "answer") + " kept from an interrupted run" if kept else "",
        wording.counted(tools, "tool call") if tools else "",
    ]
    return ", ".join(count for count in counts if count)


def _asked(report: RunReport) -> Iterator[Asked]:
    for step in report.steps:
        for call in step.calls:
            at = _since(report, call.started_at)
            yield Asked(at, step.step, call.model, call.mode, call.ms / 1000, call.usage, _call_ended(call))
        for tool in step.tools:
            how = " → ".join(part for part in (tool.input_summary, tool.output_summary) if part)
            at = _since(report, tool.started_at)
            yield Asked(at, step.step, tool.tool, how, tool.ms / 1000, None, _ended(tool))


def _since(report: RunReport, moment: datetime) -> float:
    return (moment - report.started_at).total_seconds()


def _call_ended(call: ModelCall) -> str:
    return "kept from an interrupted run, not asked again" if call.replayed else _ended(call)


def _ended(one: ModelCall | ToolExecution) -> str:
    word = wording.OUTCOMES[one.outcome]
    return f"{word}: {one.error}" if one.error else word
