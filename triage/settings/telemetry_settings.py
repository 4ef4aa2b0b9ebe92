"""OpenTelemetry's standard variables, as far as they are for us to read.

The SDK reads some more by itself: certificates, compression, limits.
"""

import re
from collections.abc import Mapping
from typing import Literal
from urllib.parse import unquote

from pydantic import SecretStr
from pydantic_core import PydanticCustomError

from triage.domain.collector import Collector, OtlpEndpoint
from triage.errors import BadInput
from triage.settings.field_checks import parse_endpoint_url

Signal = Literal["TRACES", "METRICS"]

SERVICE_NAME = "bug-triage"
DEFAULT_TIMEOUT_SECONDS = 10.0
"""The specification's default."""
MIN_MILLISECONDS = 100
"""OTEL_EXPORTER_OTLP_TIMEOUT is in milliseconds by the specification and in seconds in Python's SDK: what is too
short for a request is taken for seconds."""


def read_collector(environ: Mapping[str, str]) -> Collector | None:
    """Where telemetry goes; none unless the workflow names an endpoint and leaves the SDK enabled.

    Raises:
        BadInput: One line that names the variable at fault and never shows its value.
    """
    said = {name: value.strip() for name, value in environ.items() if name.startswith("OTEL_") and value.strip()}
    if said.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return None
    traces, metrics = _read_endpoint(said, "TRACES"), _read_endpoint(said, "METRICS")
    if traces is None and metrics is None:
        return None
    return Collector(
        traces=traces,
        metrics=metrics,
        resource=_read_resource(said),
        traceparent=environ.get("TRACEPARENT", "").strip(),
        delta_temporality=said.get("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "").lower()
        in ("delta", "lowmemory"),
    )


def _read_endpoint(said: Mapping[str, str], signal: Signal) -> OtlpEndpoint | None:
    if said.get(f"OTEL_{signal}_EXPORTER", "otlp").lower() == "none":
        return None
    url = _read_url(said, signal)
    if not url:
        return None
    name, protocol = _find_variable(said, signal, "PROTOCOL")
    if protocol.lower() not in ("", "http/protobuf"):
        raise BadInput(f"{name}: only http/protobuf is offered; collectors listen for it on port 4318.")
    name, headers = _find_variable(said, signal, "HEADERS")
    return OtlpEndpoint(
        url=url,
        headers=_parse_headers(name, headers),
        timeout_seconds=_parse_timeout(*_find_variable(said, signal, "TIMEOUT")),
    )


def _find_variable(said: Mapping[str, str], signal: Signal, what: str) -> tuple[str, str]:
    """The variable that counts, and its value: the signal's own wins."""
    own, common = f"OTEL_EXPORTER_OTLP_{signal}_{what}", f"OTEL_EXPORTER_OTLP_{what}"
    return (own, said[own]) if own in said else (common, said.get(common, ""))


def _read_url(said: Mapping[str, str], signal: Signal) -> str:
    """The signal's own address as it stands, or its path under the common one."""
    name, value = _find_variable(said, signal, "ENDPOINT")
    if not value:
        return ""
    try:
        url = str(parse_endpoint_url(value))
    except PydanticCustomError as error:
        raise BadInput(f"{name}: {error.message()}") from None
    return url if name.endswith(f"{signal}_ENDPOINT") else f"{url}/v1/{signal.lower()}"


def _parse_headers(name: str, text: str) -> dict[str, SecretStr]:
    pairs = _parse_pairs(name, text)
    for key, value in pairs.items():
        if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", key) or not re.fullmatch(r"[ -~]+", value):
            raise BadInput(f"{name}: a header has a character that no header has.")
    return {key.lower(): SecretStr(value) for key, value in pairs.items()}


def _read_resource(said: Mapping[str, str]) -> dict[str, str]:
    name = "OTEL_RESOURCE_ATTRIBUTES"
    told = {"service.name": SERVICE_NAME} | _parse_pairs(name, said.get(name, ""))
    if not all(text.isprintable() for pair in told.items() for text in pair):
        raise BadInput(f"{name}: an attribute has a character that cannot be printed.")
    return told | ({"service.name": said["OTEL_SERVICE_NAME"]} if "OTEL_SERVICE_NAME" in said else {})


def _parse_pairs(name: str, text: str) -> dict[str, str]:
    """`key=value,key=value`, percent-encoded (W3C Baggage)."""
    found: dict[str, str] = {}
    for item in filter(None, (part.strip() for part in text.split(","))):
        key, _, value = (unquote(part.strip()) for part in item.partition("="))
        if not key or not value:
            raise BadInput(f"{name}: write it as name=value,name=value, with odd characters percent-encoded.")
        found[key] = value
    return found


def _parse_timeout(name: str, text: str) -> float:
    if not re.fullmatch(r"[0-9]{0,9}", text):
        raise BadInput(f"{name}: not a whole number of milliseconds.")
    told = int(text or 0)
    return (told / 1000 if told >= MIN_MILLISECONDS else float(told)) or DEFAULT_TIMEOUT_SECONDS
