"""An OpenTelemetry collector on loopback that stores and decodes what it receives."""

import gzip
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
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

    @property
    def _exports(self) -> list[ExportTraceServiceRequest]:
        return [ExportTraceServiceRequest.FromString(one.body) for one in self.requests]

    @property
    def spans(self) -> list[Span]:
        return [
            s
            for e in self._exports
            for resource in e.resource_spans
            for scope in resource.scope_spans
            for s in scope.spans
        ]

    @property
    def resources(self) -> list[dict[str, Any]]:
        return [to_dict(r.resource.attributes) for e in self._exports for r in e.resource_spans]


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
