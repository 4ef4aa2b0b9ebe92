"""Opens Chroma, in this process or on a server, and translates its errors."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import urlsplit

from triage.base.errors import AnswerTooLarge, BadInput
from triage.base.network import DIRECT, Network, describe_connection_problem
from triage.base.threads import raise_if_abandoned

if TYPE_CHECKING:
    from triage.code.vectors.chroma_http import ChromaServer
    from triage.code.vectors.chroma_package import ClientAPI

HEARTBEAT_SECONDS = 10.0
"""Limit for a server's first response."""
READ_SECONDS = 60.0
"""Limit for any other response."""


_PARSE_ERRORS = (ValueError, TypeError, LookupError, AttributeError, RecursionError)
"""Raised by chromadb for a response that is JSON, but not what was asked for."""


class StoreFailed(Exception):
    """Chroma refused, answered nonsense, or cannot be reached. The message is the kind of the error."""


ChromaClient: TypeAlias = "ClientAPI | ChromaServer"
OpenChroma = Callable[[], "ClientAPI | ChromaServer"]


@cache
def open_embedded_chroma() -> "ChromaClient":
    """Return Chroma in this process's memory, shared by the whole process."""
    from triage.code.vectors.chroma_package import EphemeralClient, Settings

    return EphemeralClient(settings=Settings(anonymized_telemetry=False, chroma_otel_granularity=None))


def connect_to_chroma(url: str, network: Network = DIRECT) -> "ChromaClient":
    """Connect to a Chroma server. The default port is 443 for `https://` and Chroma's own 8000 for `http://`.

    Raises:
        BadInput: `url` is no `http://` or `https://` address.
        StoreFailed: The server does not answer in time.
    """
    address = urlsplit(url)
    if address.scheme not in ("http", "https") or not address.hostname:
        raise BadInput("the Chroma server's address is not of the form https://host:port")
    from triage.code.vectors.chroma_http import ChromaServer, create_http_client
    from triage.code.vectors.chroma_package import Settings

    port = address.port or (443 if address.scheme == "https" else 8000)
    host = f"[{address.hostname}]" if ":" in address.hostname else address.hostname
    server_url = f"{address.scheme}://{host}:{port}{address.path.rstrip('/')}"
    with translate_chroma_errors():
        http_client = create_http_client(server_url, network, READ_SECONDS, HEARTBEAT_SECONDS)
        # A firewall that drops packets must not cost the whole READ_SECONDS.
        http_client.get(f"{server_url}/api/v2/heartbeat", timeout=HEARTBEAT_SECONDS).raise_for_status()
        settings = Settings(
            anonymized_telemetry=False,
            chroma_otel_granularity=None,
            chroma_api_impl="chromadb.api.fastapi.FastAPI",
            # The whole URL: of a bare name chromadb 1.5.9 loses the path, and the port if it starts with "http".
            chroma_server_host=server_url,
            chroma_server_http_port=port,
            chroma_server_ssl_enabled=address.scheme == "https",
        )
        return ChromaServer(settings, http_client)


def is_shared(client: "ChromaClient") -> bool:
    """Return whether other jobs may use what is stored there."""
    from triage.code.vectors.chroma_package import ClientAPI

    return not isinstance(client, ClientAPI)


@contextmanager
def translate_chroma_errors() -> Iterator[None]:
    """Raise StoreFailed for errors of the calls of a client inside."""
    import httpx

    from triage.code.vectors.chroma_package import ChromaError

    raise_if_abandoned()
    try:
        yield
    except Exception as error:
        # chromadb 1.5.9 raises `Exception` itself where a proxy answers in the server's place.
        if isinstance(error, AnswerTooLarge):
            raise StoreFailed(str(error)) from error
        if type(error) is Exception or isinstance(error, (ChromaError, httpx.HTTPError, *_PARSE_ERRORS)):
            raise StoreFailed(describe_connection_problem(error) or type(error).__name__) from error
        raise
