"""Records a finished run as OpenTelemetry spans, and sends them by the SDK's exporter for OTLP over HTTP.

By OpenTelemetry's conventions for generative AI (`gen_ai.`). Attributes hold our own words, counts, and the names of
agents, tools and models. Reasons, summaries and titles may quote what somebody wrote, so no span has them.
"""

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime

import requests
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode, set_span_in_context
from opentelemetry.util.re import parse_env_headers

from triage.base.progress import ProgressLog
from triage.domain.report import RunReport
from triage.domain.run import Collector, Outcome, StepRecord, Usage
from triage.outside.http_client import open_session
from triage.safety.secrets.redactor import SecretRedactor

EXPORT_SECONDS = 3.0
SERVICE_NAME = "bug-triage"
_WORKFLOW_NAME = "bug_triage"
_PROVIDER_NAME = "openai"
"""The protocol, whoever runs the endpoint."""
Attributes = Mapping[str, str | int | float | bool | list[str] | None]


def export_spans(collector: Collector, progress: ProgressLog, redactor: SecretRedactor, report: RunReport) -> None:
    """Send a run's spans, and say so in one line of the log."""
    spans = record_spans(redactor.redact_value("telemetry", report))
    if not spans:  # the SDK is switched off
        return
    error = send_spans(spans, collector)
    trace = f"trace {spans[0].context.trace_id:032x}"
    progress.info(f"Telemetry not sent ({trace}: {error})." if error else f"Telemetry sent ({trace}).")


def send_spans(spans: Sequence[ReadableSpan], collector: Collector) -> str:
    """Send spans, and try for `EXPORT_SECONDS`. Return an empty string, or what went wrong in a few words."""
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
    status = answers[-1].status_code if answers else 0
    if result is SpanExportResult.SUCCESS and status < 300:  # the exporter takes a redirect for success
        return ""
    return f"HTTP {status}" if status else "no answer"


def record_spans(report: RunReport) -> Sequence[ReadableSpan]:
    """Return the finished spans of a run: the run itself, its steps, their model calls and tool calls."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(resource=_build_resource(report), shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer(SERVICE_NAME, report.triage_version)

    def write(target: str, parent: Context, began: datetime, seconds: float, attributes: Attributes) -> Context:
        """Record a span that has ended, and return the context of those inside it."""
        operation, outcome = attributes["gen_ai.operation.name"], attributes.get("triage.outcome")
        known = {key: value for key, value in attributes.items() if value is not None}
        start = int(began.timestamp() * 1_000_000) * 1_000
        name = f"{operation} {target}" if operation else target
        span = tracer.start_span(name, parent, attributes=known, start_time=start)
        if outcome not in (None, Outcome.SUCCESS):
            span.set_attribute("error.type", str(outcome).lower())
            span.set_status(StatusCode.ERROR)
        span.end(start + int(seconds * 1_000) * 1_000_000)
        return set_span_in_context(span, parent)

    run = write(_WORKFLOW_NAME, Context(), report.started_at, report.seconds, _run_attributes(report))
    for step in report.steps:
        within = write(step.step, run, step.started_at, step.seconds, _step_attributes(step))
        for call in step.calls:
            asked: Attributes = {
                "gen_ai.operation.name": "embeddings" if call.mode == "embeddings" else "chat",
                "gen_ai.provider.name": _PROVIDER_NAME,
                "gen_ai.request.model": call.model,
                "triage.outcome": call.outcome,
                **_usage_attributes(call.usage),
            }
            write(call.model, within, call.started_at, call.ms / 1_000, asked)
        for tool in step.tools:
            called: Attributes = {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": tool.tool,
                "triage.outcome": tool.outcome,
            }
            write(tool.tool, within, tool.started_at, tool.ms / 1_000, called)
    return exporter.get_finished_spans()


def _build_resource(report: RunReport) -> Resource:
    attributes = {
        "service.name": SERVICE_NAME,
        "service.version": report.triage_version,
        "service.instance.id": report.request_id,
        "vcs.repository.name": report.repository,
    }
    # Attributes that the workflow sets win.
    return Resource.create(attributes).merge(OTELResourceDetector().detect())


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
        "triage.rounds": max((step.round for step in report.steps), default=1),
        "triage.past_issues": report.past_issue_count,
        "triage.index.files": report.index.files if report.index else None,
        "triage.skills": list(report.active_skills) or None,
        **_usage_attributes(report.usage),
    }


def _step_attributes(step: StepRecord) -> Attributes:
    agent = None if step.is_lookup else step.step
    return {
        "gen_ai.operation.name": "invoke_agent" if agent else None,
        "gen_ai.agent.name": agent,
        "triage.engine": step.engine,
        "triage.round": step.round,
        "triage.outcome": step.outcome,
        **_usage_attributes(step.usage),
    }


def _usage_attributes(usage: Usage) -> Attributes:
    if not usage.calls:
        return {}
    return {
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "triage.cost_usd": usage.usd,
    }
