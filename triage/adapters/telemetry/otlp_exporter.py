"""Sends a finished run to a collector by OTLP over HTTP, within seconds, whatever the collector does."""

import time

from triage.adapters.telemetry.collector_client import send_metrics, send_spans, silence_exporter_logs
from triage.adapters.telemetry.metrics import measure_run
from triage.adapters.telemetry.sdk_objects import build_metrics, build_resource, build_spans
from triage.adapters.telemetry.spans import build_run_span
from triage.domain.collector import Collector
from triage.domain.report import RunReport
from triage.network import DIRECT, Network
from triage.ports import ProgressLog

EXPORT_SECONDS = 3.0
"""For everything together."""


class OtlpExporter:
    """Implements the `Telemetry` port."""

    def __init__(
        self, collector: Collector, journal: ProgressLog, network: Network = DIRECT, seconds: float = EXPORT_SECONDS
    ) -> None:
        self._collector, self._journal, self._network, self._seconds = collector, journal, network, seconds
        silence_exporter_logs()

    def export(self, report: RunReport) -> None:
        """Send spans and metrics, and note in one line what became of them."""
        ends = time.monotonic() + self._seconds
        resource = build_resource(report, self._collector.resource)
        sent, faults = list[str](), list[str]()

        def settle(what: str, fault: str) -> None:
            faults.append(f"{what}: {fault}") if fault else sent.append(what)

        spans = build_spans(build_run_span(report), report, resource, self._collector.traceparent)
        if self._collector.traces and spans:
            fault = send_spans(spans, self._collector.traces, self._network, ends - time.monotonic())
            settle(f"trace {spans[0].context.trace_id:032x}", fault)
        if self._collector.metrics:
            data = build_metrics(measure_run(report), report, resource, delta=self._collector.delta_temporality)
            settle("metrics", send_metrics(data, self._collector.metrics, self._network, ends - time.monotonic()))
        if faults:
            self._journal.info(f"Telemetry not sent ({'; '.join(faults)}).")
        elif sent:
            self._journal.info(f"Telemetry sent ({'; '.join(sent)}).")
