"""Reads proxies and certificate authorities from the usual variables."""

import ssl
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import SecretStr

from triage.base.errors import BadInput
from triage.base.network import CertificateAuthorities, Network

_CA_VARIABLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR")
"""Replace the default authorities (requests, curl, OpenSSL)."""
_EXTRA_CA_VARIABLE = "NODE_EXTRA_CA_CERTS"
"""Adds authorities (Node.js). Runners behind a company's proxy set it."""
_LOCATION_HINT = "In a container the action can read the workspace and RUNNER_TEMP only: put the certificates there."


def read_network(environ: Mapping[str, str]) -> tuple[Network, list[str]]:
    """Proxies and authorities, and a warning for each variable without effect.

    Raises:
        BadInput: The message names the variable and never shows its value.
    """
    authorities, warnings = _read_authorities(environ)
    no_proxy = tuple(_find_variable(environ, "no_proxy")[1].replace(",", " ").split())
    if "*" in no_proxy:
        return Network(authorities=authorities), warnings
    urls = {scheme: _read_proxy(environ, scheme) for scheme in ("http", "https")}
    proxies = {scheme: SecretStr(url) for scheme, url in urls.items() if url}
    return Network(proxies=proxies, no_proxy=no_proxy, authorities=authorities), warnings


def _find_variable(environ: Mapping[str, str], name: str) -> tuple[str, str]:
    """The lower-case variable if it is set, else the upper-case one; its name and its value."""
    values = {variant: environ.get(variant, "").strip() for variant in (name, name.upper())}
    return next(((variant, value) for variant, value in values.items() if value), (name.upper(), ""))


def _read_proxy(environ: Mapping[str, str], scheme: str) -> str:
    name, value = _find_variable(environ, f"{scheme}_proxy")
    if not value:
        name, value = _find_variable(environ, "all_proxy")
    if not value:
        return ""
    text = value if "://" in value else f"http://{value}"
    kind = text.partition("://")[0].lower()
    if kind.startswith("socks"):
        raise BadInput(f"{name}: SOCKS proxies are not supported. Set a URL that starts with http:// or https://.")
    try:
        url = urlsplit(text)
        host, _ = url.hostname, url.port
    except ValueError:
        host = None
    if kind not in ("http", "https") or not host or not text.isascii() or not text.isprintable() or " " in text:
        raise BadInput(f"{name}: the value is not a proxy URL such as http://proxy.example:3128.")
    if url.path not in ("", "/") or url.query or url.fragment:
        raise BadInput(f"{name}: percent-encode special characters in the proxy's user name and password.")
    return f"{kind}://{url.netloc}"


def _read_authorities(environ: Mapping[str, str]) -> tuple[CertificateAuthorities, list[str]]:
    workspace = Path(environ.get("GITHUB_WORKSPACE", ""))
    paths: list[Path] = []
    for name in _CA_VARIABLES:
        value = environ.get(name, "").strip()
        for part in filter(None, value.split(":") if name.endswith("_DIR") else [value]):
            if problem := _find_problem(workspace / part, may_be_folder=name in ("SSL_CERT_DIR", "REQUESTS_CA_BUNDLE")):
                raise BadInput(f"{name}: {problem} {_LOCATION_HINT}")
            paths.append(workspace / part)
    authorities = CertificateAuthorities(paths=tuple(paths))
    extra = environ.get(_EXTRA_CA_VARIABLE, "").strip()
    if not extra:
        return authorities, []
    if problem := _find_problem(workspace / extra, may_be_folder=False):
        # A warning, because the runner may have set the variable for a file that the container cannot see.
        return authorities, [f"{_EXTRA_CA_VARIABLE} is not used: {problem} {_LOCATION_HINT}"]
    return authorities.model_copy(update={"extra": workspace / extra}), []


def _find_problem(path: Path, *, may_be_folder: bool) -> str:
    if may_be_folder and path.is_dir():
        return ""
    if not path.is_file():
        return "there is no such file."
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cafile=str(path))
    except ssl.SSLError:
        return "the file has no PEM certificate."
    except OSError:
        return "the file cannot be read."
    return ""
