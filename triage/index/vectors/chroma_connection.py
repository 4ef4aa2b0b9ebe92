"""Which Chroma holds the vectors: one inside of this process, or a server. And what goes wrong with it."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from triage.errors import BadInput
from triage.network import DIRECT, Network, describe_connection_problem
from triage.threads import raise_if_abandoned

if TYPE_CHECKING:
    from chromadb.api import ClientAPI


HEARTBEAT_SECONDS = 10.0
"""In which a server must give a first sign of life, whole."""
READ_SECONDS = 60.0
"""For a whole answer."""


class StoreFailed(Exception):
    """Chroma refused, answered nonsense, or cannot be reached. The text is the kind of the fault, in a few words."""


@cache
def open_embedded_chroma() -> "ClientAPI":
    """Chroma in this process's memory, one for all: it is gone with the process."""
    import chromadb
    from chromadb.config import Settings

    return chromadb.EphemeralClient(settings=Settings(anonymized_telemetry=False))


def connect_to_chroma(url: str, network: Network = DIRECT) -> "ClientAPI":
    """A Chroma server. Without a port: 443 for `https://`, Chroma's own 8000 for `http://`.

    Raises:
        BadInput: `url` is no `http://` or `https://` address.
        StoreFailed: It does not answer in time.
    """
    address = urlsplit(url)
    if address.scheme not in ("http", "https") or not address.hostname:
        raise BadInput("the Chroma server's address is not of the form https://host:port")
    from chromadb.config import Settings

    from triage.index.vectors.chroma_http import client_class, http_client

    secure = address.scheme == "https"
    port = address.port or (443 if secure else 8000)
    host = f"[{address.hostname}]" if ":" in address.hostname else address.hostname
    whole = f"{address.scheme}://{host}:{port}{address.path.rstrip('/')}"
    with translate_chroma_errors():
        line = http_client(whole, network, READ_SECONDS, HEARTBEAT_SECONDS)
        # What a firewall drops never answers.
        line.get(f"{whole}/api/v2/heartbeat", timeout=HEARTBEAT_SECONDS).raise_for_status()
        settings = Settings(
            anonymized_telemetry=False,
            chroma_api_impl="chromadb.api.fastapi.FastAPI",
            # Not the bare name: chromadb 1.5.9 would lose the path, and the port of a name that starts with "http".
            chroma_server_host=whole,
            chroma_server_http_port=port,
            chroma_server_ssl_enabled=secure,
        )
        return client_class(line)(settings=settings)


def is_shared(client: "ClientAPI") -> bool:
    """Others may use what is stored there."""
    return client.get_settings().chroma_server_host is not None


@contextmanager
def translate_chroma_errors() -> Iterator[None]:
    """Around calls of a client. Raises StoreFailed."""
    import httpx
    from chromadb.errors import ChromaError

    raise_if_abandoned()
    try:
        yield
    except Exception as error:
        # chromadb 1.5.9 raises `Exception` itself where a proxy answers in the server's place.
        if type(error) is Exception or isinstance(error, ChromaError | httpx.HTTPError | ValueError):
            raise StoreFailed(describe_connection_problem(error) or type(error).__name__) from error
        raise
