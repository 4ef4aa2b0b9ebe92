"""Records a finished run as OpenTelemetry spans, and sends them by the SDK's exporter for OTLP over HTTP.

By OpenTelemetry's conventions for generative AI (`gen_ai.`). Attributes hold our own words, counts, and the names of
agents, tools and models. Reasons, summaries and titles may quote what somebody wrote, so no span has them.
"""

import logging
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

import requests
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.trace import Span, SpanKind, StatusCode, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from opentelemetry.util.re import parse_env_headers

from triage.base.errors import TriageError
from triage.base.progress import ProgressLog
from triage.domain.report import RunReport
from triage.domain.run import Collector, ModelCall, Outcome, PlannerDecision, StepRecord, ToolExecution, Usage
from triage.outside.http_client import open_session
from triage.safety.secrets.redactor import SecretRedactor

EXPORT_SECONDS = 3.0
SERVICE_NAME = "bug-triage"


def export_spans(collector: Collector, progress: ProgressLog, redactor: SecretRedactor, report: RunReport) -> None:
    """Send a run's spans, and say so in one line of the log."""
    report = redactor.redact_value("telemetry", report)
    spans = record_spans(report, _build_resource(report), collector.traceparent)
    if not spans:
        return
    error = send_spans(spans, collector)
    trace = f"trace {spans[0].context.trace_id:032x}"
    progress.info(f"Telemetry not sent ({trace}: {error})." if error else f"Telemetry sent ({trace}).")


def send_spans(spans: Sequence[ReadableSpan], collector: Collector) -> str:
    """Sends spans, and tries for `EXPORT_SECONDS`. Returns an empty string, or what went wrong in a few words."""
    logging.getLogger("opentelemetry").setLevel(logging.CRITICAL + 1)  # one of its lines has the value of a header
    answers: list[requests.Response] = []
    with open_session() as session:
        session.hooks["response"].append(lambda response, **_: answers.append(response))
        exporter = OTLPSpanExporter(
            endpoint=collector.endpoint.get_secret_value(),
            headers=parse_env_headers(collector.headers.get_secret_value(), liberal=True),
            timeout=EXPORT_SECONDS,
            session=session,
        )
        result = exporter.export(spans)
    if not answers:
        return "no answer"
    status, kind = answers[-1].status_code, answers[-1].headers.get("content-type", "")
    if result is not SpanExportResult.SUCCESS or status >= 300:  # the exporter takes a redirect for success
        return f"HTTP {status}"
    return "an HTML page answers" if kind.startswith("text/html") else ""


def check_collector(collector: Collector) -> str:
    """Returns what the collector accepts. Raises TriageError if it cannot be reached, or refuses it."""
    if error := send_spans([], collector):
        raise TriageError(error)
    return "accepts traces"


def _build_resource(report: RunReport) -> Resource:
    owner, _, repository = report.repository.rpartition("/")
    attributes = {
        "service.name": SERVICE_NAME,
        "service.version": report.triage_version,
        "service.instance.id": report.request_id,
        "vcs.repository.name": repository,
        **({"vcs.owner.name": owner} if owner else {}),
    }
    # Attributes that the workflow sets win.
    return Resource.create(attributes).merge(OTELResourceDetector().detect())


Attribute = str | int | float | bool | list[str]
Attributes = Mapping[str, Attribute | None]

