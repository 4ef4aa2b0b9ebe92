"""Sends a finished run to a collector by OTLP over HTTP."""

import time

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.version import __version__ as sdk_version

from triage.base.network import DIRECT, Network
from triage.domain.report import RunReport
from triage.domain.run import Collector
from triage.output.telemetry.collector_client import send_metrics, send_spans, silence_exporter_logs
from triage.output.telemetry.metrics import record_metrics
from triage.output.telemetry.spans import record_spans
from triage.ports import ProgressLog
from triage.safety.secrets.redactor import SecretRedactor

EXPORT_SECONDS = 3.0
"""For spans and metrics together."""


class OtlpExporter:
    def __init__(
        self,
        collector: Collector,
        progress: ProgressLog,
        redactor: SecretRedactor,
        network: Network = DIRECT,
        seconds: float = EXPORT_SECONDS,
    ) -> None:
        self._collector, self._progress, self._network, self._seconds = collector, progress, network, seconds
        self._redactor = redactor
        silence_exporter_logs()

    def export(self, report: RunReport) -> None:
        deadline = time.monotonic() + self._seconds
        report = self._redactor.redact_value("telemetry", report)
        resource = _build_resource(report, self._collector.resource)
        errors: dict[str, str] = {}
        spans = record_spans(report, resource, self._collector.traceparent)
        if self._collector.traces and spans:
            signal = f"trace {spans[0].context.trace_id:032x}"
            errors[signal] = send_spans(spans, self._collector.traces, self._network, deadline - time.monotonic())
        if self._collector.metrics:
            metrics = record_metrics(report, resource, delta=self._collector.delta_temporality)
            errors["metrics"] = send_metrics(
                metrics, self._collector.metrics, self._network, deadline - time.monotonic()
            )
        failed = [f"{signal}: {error}" for signal, error in errors.items() if error]
        if failed:
            self._progress.info(f"Telemetry not sent ({'; '.join(failed)}).")
        elif errors:
            self._progress.info(f"Telemetry sent ({'; '.join(errors)}).")


def _build_resource(report: RunReport, custom: dict[str, str]) -> Resource:
    # Attributes that the workflow sets win.
    owner, _, repository = report.repository.rpartition("/")
    attributes = {
        "telemetry.sdk.language": "python",
        "telemetry.sdk.name": "opentelemetry",
        "telemetry.sdk.version": sdk_version,
        "service.version": report.triage_version,
        "service.instance.id": report.request_id,
        "vcs.repository.name": repository,
    }
    return Resource({**attributes, **({"vcs.owner.name": owner} if owner else {}), **custom})
