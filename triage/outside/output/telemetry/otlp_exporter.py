"""Sends a finished run to a collector, by the SDK's exporter for OTLP over HTTP."""

import logging
from collections.abc import Sequence

import requests
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.util.re import parse_env_headers

from triage.base.errors import TriageError
from triage.domain.report import RunReport
from triage.domain.run import Collector
from triage.outside.http_client import open_session
from triage.outside.output.telemetry.spans import record_spans
from triage.ports import ProgressLog
from triage.safety.secrets.redactor import SecretRedactor

EXPORT_SECONDS = 3.0
SERVICE_NAME = "bug-triage"


class CollectorUnavailable(TriageError):
    """The collector cannot be used."""


class OtlpExporter:
    def __init__(self, collector: Collector, progress: ProgressLog, redactor: SecretRedactor) -> None:
        self._collector, self._progress, self._redactor = collector, progress, redactor

    def export(self, report: RunReport) -> None:
        report = self._redactor.redact_value("telemetry", report)
        spans = record_spans(report, _build_resource(report), self._collector.traceparent)
        if not spans:
            return
        error = send_spans(spans, self._collector)
        trace = f"trace {spans[0].context.trace_id:032x}"
        self._progress.info(f"Telemetry not sent ({trace}: {error})." if error else f"Telemetry sent ({trace}).")


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
    """Returns what the collector accepts. Raises CollectorUnavailable if it cannot be reached, or refuses it."""
    if error := send_spans([], collector):
        raise CollectorUnavailable(error)
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
