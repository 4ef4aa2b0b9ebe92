"""Our spans and measurements as the SDK's own, with the times that they had."""

from collections.abc import Iterable, Sequence
from uuid import UUID

from opentelemetry.context import Context
from opentelemetry.metrics import Counter, Histogram, Meter
from opentelemetry.sdk import metrics as sdk_metrics
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import AggregationTemporality, InMemoryMetricReader, MetricsData
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.sdk.trace.sampling import ALWAYS_ON, ParentBased
from opentelemetry.sdk.version import __version__ as sdk_version
from opentelemetry.trace import SpanKind, StatusCode, Tracer, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from triage.adapters.telemetry import attribute_names
from triage.adapters.telemetry.metrics import Instrument, Measurement
from triage.adapters.telemetry.spans import Span
from triage.domain.report import RunReport

SCOPE = "bug-triage"
_KINDS = {"internal": SpanKind.INTERNAL, "client": SpanKind.CLIENT}


class _RunIdGenerator(RandomIdGenerator):
    """The run's id is the trace's, so that one finds the other; spans get ids by chance."""

    def __init__(self, request_id: str) -> None:
        self._trace_id = UUID(request_id).int

    def generate_trace_id(self) -> int:
        return self._trace_id


def build_resource(report: RunReport, said: dict[str, str]) -> Resource:
    """What everything that is sent has in common; what the workflow's author said wins."""
    owner, _, repository = report.repository.rpartition("/")
    ours = {
        "telemetry.sdk.language": "python",
        "telemetry.sdk.name": "opentelemetry",
        "telemetry.sdk.version": sdk_version,
        attribute_names.SERVICE_VERSION: report.triage_version,
        attribute_names.SERVICE_INSTANCE: report.request_id,
        attribute_names.REPOSITORY: repository,
    }
    return Resource({**ours, **({attribute_names.OWNER: owner} if owner else {}), **said})


def build_spans(root: Span, report: RunReport, resource: Resource, traceparent: str) -> Sequence[ReadableSpan]:
    """The tree as finished spans, under the remote parent if there is one; none when it was not sampled."""
    memory = InMemorySpanExporter()
    provider = TracerProvider(
        ParentBased(ALWAYS_ON), resource, id_generator=_RunIdGenerator(report.request_id), shutdown_on_exit=False
    )
    provider.add_span_processor(SimpleSpanProcessor(memory))
    parent = TraceContextTextMapPropagator().extract({"traceparent": traceparent})
    _record_span(root, provider.get_tracer(SCOPE, report.triage_version), parent)
    return memory.get_finished_spans()


def _record_span(span: Span, tracer: Tracer, parent: Context) -> None:
    opened = tracer.start_span(span.name, parent, _KINDS[span.kind], span.attributes, start_time=span.start)
    for event in span.events:
        opened.add_event(event.name, event.attributes, event.at)
    if span.failed:
        opened.set_status(StatusCode.ERROR)
    for child in span.children:
        _record_span(child, tracer, set_span_in_context(opened, parent))
    opened.end(span.end)


def build_metrics(
    measured: Iterable[Measurement], report: RunReport, resource: Resource, *, delta: bool
) -> MetricsData:
    """The measurements, put together for each metric and its attributes."""
    temporality = AggregationTemporality.DELTA if delta else AggregationTemporality.CUMULATIVE
    reader = InMemoryMetricReader({sdk_metrics.Counter: temporality, sdk_metrics.Histogram: temporality})
    provider = MeterProvider([reader], resource, shutdown_on_exit=False)
    meter = provider.get_meter(SCOPE, report.triage_version)
    made: dict[str, Counter | Histogram] = {}
    for one in measured:
        if one.instrument.name not in made:
            made[one.instrument.name] = _create_instrument(one.instrument, meter)
        metric = made[one.instrument.name]
        if isinstance(metric, Counter):
            metric.add(one.value, one.attributes)
        else:
            metric.record(one.value, one.attributes)
    data = reader.get_metrics_data()
    assert data is not None, "every run is counted"
    return data


def _create_instrument(instrument: Instrument, meter: Meter) -> Counter | Histogram:
    if instrument.kind == "counter":
        return meter.create_counter(instrument.name, instrument.unit, instrument.description)
    return meter.create_histogram(
        instrument.name,
        instrument.unit,
        instrument.description,
        explicit_bucket_boundaries_advisory=instrument.bounds,
    )
