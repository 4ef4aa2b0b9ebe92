"""Proxies and certificate authorities by the usual variables, as HTTP libraries read them from the environment."""

import os
import ssl
from collections.abc import Iterator, Mapping
from pathlib import Path

import requests.utils
import truststore
import urllib3.util.ssl_
from urllib3.util import parse_url

from triage.base.errors import BadInput
from triage.outside.http_client import BUNDLE, load_bundle

_BUNDLES = (BUNDLE, "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE")
"""Of requests, curl, Node.js and OpenSSL, which takes the last one in place of the machine's authorities."""
_LOCATION_HINT = "In a container the action can read the workspace and RUNNER_TEMP only: put the certificates there."


def prepare_network(environ: Mapping[str, str]) -> list[str]:
    """Have all HTTP clients use the proxies, and trust the machine's authorities and the first file of a variable.

    Returns a warning for each file that cannot be used: a runner may name one that the container does not see.

    Raises BadInput if a proxy cannot be used. The message names the variable and never shows its value.
    """
    proxies = dict(_read_proxies(environ))
    # In a job, a proxy with a login is not in the environment of this process, which others inherit.
    requests.utils.getproxies = lambda: proxies  # type: ignore[attr-defined]
    # As in curl, `*.` stands for all subdomains, and blanks divide as commas do.
    direct = (environ.get("no_proxy", "").strip() or environ.get("NO_PROXY", "")).replace(",", " ").split()
    os.environ["no_proxy"] = "*" if "*" in direct else ",".join(entry.removeprefix("*") for entry in direct)
    truststore.inject_into_ssl()
    # Many private authorities do not conform to what Python 3.13 asks for.
    urllib3.util.ssl_.VERIFY_X509_STRICT = ssl.VerifyFlags.VERIFY_DEFAULT  # type: ignore[attr-defined]
    workspace = Path(environ.get("GITHUB_WORKSPACE", ""))  # a job's process runs elsewhere
    named = {name: str(workspace / path) for name in _BUNDLES if (path := environ.get(name, "").strip())}
    problems = {name: problem for name, path in named.items() if (problem := _check_bundle(path))}
    usable = {name: path for name, path in named.items() if name not in problems}
    for name in problems:
        os.environ.pop(name, None)
    os.environ.update(usable)
    if usable:
        os.environ[BUNDLE] = next(iter(usable.values()))
    return [f"{name} is not used: {problem} {_LOCATION_HINT}" for name, problem in problems.items()]


def _read_proxies(environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the proxy for each scheme that has one. Raises BadInput."""
    for scheme in ("http", "https"):
        names = (f"{scheme}_proxy", f"{scheme.upper()}_PROXY", "all_proxy", "ALL_PROXY")
        name = next((name for name in names if environ.get(name, "").strip()), "")
        if name and not _is_http_proxy(environ[name].strip()):
            raise BadInput(
                f"{name}: the value is not the URL of an HTTP proxy such as http://proxy.example:3128. "
                "SOCKS is not supported. Percent-encode special characters in the user name and the password."
            )
        if name:
            yield scheme, environ[name].strip()


def _is_http_proxy(proxy: str) -> bool:
    try:
        url = parse_url(requests.utils.prepend_scheme_if_needed(proxy, "http"))
    except (ValueError, TypeError):
        return False
    return url.scheme in ("http", "https") and bool(url.host) and url.path in (None, "/")


def _check_bundle(path: str) -> str:
    """Return what is wrong with a file of certificates; empty if it can be used."""
    try:
        load_bundle(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), path)
    except ssl.SSLError:
        return "the file has no PEM certificate."
    except OSError:
        return "the file cannot be read." if Path(path).exists() else "there is no such file."
    return ""
