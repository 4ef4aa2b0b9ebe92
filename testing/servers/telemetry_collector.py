"""An OpenTelemetry collector on loopback that stores and decodes what it receives."""

import gzip
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from testing.servers.http_server import QuietHandler, serve_http


@dataclass(frozen=True)
class CollectorBehaviour:
    """How it responds: with a status, late, byte by byte, or not at all."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"content-type": "application/x-protobuf"})
    body: bytes = b""
    delay_seconds: float = 0.0
    trickle: bool = False
    drop: bool = False


@dataclass(frozen=True)
class ReceivedRequest:
    """One request."""

    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class FakeCollector:
    """A running collector and its requests."""

    url: str
    requests: list[ReceivedRequest] = field(default_factory=list)

    def _bodies(self, path: str) -> list[bytes]:
        return [one.body for one in self.requests if one.path == path]

    @property
    def spans(self) -> list[Span]:
        requests = [ExportTraceServiceRequest.FromString(body) for body in self._bodies("/v1/traces")]
        return [
            s for r in requests for resource in r.resource_spans for scope in resource.scope_spans for s in scope.spans
        ]

    @property
    def resources(self) -> list[dict[str, Any]]:
        traces = [ExportTraceServiceRequest.FromString(body) for body in self._bodies("/v1/traces")]
        metrics = [ExportMetricsServiceRequest.FromString(body) for body in self._bodies("/v1/metrics")]
        found = [r.resource for t in traces for r in t.resource_spans]
        return [to_dict(r.attributes) for r in [*found, *(r.resource for m in metrics for r in m.resource_metrics)]]

    @property
    def metrics(self) -> dict[str, Metric]:
        requests = [ExportMetricsServiceRequest.FromString(body) for body in self._bodies("/v1/metrics")]
        metrics = [
            m for r in requests for one in r.resource_metrics for scope in one.scope_metrics for m in scope.metrics
        ]
        return {metric.name: metric for metric in metrics}

    def points(self, name: str) -> list[tuple[dict[str, Any], float]]:
        """Returns attributes and sum of each point of a metric."""
        metric = self.metrics[name]
        if metric.HasField("sum"):
            return [(to_dict(point.attributes), point.as_int or point.as_double) for point in metric.sum.data_points]
        return [(to_dict(point.attributes), round(point.sum, 6)) for point in metric.histogram.data_points]


def to_dict(attributes: Any) -> dict[str, Any]:
    """Returns attributes as a dictionary."""

    def value(one: AnyValue) -> Any:
        kind = one.WhichOneof("value")
        if kind == "array_value":
            return [value(item) for item in one.array_value.values]
        return getattr(one, kind) if kind else None

    pairs: list[KeyValue] = list(attributes)
    return {pair.key: value(pair.value) for pair in pairs}


def format_span_tree(spans: list[Span]) -> str:
    """Returns an indented list of spans: name, start and end in milliseconds of the trace, attributes, events."""
    start = min(span.start_time_unix_nano for span in spans)
    known = {span.span_id for span in spans}
    lines: list[str] = []

    def show(span: Span, depth: int) -> None:
        pad = "    " * depth
        begins, ends = ((at - start) // 1_000_000 for at in (span.start_time_unix_nano, span.end_time_unix_nano))
        failed = ", failed" if span.status.code else ""
        lines.append(f"{pad}{span.name}  [{begins}..{ends} ms{failed}]")
        lines.extend(f"{pad}  {name} = {value}" for name, value in sorted(to_dict(span.attributes).items()))
        for event in span.events:
            attributes = ", ".join(f"{name}={value}" for name, value in sorted(to_dict(event.attributes).items()))
            lines.append(f"{pad}  @{(event.time_unix_nano - start) // 1_000_000} ms {event.name}: {attributes}")
        for child in sorted(
            (s for s in spans if s.parent_span_id == span.span_id), key=lambda s: s.start_time_unix_nano
        ):
            show(child, depth + 1)

    for root in (span for span in spans if span.parent_span_id not in known):
        show(root, 0)
    return "\n".join(lines) + "\n"


@contextmanager
def serve_collector(requested: CollectorBehaviour | None = None) -> Iterator[FakeCollector]:
    """Serves a collector until the block ends."""
    behavior = requested or CollectorBehaviour()
    released = threading.Event()

    class Handler(QuietHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            if self.headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            receiver.requests.append(
                ReceivedRequest(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
            )
            released.wait(behavior.delay_seconds)
            if behavior.drop:
                self.connection.close()
                return
            if behavior.trickle:
                self._trickle()
                return
            self.send_response(behavior.status)
            for name, value in behavior.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(behavior.body)))
            self.end_headers()
            self.wfile.write(behavior.body)

        def _trickle(self) -> None:
            self.wfile.write(b"HTTP/1.1 200 OK\r\n")
            while not released.is_set():
                self.wfile.write(b"x: y\r\n")
                time.sleep(0.5)

    with serve_http(Handler) as url:
        receiver = FakeCollector(url)
        try:
            yield receiver
        finally:
            released.set()
