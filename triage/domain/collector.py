"""Where spans and metrics of finished runs go: a collector that speaks OTLP over HTTP."""

from pydantic import Field, SecretStr

from triage.domain.value import Value


class OtlpEndpoint(Value):
    url: str
    headers: dict[str, SecretStr] = Field(default_factory=dict)
    timeout_seconds: float = 10.0


class Collector(Value):
    """The telemetry settings. A signal without an endpoint is not sent."""

    traces: OtlpEndpoint | None = None
    metrics: OtlpEndpoint | None = None
    resource: dict[str, str] = Field(default_factory=dict)
    """Attributes of every span and metric, such as `service.name`."""
    traceparent: str = ""
    """The parent span (W3C Trace Context); empty if the run starts a trace."""
    delta_temporality: bool = False
    """Whether metrics are deltas instead of totals. A process runs once, so the numbers are the same."""
