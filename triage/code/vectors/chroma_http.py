"""A Chroma server behind an HTTP client of ours, with the network's proxies and certificates and with limits.

chromadb 1.5.9 does not accept an HTTP client. Its own one waits without a limit and reads proxy variables.
"""

import time
import weakref
from collections.abc import Iterator, Sequence

import httpx

from triage.base.errors import AnswerTooLarge
from triage.base.network import Network
from triage.base.threads import raise_if_abandoned
from triage.code.vectors.chroma_package import (
    DEFAULT_DATABASE,
    DEFAULT_TENANT,
    Collection,
    CollectionMetadata,
    CreateCollectionConfiguration,
    Settings,
    System,
)

# isort: split
from chromadb.api.fastapi import FastAPI  # after `chroma_package`, which keeps gRPC out

MAX_RESPONSE_BYTES = 8_000_000
"""The nearest 200 passages have 10 kilobytes, the list of a thousand collections one megabyte."""


def create_http_client(url: str, network: Network, read_seconds: float, connect_seconds: float) -> httpx.Client:
    """Return an HTTP client that ignores environment variables and follows no redirect.

    `read_seconds` limits a whole response, unless a request sets another limit. Reading more than `MAX_RESPONSE_BYTES`
    raises AnswerTooLarge.
    """
    proxy = network.proxy_for(url)
    return httpx.Client(
        verify=network.ssl_context(url),
        proxy=httpx.Proxy(proxy, ssl_context=network.proxy_ssl_context(url)) if proxy else None,
        trust_env=False,
        timeout=httpx.Timeout(read_seconds, connect=connect_seconds),
        headers={"Content-Type": "application/json", "Accept-Encoding": "identity"},
        event_hooks={"response": [_limit_response]},
    )


class ChromaServer:
    """The calls of `chromadb.ClientAPI` that the vector store makes, on the server's default database."""

    def __init__(self, settings: Settings, http_client: httpx.Client) -> None:
        """Ask the server for its default database. Raises what chromadb and httpx raise."""
        self._api = _ServerApi(settings, http_client)
        self._api.get_database(DEFAULT_DATABASE, DEFAULT_TENANT)

    def get_or_create_collection(
        self,
        name: str,
        *,
        configuration: CreateCollectionConfiguration | None = None,
        metadata: CollectionMetadata | None = None,
        embedding_function: None = None,
    ) -> Collection:
        model = self._api.get_or_create_collection(name, configuration=configuration, metadata=metadata)
        return Collection(client=self._api, model=model, embedding_function=embedding_function)

    def list_collections(self) -> Sequence[Collection]:
        return [
            Collection(client=self._api, model=one, embedding_function=None) for one in self._api.list_collections()
        ]

    def delete_collection(self, name: str) -> None:
        self._api.delete_collection(name)


class _ServerApi(FastAPI):
    """Sends every request by the given HTTP client. Only this class uses a private name of chromadb, `_session`."""

    def __init__(self, settings: Settings, http_client: httpx.Client) -> None:
        super().__init__(System(settings))
        self._session.close()
        self._session = http_client
        weakref.finalize(self, http_client.close)


def _limit_response(response: httpx.Response) -> None:
    # httpx unpacks each piece whole: a few kilobytes may become gigabytes.
    if response.headers.get("content-encoding", "identity") != "identity":
        raise httpx.DecodingError("the response is compressed, which was not asked for", request=response.request)
    assert isinstance(response.stream, httpx.SyncByteStream)
    response.stream = _LimitedStream(response.stream, response.request)


class _LimitedStream(httpx.SyncByteStream):
    def __init__(self, stream: httpx.SyncByteStream, request: httpx.Request) -> None:
        self._stream, self._request = stream, request
        # httpx limits the wait between two pieces only, and a server may send a byte a second.
        self._deadline = time.monotonic() + request.extensions["timeout"]["read"]

    def __iter__(self) -> Iterator[bytes]:
        total = 0
        for piece in self._stream:
            raise_if_abandoned()
            total += len(piece)
            if total > MAX_RESPONSE_BYTES:
                raise AnswerTooLarge(MAX_RESPONSE_BYTES)
            if time.monotonic() > self._deadline:
                raise httpx.ReadTimeout("the response does not end", request=self._request)
            yield piece

    def close(self) -> None:
        self._stream.close()
