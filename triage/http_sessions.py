"""Sessions of `requests` that keep to the network's rules."""

import ssl
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter

from triage.network import Network


def configure_session(session: requests.Session, network: Network, url: str) -> None:
    """Have a session ask an address by our proxy, trust whom we trust, and read no variable on its own.

    Raises:
        OSError: A file of certificates cannot be used.
    """
    scheme, proxy = urlsplit(url).scheme, network.proxy_for(url)
    session.trust_env = False
    session.proxies = {scheme: proxy} if proxy else {}
    session.mount(f"{scheme}://", _NetworkAdapter(network, url))


class _NetworkAdapter(HTTPAdapter):
    """Checks certificates by the network's rules; a file that somebody names for one session wins."""

    def __init__(self, network: Network, url: str) -> None:
        self._network, self._url = network, url
        self._ssl_context = network.ssl_context(url)
        super().__init__()

    @cached_property
    def _ssl_context_with_key(self) -> ssl.SSLContext:
        return self._network.ssl_context(self._url, shared=False)

    def build_connection_pool_key_attributes(
        self, request: requests.PreparedRequest, verify: Any, cert: Any = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        host, checks = super().build_connection_pool_key_attributes(request, verify, cert)
        if verify is True:
            checks["ssl_context"] = self._ssl_context if cert is None else self._ssl_context_with_key
        return host, checks

    def cert_verify(self, conn: Any, url: str, verify: Any, cert: Any) -> None:
        if verify is not True:
            super().cert_verify(conn, url, verify, cert)

    def proxy_manager_for(self, proxy: str, **settings: Any) -> Any:
        return super().proxy_manager_for(
            proxy, proxy_ssl_context=self._network.proxy_ssl_context(self._url), **settings
        )
