"""Proxies and trusted certificates, the same for every client.

The clients' libraries read different variables by themselves, and interpret `NO_PROXY` differently.
"""

import ipaddress
import re
import ssl
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from pydantic import Field, SecretStr

from triage.domain.value import Value

_ENTRY_WITH_PORT = re.compile(r"(?P<name>\[.*\]|[^:]*):(?P<port>[0-9]{1,5})")
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


class CertificateAuthorities(Value):
    paths: tuple[Path, ...] = ()
    """PEM files, and folders in the layout of `openssl rehash`. If empty, the system's and those of `certifi`."""
    extra: Path | None = None
    """A PEM file that is trusted in addition."""


class Network(Value):
    proxies: dict[str, SecretStr] = Field(default_factory=dict)
    """URL of the proxy, by the scheme of the requested URL."""
    no_proxy: tuple[str, ...] = ()
    """The entries of `NO_PROXY`."""
    authorities: CertificateAuthorities = CertificateAuthorities()

    def proxy_for(self, url: str) -> str | None:
        """The proxy's URL for a requested URL, login included; none for a direct connection."""
        requested = urlsplit(url)
        proxy = self.proxies.get(requested.scheme)
        if proxy is None or any(_matches_no_proxy(entry, requested) for entry in self.no_proxy):
            return None
        return proxy.get_secret_value()

    def ssl_context(self, url: str, *, shared: bool = True) -> ssl.SSLContext:
        """The TLS settings of a connection to the URL. Ask for one that is not shared to load a client key into it.

        Raises:
            OSError: A certificate file cannot be used.
        """
        if not url.startswith("https:") and not self.proxy_ssl_context(url):
            return _empty_ssl_context()
        return create_ssl_context(self.authorities) if shared else create_ssl_context.__wrapped__(self.authorities)

    def proxy_ssl_context(self, url: str) -> ssl.SSLContext | None:
        """The TLS settings of the connection to the URL's proxy; none without an https proxy."""
        return create_ssl_context(self.authorities) if (self.proxy_for(url) or "").startswith("https:") else None


DIRECT = Network()
"""No proxy, and the default authorities."""


@cache
def create_ssl_context(authorities: CertificateAuthorities) -> ssl.SSLContext:
    """TLS settings that trust these authorities. Cached, because creating one takes a tenth of a second.

    Raises:
        OSError: A file cannot be read or has no PEM certificate (`ssl.SSLError` is an OSError).
    """
    context = _empty_ssl_context()
    if not authorities.paths:
        import certifi

        context.load_default_certs()
        context.load_verify_locations(cafile=certifi.where())
    for path in authorities.paths:
        if path.is_dir():
            context.load_verify_locations(capath=str(path))
        else:
            context.load_verify_locations(cafile=str(path))
    if authorities.extra:
        context.load_verify_locations(cafile=str(authorities.extra))
    return context


def _empty_ssl_context() -> ssl.SSLContext:
    # Without VERIFY_X509_STRICT, which Python 3.13 sets by default: many private authorities do not conform to it.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    return context


def _matches_no_proxy(entry: str, requested: SplitResult) -> bool:
    # As in curl, a name matches its subdomains too, with or without a leading dot or `*.`. As in Go, a block such as
    # `10.0.0.0/8` matches the addresses in it. A port must be equal.
    host = (requested.hostname or "").rstrip(".")
    with_port = _ENTRY_WITH_PORT.fullmatch(entry)
    if with_port and int(with_port["port"]) != (requested.port or {"http": 80, "https": 443}.get(requested.scheme)):
        return False
    name = (with_port["name"] if with_port else entry).replace("[", "").replace("]", "")
    if name == "*":
        return True
    address = _parse_address(host)
    if address is not None:
        try:
            return address in ipaddress.ip_network(name, strict=False)
        except ValueError:
            return False
    name = name.removeprefix("*").strip(".").lower()
    return bool(name) and (host == name or host.endswith(f".{name}"))


def _parse_address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


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
