"""Checks of single inputs. What is refused says what is allowed; a secret's value is never shown."""

import difflib
import ipaddress
import re
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import BeforeValidator, SecretStr
from pydantic_core import PydanticCustomError

MAX_QUOTED_CHARS = 40
MAX_PATH_CHARS = 1_000
_PRIVATE_BLOCKS = [
    ipaddress.ip_network(block)
    for block in ("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1/128", "fc00::/7")
]
"""Loopback and what RFC 1918 and RFC 4193 set apart. `is_private` of the library takes in addresses that only look
like it: of documents, of tests, and Teredo's, which lead to any host."""
_BOOLEAN_HINTS = {"yes": "true", "on": "true", "1": "true", "no": "false", "off": "false", "0": "false"}


def input_error(message: str) -> PydanticCustomError:
    """A refusal that pydantic reports word for word."""
    return PydanticCustomError("input", "{message}", {"message": message})


def quote_value(value: object) -> str:
    """The value on one line, short, with everything odd escaped."""
    text = str(value)
    return ascii(text if len(text) <= MAX_QUOTED_CHARS else text[:MAX_QUOTED_CHARS] + "...")


def one_of(*allowed: str) -> BeforeValidator:
    """One of a few words; the nearest is offered for a misspelt one."""

    def check(value: Any) -> Any:
        if value in allowed:
            return value
        near = difflib.get_close_matches(str(value).lower(), allowed, n=1, cutoff=0.5)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise input_error(f"{quote_value(value)} is not one of {', '.join(allowed)}{hint}")

    return BeforeValidator(check)


def _parse_boolean(value: Any) -> Any:
    """A boolean as YAML's core schema spells it, which is what GitHub's own toolkit takes."""
    if isinstance(value, bool):
        return value
    if value in ("true", "True", "TRUE", "false", "False", "FALSE"):
        return value.lower() == "true"
    near = _BOOLEAN_HINTS.get(str(value).lower())
    hint = f"; did you mean {near}?" if near else ""
    raise input_error(f"{quote_value(value)} is not one of true, false{hint}")


def whole_number(lowest: int, highest: int, unit: str = "") -> BeforeValidator:
    """A whole number in ASCII digits."""

    def check(value: Any) -> Any:
        text = str(value)
        # int() alone would take other scripts' digits, underscores and a sign.
        if isinstance(value, bool) or not re.fullmatch(r"[0-9]{1,18}", text) or not lowest <= int(text) <= highest:
            hint = f"; did you mean {text[1:]}?" if re.fullmatch(r"#[1-9][0-9]{0,8}", text) else ""
            raise input_error(f"{quote_value(value)} is not a whole number{unit} from {lowest} to {highest}{hint}")
        return int(text)

    return BeforeValidator(check)


def decimal_number(lowest: float, highest: float, unit: str) -> BeforeValidator:
    """A decimal number without sign or exponent."""

    def check(value: Any) -> Any:
        text = str(value)
        if isinstance(value, bool) or not re.fullmatch(r"[0-9]{1,12}(\.[0-9]{1,12})?", text):
            raise input_error(f"{quote_value(value)} is not a number{unit} such as 0.50")
        if not lowest <= float(text) <= highest:
            raise input_error(f"{quote_value(value)} is not a number{unit} from {lowest:g} to {highest:g}")
        return float(text)

    return BeforeValidator(check)


def _check_model_name(value: Any) -> Any:
    if not re.fullmatch(r"[!-~]{1,200}", str(value)):
        raise input_error(
            f"{quote_value(value)} is not a model's name: printable ASCII without spaces, at most 200 characters"
        )
    return value


def _check_secret(value: Any) -> Any:
    text = value.get_secret_value() if isinstance(value, SecretStr) else str(value)
    if text and not re.fullmatch(r"[!-~]+", text):
        raise input_error("the value has a space, a line break or another character that no key has")
    return value


def parse_endpoint_url(value: Any) -> Any:
    """A base URL that a key or our data may be sent to. The value is never shown: it might hold a password."""
    text = str(value)
    try:
        url = urlsplit(text)
        host, _ = url.hostname or "", url.port
    except ValueError:
        raise input_error("the value is no URL") from None
    # A client may read what no URL holds, such as a backslash, in another way than we do.
    if not re.fullmatch(r"[!-~]+", text) or "\\" in text or not host or url.scheme not in ("http", "https"):
        raise input_error("the value is no URL that starts with https:// (or http:// for a private address)")
    if url.username is not None or url.password is not None or url.query or url.fragment:
        raise input_error("the URL must not hold a user name, a password, a query or a fragment")
    if url.scheme == "http" and not _is_private(host):
        raise input_error("http:// is for loopback and private addresses; use https://")
    return text.rstrip("/")


def _is_private(host: str) -> bool:
    """Whether a name or an address can only be near: a key may go there without TLS."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        # No dots, and no number in disguise (http://134744072 is 8.8.8.8). `.localhost` is RFC 6761, `.local` RFC 6762
        # (svc.cluster.local), `.internal` is reserved by ICANN for private use (host.docker.internal).
        return bool(re.fullmatch(r"[a-z][a-z0-9_-]*|([a-z0-9_-]+\.)+(localhost|local|internal)", host))
    address = getattr(address, "ipv4_mapped", None) or address
    return any(address in block for block in _PRIVATE_BLOCKS)


def _check_path(value: Any) -> Any:
    text = str(value)
    if not text.isprintable() or len(text) > MAX_PATH_CHARS:
        raise input_error(f"{quote_value(value)} is not a path: printable, at most {MAX_PATH_CHARS} characters")
    return text


def _check_repository_path(value: Any) -> Any:
    """A path inside the repository, as git writes it."""
    text = str(_check_path(value)).removeprefix("./")
    if "\\" in text or not all(part not in ("", ".", "..") for part in text.split("/")):
        raise input_error(f"{quote_value(value)} is not a path inside the repository, such as .github/triage.yml")
    return text


Flag = Annotated[bool, BeforeValidator(_parse_boolean)]
Secret = Annotated[SecretStr, BeforeValidator(_check_secret)]
FilePath = Annotated[str, BeforeValidator(_check_path)]
RepositoryPath = Annotated[str, BeforeValidator(_check_repository_path)]
ModelName = Annotated[str, BeforeValidator(_check_model_name)]
EndpointUrl = Annotated[str, BeforeValidator(parse_endpoint_url)]
Seconds = Annotated[int, whole_number(1, 21_600, " of seconds")]
"""GitHub ends a job after six hours."""
