"""HTTP requests by `requests`, with limits and without redirects, and the environment's proxies and certificates."""

import os
import re
import ssl
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import certifi
import requests
import truststore
from requests.utils import get_environ_proxies, prepend_scheme_if_needed, select_proxy

from triage.base.errors import AnswerTooLarge, TriageError
from triage.base.threads import raise_if_abandoned

BUNDLE = "REQUESTS_CA_BUNDLE"
"""The variable with a file or folder of certificate authorities, beside those of the machine."""
_PROXY_LOGIN_ERROR = re.compile(r"^\w*Proxy\w*: .*\b407\b|Tunnel connection failed: 407\b", re.DOTALL)
PROXY_LOGIN_REFUSED = "the proxy refuses the login (407)"


def proxy_for(url: str) -> str | None:
    """The proxy's URL for a requested URL as `requests` chooses it, login included; none for a direct connection."""
    proxy = select_proxy(url, get_environ_proxies(url))
    return prepend_scheme_if_needed(proxy, "http") if proxy else None


def create_ssl_context() -> ssl.SSLContext:
    """TLS settings that trust what `requests` trusts: the machine's authorities, and a bundle. Takes 30 ms."""
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
            return f"its certificate is not valid: {cause.verify_message}"
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


CONNECT_SECONDS = 10.0
_SECONDS = re.compile(r"\s*(\d{1,12}(?:\.\d{1,9})?)\s*", re.ASCII)
_NOT_SENT = ("ConnectError", "ConnectTimeout", "PoolTimeout", "NewConnectionError", "ConnectTimeoutError")
"""Names of errors of httpx, requests and urllib3 that come before a request is sent."""


class RequestFailed(TriageError):
    """No answer came. The message is our own word for it."""

    def __init__(self, error: Exception) -> None:
        words = "timed out" if isinstance(error, requests.Timeout | TimeoutError) else "connection failed"
        super().__init__(describe_connection_problem(error) or words)


@dataclass(frozen=True)
class HttpResponse:
    status: int
    headers: Mapping[str, str]
    """Names may be looked up in any case."""
    body: bytes


def open_session() -> requests.Session:
    """Return a session that takes no login from `.netrc`, which would replace our keys."""
    session = requests.Session()
    session.auth = lambda request: request
    # A compressed answer costs more memory than it saves time.
    session.headers["Accept-Encoding"] = "identity"
    return session


def send_request(method: str, url: str, *, seconds: float, max_bytes: int, **arguments: Any) -> HttpResponse:
    """Send one request, and return the response, whatever its status. It blocks: call it in a thread.

    Args:
        method: `GET`, `POST`, ...
        url: With a scheme and a host.
        seconds: For the whole response.
        max_bytes: How much of the response is read.
        arguments: Further ones of `requests`, such as `json` and `headers`.

    Raises RequestFailed if no whole response came, AnswerTooLarge if it is longer than `max_bytes`.
    """
    raise_if_abandoned()
    deadline, body = time.monotonic() + seconds, bytearray()
    timeout = (min(seconds, CONNECT_SECONDS), seconds)
    try:
        with (
            open_session() as session,
            session.request(method, url, timeout=timeout, allow_redirects=False, stream=True, **arguments) as response,
        ):
            # Decoded bytes count, since a few compressed ones may unpack to gigabytes. `requests` limits the wait
            # between two pieces only.
            for piece in response.iter_content(65_536):
                raise_if_abandoned()
                body += piece
                if len(body) > max_bytes:
                    raise AnswerTooLarge(max_bytes)
                if time.monotonic() > deadline:
                    raise TimeoutError
    except (requests.RequestException, OSError, ValueError) as error:  # the last for a `location` that is no address
        raise RequestFailed(error) from None
    return HttpResponse(response.status_code, response.headers, bytes(body))


def was_sent(error: BaseException) -> bool:
    """Return whether a server may have got the request that failed, by the names of the error and its causes."""
    return not any(type(cause).__name__ in _NOT_SENT for cause in list_causes(error))


def parse_retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a `retry-after` header asks to wait; None when it is missing or no number.

    `headers` have lower-case names. A date, which it may be as well, is not read.
    """
    seconds = _SECONDS.fullmatch(headers.get("retry-after", ""))
    return float(seconds[1]) if seconds else None
