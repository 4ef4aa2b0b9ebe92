"""Checks of single inputs. An error message says what is allowed, and never shows a secret."""

import ipaddress
import re
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field, SecretStr
from pydantic_core import PydanticCustomError

from triage.base.errors import BadInput
from triage.base.text import quote_value

_PRIVATE_BLOCKS = [
    ipaddress.ip_network(block)
    for block in ("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1/128", "fc00::/7")
]
"""Loopback, RFC 1918 and RFC 4193. `ipaddress.is_private` includes more, such as Teredo addresses, which lead to any
host."""


def input_error(message: str) -> PydanticCustomError:
    """An error whose message pydantic does not change."""
    return PydanticCustomError("input", "{message}", {"message": message})


def boolean_as(yes: str, no: str) -> BeforeValidator:
    """Takes `true` and `false` as other names of two words."""
    return BeforeValidator(lambda value: {"true": yes, "false": no}.get(str(value).lower(), value))


def _check_model_name(value: Any) -> Any:
    if not re.fullmatch(r"[!-~]{1,200}", str(value)):
        raise input_error(
            f"{quote_value(value)} is not a model's name: printable ASCII without spaces, at most 200 characters"
        )
    return value


def _check_secret(value: Any) -> Any:
    text = value.get_secret_value() if isinstance(value, SecretStr) else str(value)
    if text and not re.fullmatch(r"[!-~]+", text):
        raise input_error("the value has a space, a line break or another character that keys do not have")
    return value


def parse_endpoint_url(value: Any) -> Any:
    """A base URL that receives keys or our data. An error never shows it, because it may contain a password."""
    text = str(value)
    try:
        url = urlsplit(text)
        host, _ = url.hostname or "", url.port
    except ValueError:
        raise input_error("the value is not a URL") from None
    # Clients interpret characters that URLs do not have, such as a backslash, in different ways.
    if not re.fullmatch(r"[!-~]+", text) or "\\" in text or not host or url.scheme not in ("http", "https"):
        raise input_error("the value is not a URL that starts with https:// (or http:// for a private address)")
    if url.username is not None or url.password is not None or url.query or url.fragment:
        raise input_error("the URL must not contain a user name, a password, a query or a fragment")
    if url.scheme == "http" and not _is_private(host):
        raise input_error("http:// is allowed for loopback and private addresses only; use https://")
    return text.rstrip("/")


def read_url_variable(name: str, value: str) -> str:
    """The base URL in a variable without a slash at its end; empty if the variable is. Raises BadInput."""
    try:
        return str(parse_endpoint_url(value)) if value else ""
    except PydanticCustomError as error:
        raise BadInput(f"{name}: {error.message()}") from None


def _is_private(host: str) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        # A name without dots must not be a number (http://134744072 is 8.8.8.8). `.localhost` is RFC 6761, `.local` is
        # RFC 6762 (svc.cluster.local), `.internal` is reserved by ICANN for private use (host.docker.internal).
        return bool(re.fullmatch(r"[a-z][a-z0-9_-]*|([a-z0-9_-]+\.)+(localhost|local|internal)", host))
    address = getattr(address, "ipv4_mapped", None) or address
    return any(address in block for block in _PRIVATE_BLOCKS)


def _check_repository_path(value: Any) -> Any:
    text = str(value).removeprefix("./")
    if not text.isprintable() or "\\" in text or not all(part not in ("", ".", "..") for part in text.split("/")):
        raise input_error(f"{quote_value(value)} is not a path inside the repository, such as .github/triage.yml")
    return text


Secret = Annotated[SecretStr, BeforeValidator(_check_secret)]
RepositoryPath = Annotated[str, BeforeValidator(_check_repository_path), Field(max_length=1_000)]
ModelName = Annotated[str, BeforeValidator(_check_model_name)]
EndpointUrl = Annotated[str, BeforeValidator(parse_endpoint_url)]
Seconds = Annotated[int, Field(ge=1, le=21_600)]
"""GitHub ends a job after six hours."""
