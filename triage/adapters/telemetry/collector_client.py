"""A request to a collector, and what became of it."""

import logging
from collections.abc import Sequence
from typing import Any

import requests
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics.export import MetricExportResult, MetricsData
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult

from triage.domain.collector import OtlpEndpoint
from triage.http_sessions import configure_session
from triage.network import Network, describe_connection_problem


def silence_exporter_logs() -> None:
    """Keep the libraries' own lines out of our log: they tell each failure, and one has a header's value in it."""
    for library in ("opentelemetry.exporter.otlp", "opentelemetry.util"):
        log = logging.getLogger(library)
        log.addHandler(logging.NullHandler())
        log.propagate = False


class NotACollector(requests.RequestException):
    """Something answered that takes no telemetry."""


class CollectorSession(requests.Session):
    """The connection that an exporter sends by.

    The exporter takes a redirect and a web page for success, and tells nobody what the answer was. So we look at the
    answer's head, which is all of it that is read.
    """

    def __init__(self, network: Network, url: str) -> None:
        super().__init__()
        configure_session(self, network, url)
        self.stream = True
        self.hooks["response"].append(self._check_response)
        self.answer = "no answer"

    def request(self, *args: Any, **settings: Any) -> requests.Response:
        """Ask; the exporter keeps a failure to itself."""
        try:
            return super().request(*args, **settings)
        except (requests.RequestException, OSError) as error:
            self.answer = describe_connection_problem(error) or self.answer
            raise

    def _check_response(self, response: requests.Response, **_: object) -> None:
        response.close()
        page = "html" in response.headers.get("content-type", "").lower()
        self.answer = f"HTTP {response.status_code}" + (", a web page" if page else "")
        if page or response.is_redirect:
            raise NotACollector


def send_spans(spans: Sequence[ReadableSpan], intake: OtlpEndpoint, network: Network, seconds: float) -> str:
    """Send them. What went wrong, in our words; empty when nothing did."""
    with CollectorSession(network, intake.url) as line:
        exporter = OTLPSpanExporter(**_exporter_arguments(line, intake, seconds))
        return "" if exporter.export(spans) is SpanExportResult.SUCCESS else line.answer


def send_metrics(data: MetricsData, intake: OtlpEndpoint, network: Network, seconds: float) -> str:
    """Send them. What went wrong, in our words; empty when nothing did."""
    with CollectorSession(network, intake.url) as line:
        exporter = OTLPMetricExporter(**_exporter_arguments(line, intake, seconds))
        return "" if exporter.export(data) is MetricExportResult.SUCCESS else line.answer


def _exporter_arguments(line: CollectorSession, intake: OtlpEndpoint, seconds: float) -> dict[str, Any]:
    return {
        "endpoint": intake.url,
        "headers": {name: value.get_secret_value() for name, value in intake.headers.items()},
        "timeout": max(0.0, min(intake.timeout_seconds, seconds)),
        "session": line,
    }
