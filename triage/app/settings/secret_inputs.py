"""Collects our own secrets from the environment, before settings are checked and errors can show one."""

import base64
import re
from collections.abc import Iterator, Mapping
from urllib.parse import unquote, urlsplit

from triage.app.settings.inputs import PLACEHOLDER_KEY

_KEYS = ("github-token", "model-api-key", "tavily-api-key")
_URL_VARIABLE = re.compile(r"(?:INPUT_|TRIAGE_)?[A-Z_-]*(?:URL|ENDPOINT)|(?:HTTPS?|ALL)_PROXY", re.I)
_HEADERS_VARIABLE = re.compile(r"OTEL_EXPORTER_OTLP_(?:[A-Z]+_)?HEADERS")
_CREDENTIAL_NAME = re.compile(r"auth|key|token|secret|password|cookie|credential|signature|honeycomb-team", re.I)
"""Names of headers and URL parameters that give access; others name a tenant or a version."""
_OWN_PREFIXES = ("TRIAGE_", "INPUT_", "OTEL_EXPORTER_OTLP_")
_SAFE_PATH = "PYTHONSAFEPATH"
"""`bug-triage` sets it for its own processes, and so hides whether the user had. The project's programs may need to
import from their folder."""
_MIN_KEY_CHARS = 8
"""A shorter one would be found in values that have nothing to do with it."""


def collect_own_secrets(environ: Mapping[str, str]) -> list[str]:
    """Every secret value once: keys, the collector's headers, and user names, passwords and keys in URLs.

    A percent-encoded value is returned as written and decoded. The placeholder for "no key" is not a secret.
    """
    found: dict[str, None] = {}
    for name, value in environ.items():
        for text in _secrets_in_variable(name, value.strip()):
            found |= dict.fromkeys((text, unquote(text)))
    return [text for text in found if text and text != PLACEHOLDER_KEY]


def remove_own_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for a program of the project: without our variables and others that have our keys in them.

    Passwords in other variables, such as the address of a test database, are the project's own.
    """
    own = {
        name: value for name, value in environ.items() if name.upper().startswith(_OWN_PREFIXES) or name == _SAFE_PATH
    }
    secrets = [secret for secret in collect_own_secrets(own) if len(secret) >= _MIN_KEY_CHARS]
    return {
        name: value
        for name, value in environ.items()
        if name not in own and not any(secret in value for secret in secrets)
    }


def _secrets_in_variable(name: str, value: str) -> Iterator[str]:
    if name.upper().replace("_", "-") in _KEY_VARIABLES:
        yield value
    elif _HEADERS_VARIABLE.fullmatch(name):
        for pair in value.split(","):
            key, _, text = pair.strip().partition("=")
            if _CREDENTIAL_NAME.search(unquote(key)):
                yield from _secrets_in_header(unquote(text))
    elif _URL_VARIABLE.fullmatch(name):
        yield from _secrets_in_url(value)


_KEY_VARIABLES = {f"{prefix}-{key}".upper() for prefix in ("INPUT", "TRIAGE") for key in _KEYS}


def _secrets_in_header(text: str) -> Iterator[str]:
    """The whole value, the part after its scheme, and the password in `Basic`."""
    yield text
    scheme, _, rest = text.strip().rpartition(" ")
    yield rest
    if scheme.lower() == "basic":
        try:
            yield base64.b64decode(rest, validate=True).decode().partition(":")[2]
        except ValueError:
            return


def _secrets_in_url(text: str) -> Iterator[str]:
    """Yield the password, or else the user name, and keys in the URL's query."""
    try:
        url = urlsplit(text if "://" in text else f"http://{text}")
        yield from (url.password or "", url.username or "" if not url.password else "")
    except ValueError:
        return
    for pair in url.query.split("&"):
        key, _, value = pair.partition("=")
        if _CREDENTIAL_NAME.search(key):
            yield value
