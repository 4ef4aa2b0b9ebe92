"""Where spans and metrics of finished runs go: a collector that speaks OTLP over HTTP."""

from pydantic import Field, SecretStr

from triage.domain.value import Value


class OtlpEndpoint(Value):
    """Where one kind of signal is sent."""

    url: str
    """The whole address, path included."""
    headers: dict[str, SecretStr] = Field(default_factory=dict)
    timeout_seconds: float = 10.0
    """Most that sending may take."""


class Collector(Value):
    """What the workflow's author said about telemetry. A signal without an intake is not sent."""

    traces: OtlpEndpoint | None = None
    metrics: OtlpEndpoint | None = None
    resource: dict[str, str] = Field(default_factory=dict)
    """Attributes of everything that is sent, `service.name` among them."""
    traceparent: str = ""
    """The span that the run belongs under (W3C Trace Context); empty when it begins a trace of its own."""
    delta_temporality: bool = False
    """Metrics tell what this run adds, not totals since a start; for a process of one run the numbers are the same."""
