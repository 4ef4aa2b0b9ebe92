"""Records a finished run as OpenTelemetry metrics: names of agents, tools and models, counts and times only."""

from dataclasses import dataclass

from opentelemetry.metrics import Counter, Histogram, Meter
from opentelemetry.sdk import metrics as sdk
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import AggregationTemporality, InMemoryMetricReader, MetricsData
from opentelemetry.sdk.resources import Resource

from triage.domain.report import RunReport
from triage.domain.run import ModelCall, StepRecord
from triage.output.telemetry.spans import (
    PROVIDER_NAME,
    SCOPE,
    WORKFLOW_NAME,
    Attributes,
    drop_missing,
    error_type,
    operation_name,
)


@dataclass(frozen=True)
class _Metric:
    name: str
    unit: str
    description: str
    bounds: tuple[float, ...] = ()
    """Upper bounds of a histogram's buckets; those of `gen_ai.` metrics come from OpenTelemetry's conventions.
    A counter has none."""


_SHORT_BOUNDS = tuple(0.01 * 2**power for power in range(14))
"""10 ms to 82 s."""

RUNS = _Metric("triage.runs", "{run}", "Runs that ended in a report, by status and severity.")
DECISIONS = _Metric("triage.decisions", "{decision}", "The supervisor's choices, by agent and origin.")
ITERATIONS = _Metric(
    "triage.iterations",
    "{iteration}",
    "Decisions of the supervisor in a run.",
    (1, 2, 4, 6, 8, 10, 12, 25, 100),
)
COST = _Metric(
    "triage.cost",
    "{USD}",
    "US dollars of a run; not recorded when the price of a model is unknown.",
    (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10),
)
RUN_SECONDS = _Metric(
    "gen_ai.workflow.duration", "s", "GenAI workflow duration.", (1, 5, 10, 30, 60, 120, 300, 600, 1800)
)
AGENT_SECONDS = _Metric(
    "gen_ai.invoke_agent.duration",
    "s",
    "Duration of a single agent invocation.",
    tuple(0.1 * 2**power for power in range(13)),
)
TOOL_SECONDS = _Metric("gen_ai.execute_tool.duration", "s", "Duration of a single tool execution.", _SHORT_BOUNDS)
CALL_SECONDS = _Metric("gen_ai.client.operation.duration", "s", "GenAI operation duration.", _SHORT_BOUNDS)
TOKENS = _Metric(
    "gen_ai.client.token.usage",
    "{token}",
    "Number of input and output tokens used.",
    tuple(4**power for power in range(14)),
)


def record_metrics(report: RunReport, resource: Resource, *, delta: bool) -> MetricsData:
    """Returns the metrics of a run, as differences instead of totals if `delta`."""
    temporality = AggregationTemporality.DELTA if delta else AggregationTemporality.CUMULATIVE
    reader = InMemoryMetricReader({sdk.Counter: temporality, sdk.Histogram: temporality})
    provider = MeterProvider([reader], resource, shutdown_on_exit=False)
    recorder = _Recorder(provider.get_meter(SCOPE, report.triage_version))
    recorder.record_run(report)
    for step in report.steps:
        recorder.record_step(step)
    data = reader.get_metrics_data()
    assert data is not None, "every run is counted"
    return data


class _Recorder:
    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        self._instruments: dict[str, Counter | Histogram] = {}

    def record_run(self, report: RunReport) -> None:
        result: Attributes = {
            "triage.status": report.status.value,
            "triage.engine": report.engine,
            "triage.severity": report.severity,
        }
        self._record(RUNS, 1, {**result, "triage.kind": report.kind, "triage.cut": bool(report.ended_early)})
        self._record(RUN_SECONDS, report.seconds, {**result, "gen_ai.workflow.name": WORKFLOW_NAME})
        self._record(ITERATIONS, len(report.decisions), {"triage.status": report.status.value})
        if report.usage.usd is not None:
            self._record(COST, report.usage.usd, {"triage.engine": report.engine})
        for decision in report.decisions:
            for agent in decision.selected:
                attributes: Attributes = {
                    "gen_ai.agent.name": agent,
                    "triage.origin": decision.origin,
                    "triage.forced": decision.forced,
                }
                self._record(DECISIONS, 1, attributes)

    def record_step(self, step: StepRecord) -> None:
        if not step.is_lookup:
            step_result = {
                "gen_ai.agent.name": step.step,
                "triage.engine": step.engine,
                "triage.outcome": step.outcome.value,
                "error.type": error_type(step),
            }
            self._record(AGENT_SECONDS, step.seconds, step_result)
        for tool in step.tools:
            tool_result = {
                "gen_ai.tool.name": tool.tool,
                "gen_ai.agent.name": step.step,
                "triage.outcome": tool.outcome.value,
                "error.type": error_type(tool),
            }
            self._record(TOOL_SECONDS, tool.ms / 1000, tool_result)
        for call in step.calls:
            self._record_call(call)

    def _record_call(self, call: ModelCall) -> None:
        request = {
            "gen_ai.operation.name": operation_name(call),
            "gen_ai.provider.name": PROVIDER_NAME,
            "gen_ai.request.model": call.model,
        }
        self._record(CALL_SECONDS, call.ms / 1000, {**request, "error.type": error_type(call)})
        if call.usage.calls:
            self._record(TOKENS, call.usage.input_tokens, {**request, "gen_ai.token.type": "input"})
            self._record(TOKENS, call.usage.output_tokens, {**request, "gen_ai.token.type": "output"})

    def _record(self, metric: _Metric, value: float, attributes: Attributes) -> None:
        instrument = self._instruments.get(metric.name) or self._create(metric)
        if isinstance(instrument, Counter):
            instrument.add(value, drop_missing(attributes))
        else:
            instrument.record(value, drop_missing(attributes))

    def _create(self, metric: _Metric) -> Counter | Histogram:
        instrument: Counter | Histogram
        if not metric.bounds:
            instrument = self._meter.create_counter(metric.name, metric.unit, metric.description)
        else:
            instrument = self._meter.create_histogram(
                metric.name, metric.unit, metric.description, explicit_bucket_boundaries_advisory=metric.bounds
            )
        self._instruments[metric.name] = instrument
        return instrument
