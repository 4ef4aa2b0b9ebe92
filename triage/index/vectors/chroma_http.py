"""The line to a Chroma server: by the network's rules, and no longer than an answer may take."""

import time
from collections.abc import Iterator

import httpx
from chromadb.api import ServerAPI
from chromadb.api.client import Client
from chromadb.api.fastapi import FastAPI
from chromadb.config import System

from triage.network import Network
from triage.threads import raise_if_abandoned


def http_client(url: str, network: Network, seconds: float, connect_seconds: float) -> httpx.Client:
    """A line that reads no variable and follows no redirect; a request's `timeout` bounds its whole answer.

    Args:
        url: Of the server.
        network: Proxies and certificates.
        seconds: For an answer, where the request says nothing else.
        connect_seconds: Until the line is open.
    """
    proxy = network.proxy_for(url)
    return httpx.Client(
        verify=network.ssl_context(url),
        proxy=httpx.Proxy(proxy, ssl_context=network.proxy_ssl_context(url)) if proxy else None,
        trust_env=False,
        timeout=httpx.Timeout(seconds, connect=connect_seconds),
        headers={"Content-Type": "application/json"},
        event_hooks={"response": [_limit_response_time]},
    )


def client_class(line: httpx.Client) -> type[Client]:
    """A client over this line: the one that chromadb 1.5.9 opens waits for ever, and reads variables by itself."""

    class OverOurs(Client):
        @property
        def _system(self) -> System:
            system = super()._system
            spoken_by = system.instance(ServerAPI)  # type: ignore[type-abstract]  # as chromadb asks for it
            assert isinstance(spoken_by, FastAPI)
            if spoken_by._session is not line:
                spoken_by._session.close()
                spoken_by._session = line
            return system

        def _validate_tenant_database(self, tenant: str, database: str) -> None:
            """By a second line of chromadb's own; ours finds out by itself."""
            self._server.get_database(name=database, tenant=tenant)

    return OverOurs


def _limit_response_time(answer: httpx.Response) -> None:
    """Of itself httpx bounds the wait between two pieces only, and a server may send a byte a second."""
    assert isinstance(answer.stream, httpx.SyncByteStream)
    answer.stream = _TimeLimitedStream(answer.stream, answer.request)


class _TimeLimitedStream(httpx.SyncByteStream):
    def __init__(self, pieces: httpx.SyncByteStream, request: httpx.Request) -> None:
        self._pieces, self._request = pieces, request
        self._ends = time.monotonic() + request.extensions["timeout"]["read"]

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._pieces:
            raise_if_abandoned()
            if time.monotonic() > self._ends:
                raise httpx.ReadTimeout("the answer does not end", request=self._request)
            yield piece

    def close(self) -> None:
        self._pieces.close()
