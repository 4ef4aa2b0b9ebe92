"""What we use of `chromadb`. Only this module imports it first; that takes half a second.

chromadb 1.5.9 can trace itself. For that it imports OpenTelemetry's gRPC exporter, whether or not tracing is on
(`chromadb/telemetry/opentelemetry/__init__.py`), and we never turn it on. So another module stands in for the exporter
while chromadb is imported: gRPC is not loaded, and `requirements-excluded.txt` can leave out its 19 MB. If a release of
chromadb imports gRPC elsewhere, this module cannot be imported, and the tests of the vectors fail.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
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
    from chromadb.api.collection_configuration import CreateCollectionConfiguration
    from chromadb.api.models.Collection import Collection
    from chromadb.api.types import CollectionMetadata
    from chromadb.config import DEFAULT_DATABASE, DEFAULT_TENANT, Settings, System
    from chromadb.errors import ChromaError, InternalError, NotFoundError

__all__ = [
    "DEFAULT_DATABASE",
    "DEFAULT_TENANT",
    "ChromaError",
    "ClientAPI",
    "Collection",
    "CollectionMetadata",
    "CreateCollectionConfiguration",
    "EphemeralClient",
    "InternalError",
    "NotFoundError",
    "Settings",
    "System",
]
