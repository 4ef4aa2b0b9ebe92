"""Proxies and private authorities, as the variables say that most tools know."""

import ssl
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import SecretStr

from triage.errors import BadInput
from triage.network import CertificateAuthorities, Network

_CA_VARIABLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR")
"""Name whom to trust in place of the usual authorities (requests, curl, OpenSSL)."""
_EXTRA_CA_VARIABLE = "NODE_EXTRA_CA_CERTS"
"""Names whom to trust beside them (Node.js), which is what runners behind a company's proxy are given."""
_LOCATION_HINT = "The action's container sees the workspace and RUNNER_TEMP: put the certificates there."


def read_network(environ: Mapping[str, str]) -> tuple[Network, list[str]]:
    """Proxies and authorities, and a sentence for each variable that is set in vain.

    Raises:
        BadInput: One line that names the variable at fault and never shows its value.
    """
    authorities, warnings = _read_authorities(environ)
    direct = tuple(_find_variable(environ, "no_proxy")[1].replace(",", " ").split())
    if "*" in direct:
        return Network(authorities=authorities), warnings
    found = {scheme: _read_proxy(environ, scheme) for scheme in ("http", "https")}
    proxies = {scheme: SecretStr(proxy) for scheme, proxy in found.items() if proxy}
    return Network(proxies=proxies, no_proxy=direct, authorities=authorities), warnings


def _find_variable(environ: Mapping[str, str], name: str) -> tuple[str, str]:
    """The variable that counts, in small letters or in large ones, and its value."""
    given = [(spelt, environ[spelt].strip()) for spelt in (name, name.upper()) if environ.get(spelt, "").strip()]
    return given[0] if given else (name.upper(), "")


def _read_proxy(environ: Mapping[str, str], scheme: str) -> str:
    """Address of the proxy for a scheme; empty when there is none."""
    name, value = _find_variable(environ, f"{scheme}_proxy")
    if not value:
        name, value = _find_variable(environ, "all_proxy")
    if not value:
        return ""
    text = value if "://" in value else f"http://{value}"
    kind = text.partition("://")[0].lower()
    if kind.startswith("socks"):
        raise BadInput(f"{name}: SOCKS proxies are not supported; name one that starts with http:// or https://.")
    try:
        url = urlsplit(text)
        host, _ = url.hostname, url.port
    except ValueError:
        host = None
    if kind not in ("http", "https") or not host or not text.isascii() or not text.isprintable() or " " in text:
        raise BadInput(f"{name}: the value is no address of a proxy, such as http://proxy.example:3128.")
    if url.path not in ("", "/") or url.query or url.fragment:
        raise BadInput(f"{name}: write odd characters in the proxy's user name or password percent-encoded.")
    return f"{kind}://{url.netloc}"


def _read_authorities(environ: Mapping[str, str]) -> tuple[CertificateAuthorities, list[str]]:
    """A file that is to be trusted instead must be usable; one that is to be trusted beside may be missing."""
    here = Path(environ.get("GITHUB_WORKSPACE", ""))
    places: list[Path] = []
    for name in _CA_VARIABLES:
        value = environ.get(name, "").strip()
        for part in filter(None, value.split(":") if name.endswith("_DIR") else [value]):
            if fault := _find_problem(here / part, folder=name in ("SSL_CERT_DIR", "REQUESTS_CA_BUNDLE")):
                raise BadInput(f"{name}: {fault} {_LOCATION_HINT}")
            places.append(here / part)
    further = environ.get(_EXTRA_CA_VARIABLE, "").strip()
    if not further:
        return CertificateAuthorities(paths=tuple(places)), []
    if fault := _find_problem(here / further, folder=False):
        return CertificateAuthorities(paths=tuple(places)), [
            f"{_EXTRA_CA_VARIABLE} is not used: {fault} {_LOCATION_HINT}"
        ]
    return CertificateAuthorities(paths=tuple(places), extra=here / further), []


def _find_problem(place: Path, *, folder: bool) -> str:
    """Why nobody can be trusted by what is there; empty when somebody can."""
    if folder and place.is_dir():
        return ""
    if not place.is_file():
        return "it names no file that is here."
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cafile=str(place))
    except ssl.SSLError:
        return "the file holds no certificate in PEM."
    except OSError:
        return "the file cannot be read."
    return ""
