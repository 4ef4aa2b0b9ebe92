"""Sends spans and metrics to a collector by the SDK's exporters."""

import logging
from collections.abc import Sequence
from typing import Any

import requests
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics.export import MetricExportResult, MetricsData
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult

from triage.base.errors import TriageError
from triage.base.http_client import configure_session
from triage.base.network import DIRECT, Network, describe_connection_problem
from triage.domain.run import Collector, OtlpEndpoint

CHECK_SECONDS = 3.0


def silence_exporter_logs() -> None:
    """Keeps the log lines of the exporters out of our log: one of them has the value of a header in it."""
    for library in ("opentelemetry.exporter.otlp", "opentelemetry.util"):
        log = logging.getLogger(library)
        log.addHandler(logging.NullHandler())
        log.propagate = False


class NotACollector(requests.RequestException):
    """The address answered, but takes no telemetry."""


class CollectorUnavailable(TriageError):
    """The collector cannot be used."""


class CollectorSession(requests.Session):
    """The session of an exporter.

    The exporter treats a redirect and a web page as success, and reports no status. So this checks the head of each
    response; the body is not read.
    """

    def __init__(self, network: Network, url: str) -> None:
        super().__init__()
        configure_session(self, network, url, shared=False)
        self.stream = True
        self.hooks["response"].append(self._check_response)
        self.result = "no answer"
        """The status of the last response, or what prevented one."""

    def request(self, *args: Any, **settings: Any) -> requests.Response:
        """Sends a request. The exporter hides an exception, so this stores its reason."""
        try:
            return super().request(*args, **settings)
        except (requests.RequestException, OSError) as error:
            self.result = describe_connection_problem(error) or self.result
            raise

    def _check_response(self, response: requests.Response, **_: object) -> None:
        response.close()
        page = "html" in response.headers.get("content-type", "").lower()
        self.result = f"HTTP {response.status_code}" + (", a web page" if page else "")
        if page or response.is_redirect:
            raise NotACollector


def send_spans(spans: Sequence[ReadableSpan], endpoint: OtlpEndpoint, network: Network, seconds: float) -> str:
    """Sends spans within so many seconds. Returns an empty string, or what went wrong in a few words."""
    with CollectorSession(network, endpoint.url) as session:
        exporter = OTLPSpanExporter(**_exporter_arguments(session, endpoint, seconds))
        return "" if exporter.export(spans) is SpanExportResult.SUCCESS else session.result


def send_metrics(data: MetricsData, endpoint: OtlpEndpoint, network: Network, seconds: float) -> str:
    """Sends metrics within so many seconds. Returns an empty string, or what went wrong in a few words."""
    with CollectorSession(network, endpoint.url) as session:
        exporter = OTLPMetricExporter(**_exporter_arguments(session, endpoint, seconds))
        return "" if exporter.export(data) is MetricExportResult.SUCCESS else session.result


def _exporter_arguments(session: CollectorSession, endpoint: OtlpEndpoint, seconds: float) -> dict[str, Any]:
    return {
        "endpoint": endpoint.url,
        "headers": {name: value.get_secret_value() for name, value in endpoint.headers.items()},
        "timeout": max(0.0, min(endpoint.timeout_seconds, seconds)),
        "session": session,
    }


def check_collector(collector: Collector, network: Network = DIRECT) -> str:
    """Returns which signals the collector accepts, in a few words.

    Raises:
        CollectorUnavailable: It cannot be reached, or refuses a signal.
    """
    silence_exporter_logs()
    errors = {
        "traces": collector.traces and send_spans([], collector.traces, network, CHECK_SECONDS),
        "metrics": collector.metrics and send_metrics(MetricsData([]), collector.metrics, network, CHECK_SECONDS),
    }
    refused = [f"{signal}: {error}" for signal, error in errors.items() if error]
    if refused:
        raise CollectorUnavailable("; ".join(refused))
    return f"accepts {' and '.join(signal for signal, error in errors.items() if error is not None)}"
