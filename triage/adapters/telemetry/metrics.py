"""What a finished run adds to the metrics, pure. Names of agents, tools and models, counts and times only."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from triage.adapters.telemetry import attribute_names
from triage.adapters.telemetry.spans import (
    Attributes,
    error_type,
    operation_name,
    own_decisions,
    own_steps,
    to_attributes,
)
from triage.domain.report import RunReport
from triage.domain.run import ModelCall, StepRecord


@dataclass(frozen=True)
class Instrument:
    """One metric."""

    name: str
    kind: Literal["counter", "histogram"]
    unit: str
    description: str
    bounds: tuple[float, ...] = ()
    """Upper ends of a histogram's buckets; those of `gen_ai.` metrics are the conventions'."""


@dataclass(frozen=True)
class Measurement:
    """One number of one metric."""

    instrument: Instrument
    value: int | float
    attributes: Attributes


_SHORT_BOUNDS = tuple(0.01 * 2**power for power in range(14))
"""10 ms to 82 s."""

RUNS = Instrument("triage.runs", "counter", "{run}", "Runs that ended in a report, by status and severity.")
DECISIONS = Instrument("triage.decisions", "counter", "{decision}", "The supervisor's choices, by agent and origin.")
ITERATIONS = Instrument(
    "triage.iterations",
    "histogram",
    "{iteration}",
    "Decisions of the supervisor in a run.",
    (1, 2, 4, 6, 8, 10, 12, 25, 100),
)
COST = Instrument(
    "triage.cost",
    "histogram",
    "{USD}",
    "US dollars of a run; nothing when a model without a known price was asked.",
    (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10),
)
RUN_SECONDS = Instrument(
    "gen_ai.workflow.duration", "histogram", "s", "GenAI workflow duration.", (1, 5, 10, 30, 60, 120, 300, 600, 1800)
)
AGENT_SECONDS = Instrument(
    "gen_ai.invoke_agent.duration",
    "histogram",
    "s",
    "Duration of a single agent invocation.",
    tuple(0.1 * 2**power for power in range(13)),
)
TOOL_SECONDS = Instrument(
    "gen_ai.execute_tool.duration", "histogram", "s", "Duration of a single tool execution.", _SHORT_BOUNDS
)
CALL_SECONDS = Instrument(
    "gen_ai.client.operation.duration", "histogram", "s", "GenAI operation duration.", _SHORT_BOUNDS
)
TOKENS = Instrument(
    "gen_ai.client.token.usage",
    "histogram",
    "{token}",
    "Number of input and output tokens used.",
    tuple(4**power for power in range(14)),
)


def measure_run(report: RunReport) -> list[Measurement]:
    """Everything that a run adds. What an interrupted run did is its own to tell."""
    return [
        *_measure_totals(report),
        *_measure_decisions(report),
        *(m for step in own_steps(report) for m in _measure_step(step)),
    ]


def _measure_totals(report: RunReport) -> Iterator[Measurement]:
    ended = to_attributes(STATUS=report.status.value, ENGINE=report.engine, SEVERITY=report.severity)
    yield Measurement(RUNS, 1, {**ended, **to_attributes(KIND=report.kind, CUT=bool(report.cut))})
    yield Measurement(RUN_SECONDS, report.seconds, {**to_attributes(WORKFLOW=attribute_names.WORKFLOW_NAME), **ended})
    yield Measurement(ITERATIONS, len(report.decisions), to_attributes(STATUS=report.status.value))
    cost = cost_of_this_run(report)
    if cost is not None:
        yield Measurement(COST, cost, to_attributes(ENGINE=report.engine))


def cost_of_this_run(report: RunReport) -> float | None:
    """US dollars that this run spent itself; none when they are not known."""
    own = own_steps(report)
    earlier = [step.usage.usd for step in report.steps if step not in own]
    if report.usage.usd is None or None in earlier:
        return None
    return max(0.0, report.usage.usd - sum(usd for usd in earlier if usd))


def _measure_decisions(report: RunReport) -> Iterator[Measurement]:
    for decision in own_decisions(report):
        for agent in decision.selected:
            yield Measurement(DECISIONS, 1, to_attributes(AGENT=agent, ORIGIN=decision.origin, FORCED=decision.forced))


def _measure_step(step: StepRecord) -> Iterator[Measurement]:
    if step.step != "prepare":
        ended = to_attributes(AGENT=step.step, ENGINE=step.engine, OUTCOME=step.outcome.value, ERROR=error_type(step))
        yield Measurement(AGENT_SECONDS, step.seconds, ended)
    for tool in step.tools:
        ended = to_attributes(TOOL=tool.tool, AGENT=step.step, OUTCOME=tool.outcome.value, ERROR=error_type(tool))
        yield Measurement(TOOL_SECONDS, tool.ms / 1000, ended)
    for call in step.calls:
        if not call.replayed:
            yield from _measure_call(call)


def _measure_call(call: ModelCall) -> Iterator[Measurement]:
    asked = to_attributes(
        OPERATION=operation_name(call), PROVIDER=attribute_names.PROVIDER_NAME, REQUEST_MODEL=call.model
    )
    yield Measurement(CALL_SECONDS, call.ms / 1000, {**asked, **to_attributes(ERROR=error_type(call))})
    if call.usage.calls:
        yield Measurement(TOKENS, call.usage.input_tokens, {**asked, **to_attributes(DIRECTION="input")})
        yield Measurement(TOKENS, call.usage.output_tokens, {**asked, **to_attributes(DIRECTION="output")})
