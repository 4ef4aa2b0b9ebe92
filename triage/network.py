"""How the outside is reached, the same for every client: by which proxy, and whose certificates are trusted.

Left alone, the clients' libraries read different variables, and read `NO_PROXY` differently.
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

_PORTS = {"http": 80, "https": 443}
_CERTIFICATE_PROBLEMS = {
    9: "its certificate is not valid yet",
    10: "its certificate has expired",
    18: "its certificate is self-signed",
    19: "its certificate is of an authority that is not trusted",
    20: "its certificate is of an authority that is not trusted",
    62: "its certificate is for another host",
    64: "its certificate is for another host",
}
"""By OpenSSL's code (x509_vfy.h)."""
_PROXY_LOGIN_ERROR = re.compile(r"^\w*Proxy\w*: .*\b407\b|Tunnel connection failed: 407\b", re.DOTALL)
PROXY_LOGIN_REFUSED = "the proxy refuses the login (407)"


class CertificateAuthorities(Value):
    """Whose certificates are trusted.

    Without `places` those of the system and of the `certifi` package; `further` are trusted beside whatever else is.
    """

    paths: tuple[Path, ...] = ()
    """Files in PEM, and folders as OpenSSL's `rehash` makes them."""
    extra: Path | None = None


class Network(Value):
    """Proxies and certificates of the machine that we run on."""

    proxies: dict[str, SecretStr] = Field(default_factory=dict)
    """Address of the proxy, by the scheme of what is asked."""
    no_proxy: tuple[str, ...] = ()
    """What no proxy is used for: the entries of `NO_PROXY`."""
    authorities: CertificateAuthorities = CertificateAuthorities()

    def proxy_for(self, url: str) -> str | None:
        """The proxy for an address, login included; none to go straight there."""
        asked = urlsplit(url)
        proxy = self.proxies.get(asked.scheme)
        return (
            None
            if proxy is None or any(_matches_no_proxy(entry, asked) for entry in self.no_proxy)
            else proxy.get_secret_value()
        )

    def ssl_context(self, url: str, *, shared: bool = True) -> ssl.SSLContext:
        """What a connection to the address checks certificates by; not shared for whoever loads a key into it.

        Raises:
            OSError: A file of certificates cannot be used.
        """
        secured = url.startswith("https:") or self.proxy_ssl_context(url)
        if not secured:
            return _empty_ssl_context()
        return create_ssl_context(self.authorities) if shared else create_ssl_context.__wrapped__(self.authorities)

    def proxy_ssl_context(self, url: str) -> ssl.SSLContext | None:
        """What the connection to the proxy for an address checks certificates by; none when it needs none."""
        return create_ssl_context(self.authorities) if (self.proxy_for(url) or "").startswith("https:") else None


DIRECT = Network()
"""No proxy, and the usual authorities."""


@cache
def create_ssl_context(authorities: CertificateAuthorities) -> ssl.SSLContext:
    """Checks that trust these authorities, one for all clients: to make one takes a tenth of a second.

    Raises:
        OSError: A file cannot be read or holds no certificate in PEM; `ssl.SSLError` is one.
    """
    context = _empty_ssl_context()
    if not authorities.paths:
        import certifi

        context.load_default_certs()
        context.load_verify_locations(cafile=certifi.where())
    for place in authorities.paths:
        if place.is_dir():
            context.load_verify_locations(capath=str(place))
        else:
            context.load_verify_locations(cafile=str(place))
    if authorities.extra:
        context.load_verify_locations(cafile=str(authorities.extra))
    return context


def _empty_ssl_context() -> ssl.SSLContext:
    """Checks that trust nobody yet.

    By OpenSSL's own rules: the stricter ones that Python 3.13 adds refuse many companies' authorities.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    return context


def _matches_no_proxy(entry: str, asked: SplitResult) -> bool:
    """Whether an entry of `NO_PROXY` names the address.

    Names stand for themselves and what is below them, with or without a dot or `*.` before them, as curl has it; blocks
    such as `10.0.0.0/8` for the addresses in them, as Go has it. A port, when there is one, must be the same.
    """
    host = (asked.hostname or "").rstrip(".")
    name, port = _split_port(entry)
    if port is not None and port != (asked.port or _PORTS.get(asked.scheme)):
        return False
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


def _split_port(entry: str) -> tuple[str, int | None]:
    """Name or address, and port."""
    if entry.startswith("["):
        name, _, rest = entry[1:].partition("]")
        return name + (rest if rest.startswith("/") else ""), _parse_port(rest)
    if entry.count(":") == 1:
        return entry.partition(":")[0], _parse_port(entry)
    return entry, None


def _parse_port(text: str) -> int | None:
    digits = text.rpartition(":")[2]
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= 5 else None


def _parse_address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def describe_connection_problem(error: BaseException) -> str:
    """What of the way to a server somebody must mend, in our words; empty when the line merely broke."""
    for one in _error_chain(error):
        if isinstance(one, ssl.SSLCertVerificationError) and hasattr(one, "verify_code"):  # aiohttp's own has none
            return _CERTIFICATE_PROBLEMS.get(one.verify_code, "its certificate is not valid")
        # aiohttp has the number in a field, http.client and httpx have it in the message only.
        if _PROXY_LOGIN_ERROR.search(f"{type(one).__name__}: {getattr(one, 'status', '')} {one}"):
            return PROXY_LOGIN_REFUSED
    return ""


def _error_chain(error: BaseException) -> Iterator[BaseException]:
    """The error and all that it was made of; urllib3 has it among the arguments."""
    waiting, seen = [error], set[int]()
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        inner = (one.__cause__, one.__context__, getattr(one, "reason", None), *one.args)
        waiting += [other for other in inner if isinstance(other, BaseException)]
