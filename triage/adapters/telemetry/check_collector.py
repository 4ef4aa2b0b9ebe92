"""Checks that a collector accepts telemetry, by sending an empty request for each signal."""

from opentelemetry.sdk.metrics.export import MetricsData

from triage.adapters.telemetry.collector_client import send_metrics, send_spans, silence_exporter_logs
from triage.domain.collector import Collector
from triage.errors import TriageError
from triage.network import DIRECT, Network

TIMEOUT_SECONDS = 3.0


class CollectorUnavailable(TriageError):
    pass


def check_collector(collector: Collector, network: Network = DIRECT) -> str:
    """Returns which signals the collector accepts, in a few words.

    Raises:
        CollectorUnavailable: It cannot be reached, or refuses a signal.
    """
    silence_exporter_logs()
    errors = {
        "traces": collector.traces and send_spans([], collector.traces, network, TIMEOUT_SECONDS),
        "metrics": collector.metrics and send_metrics(MetricsData([]), collector.metrics, network, TIMEOUT_SECONDS),
    }
    refused = [f"{signal}: {error}" for signal, error in errors.items() if error]
    if refused:
        raise CollectorUnavailable("; ".join(refused))
    return f"accepts {' and '.join(signal for signal, error in errors.items() if error is not None)}"
