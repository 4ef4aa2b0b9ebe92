"""The environment's proxies and certificates for clients that do not read them, and what went wrong with them."""

import os
import re
import ssl
from collections.abc import Iterator
from pathlib import Path

import certifi
import truststore
from requests.utils import get_environ_proxies, prepend_scheme_if_needed, select_proxy

BUNDLE = "REQUESTS_CA_BUNDLE"
"""The variable with a file or folder of certificate authorities, beside those of the machine."""
_CERTIFICATE_PROBLEMS = {
    9: "its certificate is not valid yet",
    10: "its certificate has expired",
    18: "its certificate is self-signed",
    19: "its certificate is of an authority that is not trusted",
    20: "its certificate is of an authority that is not trusted",
    62: "its certificate is for another host",
    64: "its certificate is for another host",
}
"""By the error code of OpenSSL (x509_vfy.h)."""
_PROXY_LOGIN_ERROR = re.compile(r"^\w*Proxy\w*: .*\b407\b|Tunnel connection failed: 407\b", re.DOTALL)
PROXY_LOGIN_REFUSED = "the proxy refuses the login (407)"


def proxy_for(url: str) -> str | None:
    """The proxy's URL for a requested URL as `requests` chooses it, login included; none for a direct connection."""
    proxy = select_proxy(url, get_environ_proxies(url))
    return prepend_scheme_if_needed(proxy, "http") if proxy else None


def create_ssl_context() -> ssl.SSLContext:
    """TLS settings that trust what `requests` trusts: the machine's authorities, and a bundle."""
    context = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    load_bundle(context, os.environ.get(BUNDLE) or certifi.where())
    return context


def load_bundle(context: ssl.SSLContext, path: str) -> None:
    """Trust the authorities of a PEM file, or of a folder in the layout of `openssl rehash`. Raises OSError."""
    if Path(path).is_dir():
        context.load_verify_locations(capath=path)
    else:
        context.load_verify_locations(cafile=path)


def describe_connection_problem(error: BaseException) -> str:
    """A problem of certificates or of the proxy's login, which somebody must fix; empty for any other error."""
    for cause in list_causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            return _CERTIFICATE_PROBLEMS.get(cause.verify_code, "its certificate is not valid")
        if _PROXY_LOGIN_ERROR.search(f"{type(cause).__name__}: {cause}"):
            return PROXY_LOGIN_REFUSED
    return ""


def list_causes(error: BaseException) -> Iterator[BaseException]:
    """The error and its causes; urllib3 has them among the arguments."""
    pending, visited = [error], set[int]()
    while pending:
        current = pending.pop()
        if id(current) in visited:
            continue
        visited.add(id(current))
        yield current
        inner = (current.__cause__, current.__context__, getattr(current, "reason", None), *current.args)
        pending += [other for other in inner if isinstance(other, BaseException)]
