"""Reads OpenTelemetry's standard variables.

The SDK reads further ones itself: certificates, compression, limits.
"""

import re
from collections.abc import Mapping
from typing import Literal
from urllib.parse import unquote

from pydantic import SecretStr

from triage.app.settings.field_checks import read_url_variable
from triage.base.errors import BadInput
from triage.domain.run import Collector, OtlpEndpoint

Signal = Literal["TRACES", "METRICS"]

SERVICE_NAME = "bug-triage"
DEFAULT_TIMEOUT_SECONDS = 10.0
"""The specification's default."""


def read_collector(environ: Mapping[str, str]) -> Collector | None:
    """Where telemetry goes; none without an endpoint, and if the SDK is disabled.

    Raises:
        BadInput: The message names the variable and never shows its value.
    """
    variables = {name: value.strip() for name, value in environ.items() if name.startswith("OTEL_") and value.strip()}
    if variables.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return None
    traces, metrics = _read_endpoint(variables, "TRACES"), _read_endpoint(variables, "METRICS")
    if traces is None and metrics is None:
        return None
    temporality = variables.get("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "").lower()
    return Collector(
        traces=traces,
        metrics=metrics,
        resource=_read_resource(variables),
        traceparent=environ.get("TRACEPARENT", "").strip(),
        delta_temporality=temporality in ("delta", "lowmemory"),
    )


def _read_endpoint(variables: Mapping[str, str], signal: Signal) -> OtlpEndpoint | None:
    if variables.get(f"OTEL_{signal}_EXPORTER", "otlp").lower() == "none":
        return None
    name, value = _find_variable(variables, signal, "ENDPOINT")
    url = read_url_variable(name, value)
    if not url:
        return None
    if not name.endswith(f"{signal}_ENDPOINT"):
        url += f"/v1/{signal.lower()}"
    name, protocol = _find_variable(variables, signal, "PROTOCOL")
    if protocol.lower() not in ("", "http/protobuf"):
        raise BadInput(f"{name}: only http/protobuf is supported; collectors receive it on port 4318.")
    name, headers = _find_variable(variables, signal, "HEADERS")
    return OtlpEndpoint(
        url=url,
        headers=_parse_headers(name, headers),
        timeout_seconds=_parse_timeout(*_find_variable(variables, signal, "TIMEOUT")),
    )


def _find_variable(variables: Mapping[str, str], signal: Signal, what: str) -> tuple[str, str]:
    """The signal's own variable if it is set, else the common one; its name and its value."""
    own, common = f"OTEL_EXPORTER_OTLP_{signal}_{what}", f"OTEL_EXPORTER_OTLP_{what}"
    return (own, variables[own]) if own in variables else (common, variables.get(common, ""))


def _parse_headers(name: str, text: str) -> dict[str, SecretStr]:
    pairs = _parse_pairs(name, text)
    for key, value in pairs.items():
        if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", key) or not re.fullmatch(r"[ -~]+", value):
            raise BadInput(f"{name}: a header has a character that is not allowed in headers.")
    return {key.lower(): SecretStr(value) for key, value in pairs.items()}


def _read_resource(variables: Mapping[str, str]) -> dict[str, str]:
    name = "OTEL_RESOURCE_ATTRIBUTES"
    attributes = {"service.name": SERVICE_NAME} | _parse_pairs(name, variables.get(name, ""))
    if not all(text.isprintable() for pair in attributes.items() for text in pair):
        raise BadInput(f"{name}: an attribute has a character that cannot be printed.")
    return attributes | ({"service.name": variables["OTEL_SERVICE_NAME"]} if "OTEL_SERVICE_NAME" in variables else {})


def _parse_pairs(name: str, text: str) -> dict[str, str]:
    """Parse `key=value,key=value`, percent-encoded (W3C Baggage)."""
    found: dict[str, str] = {}
    for item in filter(None, (part.strip() for part in text.split(","))):
        key, _, value = (unquote(part.strip()) for part in item.partition("="))
        if not key or not value:
            raise BadInput(f"{name}: write name=value,name=value, with special characters percent-encoded.")
        found[key] = value
    return found


def _parse_timeout(name: str, text: str) -> float:
    if not re.fullmatch(r"[0-9]{0,9}", text):
        raise BadInput(f"{name}: not a whole number of milliseconds.")
    return int(text or 0) / 1000 or DEFAULT_TIMEOUT_SECONDS