_WORKFLOW_NAME = "bug_triage"
_PROVIDER_NAME = "openai"
"""The protocol, whoever runs the endpoint."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ERROR_NAME = re.compile(r"[A-Za-z][A-Za-z0-9 ,()-]{0,79}")
"""Our names for errors. Text that somebody else wrote has quotation marks, dots or slashes."""


def record_spans(report: RunReport, resource: Resource, traceparent: str) -> Sequence[ReadableSpan]:
    """Returns the finished spans of a run: the run itself, its steps, their model calls and tool calls.

    The request id becomes the trace id. `traceparent` is the W3C header of a parent span, or empty; nothing is returned
    when that span is not sampled.
    """
    exporter = InMemorySpanExporter()
    provider = TracerProvider(
        resource=resource, id_generator=_RunIdGenerator(report.request_id), shutdown_on_exit=False
    )
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer(SERVICE_NAME, report.triage_version)

    def write(
        parent: Context,
        target: str,
        began: datetime,
        took: timedelta,
        attributes: Attributes,
        decisions: Sequence[PlannerDecision] = (),
    ) -> Span:
        operation = attributes["gen_ai.operation.name"]
        span = tracer.start_span(
            f"{operation} {target}" if operation else target,
            parent,
            SpanKind.CLIENT if "gen_ai.request.model" in attributes else SpanKind.INTERNAL,
            {name: value for name, value in attributes.items() if value is not None},
            start_time=_epoch_nanoseconds(began),
        )
        if attributes.get("error.type"):
            span.set_status(StatusCode.ERROR)
        for decision in decisions:
            span.add_event("triage.decision", _decision_attributes(decision), _epoch_nanoseconds(decision.timestamp))
        span.end(_epoch_nanoseconds(began + took))
        return span

    def below(span: Span) -> Context:
        return set_span_in_context(span, parent)

    parent = TraceContextTextMapPropagator().extract({"traceparent": traceparent})
    took = timedelta(seconds=report.seconds)
    run = write(parent, _WORKFLOW_NAME, report.started_at, took, _run_attributes(report), report.decisions)
    for one in report.steps:
        step = write(below(run), one.step, one.started_at, timedelta(seconds=one.seconds), _step_attributes(one))
        for call in one.calls:
            took, attributes = timedelta(milliseconds=call.ms), _call_attributes(call, report.request_id)
            write(below(step), call.model, call.started_at, took, attributes)
        for tool in one.tools:
            took = timedelta(milliseconds=tool.ms)
            write(below(step), tool.tool, tool.started_at, took, _tool_attributes(tool))
    return exporter.get_finished_spans()


def _error_type(record: StepRecord | ToolExecution | ModelCall) -> str | None:
    """Returns the `error.type` of a record in which something failed; else None.

    `timeout`, `skipped`, a name of ours such as `rate limited (429)`, or `_OTHER`.
    """
    if record.outcome is Outcome.SUCCESS and not record.error:
        return None
    if record.outcome in (Outcome.TIMED_OUT, Outcome.SKIPPED):
        return "timeout" if record.outcome is Outcome.TIMED_OUT else "skipped"
    return record.error if record.error and _ERROR_NAME.fullmatch(record.error) else "_OTHER"


class _RunIdGenerator(RandomIdGenerator):
    def __init__(self, request_id: str) -> None:
        self._trace_id = UUID(request_id).int

    def generate_trace_id(self) -> int:
        return self._trace_id


def _run_attributes(report: RunReport) -> Attributes:
    return {
        "gen_ai.operation.name": "invoke_workflow",
        "gen_ai.workflow.name": _WORKFLOW_NAME,
        "triage.request_id": report.request_id,
        "triage.issue.number": report.issue.number,
        "vcs.ref.head.revision": report.commit,
        "cicd.pipeline.run.url.full": report.run_url or None,
        "triage.status": report.status.value,
        "triage.engine": report.engine,
        "triage.kind": report.kind,
        "triage.verdict": report.verdict,
        "triage.severity": report.severity,
        "triage.confidence": report.confidence,
        "triage.suspects": len(report.suspects),
        "triage.iterations": len(report.decisions),
        "triage.rounds": len(report.rounds),
        "triage.past_issues": report.past_issues,
        "triage.index.files": report.index.files if report.index else None,
        "triage.skills": list(report.active_skills) or None,
        "triage.cut": bool(report.ended_early),
        **_usage_attributes(report.usage),
    }


def _step_attributes(step: StepRecord) -> Attributes:
    operation = None if step.is_lookup else "invoke_agent"
    return {
        "gen_ai.operation.name": operation,
        "gen_ai.agent.name": step.step if operation else None,
        "triage.engine": step.engine,
        "triage.outcome": step.outcome.value,
        "triage.shortfalls": len(step.shortfalls) or None,
        "triage.round": step.round,
        "triage.iteration": step.iteration,
        "error.type": _error_type(step),
        **_usage_attributes(step.usage),
    }


def _call_attributes(call: ModelCall, request_id: str) -> Attributes:
    return {
        "gen_ai.operation.name": "embeddings" if call.mode == "embeddings" else "chat",
        "gen_ai.provider.name": _PROVIDER_NAME,
        "gen_ai.request.model": call.model,
        "triage.mode": call.mode,
        "triage.request_id": request_id,
        "triage.outcome": call.outcome.value,
        "triage.estimated": call.estimated or None,
        "error.type": _error_type(call),
        **_usage_attributes(call.usage),
    }


def _tool_attributes(tool: ToolExecution) -> Attributes:
    return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": tool.tool,
        "triage.outcome": tool.outcome.value,
        "error.type": _error_type(tool),
    }


def _decision_attributes(decision: PlannerDecision) -> Mapping[str, Attribute]:
    return {
        "triage.iteration": decision.number,
        "triage.selected": decision.selected,
        "triage.forced": decision.forced,
    }


def _usage_attributes(usage: Usage) -> Attributes:
    if not usage.calls:
        return {}
    return {
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "triage.cost_usd": usage.usd,
    }


def _epoch_nanoseconds(timestamp: datetime) -> int:
    return (timestamp - _EPOCH) // timedelta(microseconds=1) * 1000
