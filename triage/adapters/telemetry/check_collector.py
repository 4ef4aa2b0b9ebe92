"""Does the collector take what we would send? Sends it nothing, in the right form."""

from opentelemetry.sdk.metrics.export import MetricsData

from triage.adapters.telemetry.collector_client import send_metrics, send_spans, silence_exporter_logs
from triage.domain.collector import Collector
from triage.errors import TriageError
from triage.network import DIRECT, Network

PROBE_SECONDS = 3.0


class CollectorUnavailable(TriageError):
    """The collector cannot be used."""


def check_collector(collector: Collector, network: Network = DIRECT) -> str:
    """What the collector takes.

    Raises:
        CollectorUnavailable: It cannot be reached, or refuses a signal.
    """
    silence_exporter_logs()
    faults = {
        "traces": collector.traces and send_spans([], collector.traces, network, PROBE_SECONDS),
        "metrics": collector.metrics and send_metrics(MetricsData([]), collector.metrics, network, PROBE_SECONDS),
    }
    refused = [f"{what}: {fault}" for what, fault in faults.items() if fault]
    if refused:
        raise CollectorUnavailable("; ".join(refused))
    return f"takes {' and '.join(what for what, fault in faults.items() if fault is not None)}"
