"""`requests` sessions with the machine's proxies and certificates, and with a limit on what is read of an answer."""

from typing import Any
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter

from triage.base.errors import AnswerTooLarge
from triage.base.network import Network

_PIECE_BYTES = 65_536


def configure_session(session: requests.Session, network: Network, url: str, *, shared: bool = True) -> None:
    """Make a session use the network's proxy and certificates for a URL, and ignore the environment's variables.

    With `shared=False` it may load a client key, which no other session gets. Raises OSError if a certificate file
    cannot be used.
    """
    scheme, proxy = urlsplit(url).scheme, network.proxy_for(url)
    session.trust_env = False
    # A compressed answer costs more memory than it saves time.
    session.headers["Accept-Encoding"] = "identity"
    session.proxies = {scheme: proxy} if proxy else {}
    session.mount(f"{scheme}://", _NetworkAdapter(network, url, shared=shared))


def read_bounded(response: requests.Response, max_bytes: int) -> bytearray:
    """Read the body of a response that was requested with `stream=True`, and close it.

    The limit counts decoded bytes, since a few compressed ones may unpack to gigabytes. Raises AnswerTooLarge, and
    `requests.RequestException` if the connection breaks.
    """
    body = bytearray()
    with response:
        for piece in response.iter_content(_PIECE_BYTES):
            body += piece
            if len(body) > max_bytes:
                raise AnswerTooLarge(max_bytes)
    return body


class _NetworkAdapter(HTTPAdapter):
    """Uses the network's TLS settings, unless the session has a certificate file of its own."""

    def __init__(self, network: Network, url: str, *, shared: bool) -> None:
        self._ssl_context = network.ssl_context(url, shared=shared)
        self._proxy_ssl_context = network.proxy_ssl_context(url)
        super().__init__()

    def build_connection_pool_key_attributes(
        self, request: requests.PreparedRequest, verify: Any, cert: Any = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        host, pool = super().build_connection_pool_key_attributes(request, verify, cert)
        if verify is True:
            pool["ssl_context"] = self._ssl_context
        return host, pool

    def cert_verify(self, conn: Any, url: str, verify: Any, cert: Any) -> None:
        if verify is not True:
            super().cert_verify(conn, url, verify, cert)

    def proxy_manager_for(self, proxy: str, **settings: Any) -> Any:
        return super().proxy_manager_for(proxy, proxy_ssl_context=self._proxy_ssl_context, **settings)
