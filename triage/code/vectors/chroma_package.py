"""Opens Chroma in this process. Only this module imports it first; that takes half a second.

chromadb 1.5.9 can trace itself. For that it imports OpenTelemetry's gRPC exporter, whether or not tracing is on
(`chromadb/telemetry/opentelemetry/__init__.py`), and we never turn it on. So another module stands in for the exporter
while chromadb is imported: gRPC is not loaded, and `requirements-excluded.txt` can leave out its 19 MB. If a release of
chromadb imports gRPC elsewhere, this module cannot be imported, and the tests of the vectors fail.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from types import ModuleType

_GRPC_EXPORTER = "opentelemetry.exporter.otlp.proto.grpc.trace_exporter"


class _NoExporter:
    def __init__(self, **options: object) -> None:
        raise NotImplementedError("Chroma's own tracing is not available here")


@contextmanager
def _without_grpc_exporter() -> Iterator[None]:
    if _GRPC_EXPORTER in sys.modules:
        yield
        return
    stub_module = ModuleType(_GRPC_EXPORTER)
    vars(stub_module)["OTLPSpanExporter"] = _NoExporter
    sys.modules[_GRPC_EXPORTER] = stub_module
    try:
        yield
    finally:
        del sys.modules[_GRPC_EXPORTER]


with _without_grpc_exporter():
    from chromadb import EphemeralClient
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection
    from chromadb.config import Settings
    from chromadb.errors import ChromaError

__all__ = ["ChromaError", "ClientAPI", "Collection", "open_chroma"]


@cache
def open_chroma() -> ClientAPI:
    """Return Chroma in this process's memory, shared by the whole process."""
    return EphemeralClient(settings=Settings(anonymized_telemetry=False, chroma_otel_granularity=None))
