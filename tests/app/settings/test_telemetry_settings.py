"""OpenTelemetry's variables, as a workflow's author sets them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testing.each_row import each_row
from triage.app.settings import RunnerEnvironment
from triage.app.settings.telemetry_settings import read_collector
from triage.base.errors import BadInput
from triage.domain.run import Collector

BASE = "OTEL_EXPORTER_OTLP_ENDPOINT"
HERE = {BASE: "https://otel.example.com"}


def read(**environ: str) -> Collector:
    collector = read_collector({**HERE, **environ})
    assert collector is not None
    return collector


@each_row(
    "environ",
    [
        {},
        {BASE: ""},
        {BASE: "  "},
        {"OTEL_EXPORTER_OTLP_HEADERS": "a=b", "OTEL_SERVICE_NAME": "x", "TRACEPARENT": "x"},
        {**HERE, "OTEL_SDK_DISABLED": "true"},
        {**HERE, "OTEL_SDK_DISABLED": "TRUE"},
        {**HERE, "OTEL_TRACES_EXPORTER": "none", "OTEL_METRICS_EXPORTER": "none"},
        {"OTEL_SDK_DISABLED": "true", BASE: "ftp://odd"},
    ],
)
def test_telemetry_is_off_without_an_endpoint(environ: dict[str, str]):
    assert read_collector(environ) is None
    assert RunnerEnvironment.read(environ).warnings == []


URLS: list[tuple[dict[str, str], str | None, str | None]] = [
    (HERE, "https://otel.example.com/v1/traces", "https://otel.example.com/v1/metrics"),
    ({BASE: "http://10.0.0.7:4318/"}, "http://10.0.0.7:4318/v1/traces", "http://10.0.0.7:4318/v1/metrics"),
    ({BASE: "https://a.example/otlp"}, "https://a.example/otlp/v1/traces", "https://a.example/otlp/v1/metrics"),
    ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://a.example/t"}, "https://a.example/t", None),
    ({"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "https://a.example/m"}, None, "https://a.example/m"),
    (
        {**HERE, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://a.example/t"},
        "https://a.example/t",
        "https://otel.example.com/v1/metrics",
    ),
    ({**HERE, "OTEL_METRICS_EXPORTER": "none"}, "https://otel.example.com/v1/traces", None),
    (
        {**HERE, "OTEL_SDK_DISABLED": "false"},
        "https://otel.example.com/v1/traces",
        "https://otel.example.com/v1/metrics",
    ),
]


@each_row(("environ", "traces", "metrics"), URLS)
def test_each_signal_has_its_address(environ: dict[str, str], traces: str | None, metrics: str | None):
    collector = read_collector(environ)
    assert collector is not None
    assert (collector.traces and collector.traces.url, collector.metrics and collector.metrics.url) == (traces, metrics)


def test_headers_are_read_percent_encoded_or_not_and_shown_nowhere():
    values = "Authorization=Basic%20dXNlcjpwYXNz==, x-Scope=acme"
    collector = read(OTEL_EXPORTER_OTLP_HEADERS=values, OTEL_EXPORTER_OTLP_METRICS_HEADERS="api-key=s3cret-key")
    assert collector.traces is not None
    assert collector.metrics is not None
    headers = {name: value.get_secret_value() for name, value in collector.traces.headers.items()}
    assert headers == {"authorization": "Basic dXNlcjpwYXNz==", "x-scope": "acme"}
    assert [value.get_secret_value() for value in collector.metrics.headers.values()] == ["s3cret-key"]
    assert "dXNl" not in repr(collector)
    assert "s3cret" not in collector.model_dump_json()


@pytest.mark.parametrize(
    ("values", "seconds"),
    [("", 10.0), ("10000", 10.0), ("2500", 2.5), ("99", 0.099), ("0", 10.0)],
)
def test_a_timeout_is_in_milliseconds(values: str, seconds: float):
    collector = read(OTEL_EXPORTER_OTLP_TIMEOUT=values)
    assert collector.traces is not None
    assert collector.traces.timeout_seconds == seconds


def test_the_service_has_a_name_that_can_be_changed():
    assert read().resource == {"service.name": "bug-triage"}
    values = {"OTEL_RESOURCE_ATTRIBUTES": "service.name=a,team=x%2Cy"}
    assert read(**values).resource == {"service.name": "a", "team": "x,y"}
    assert read(**values, OTEL_SERVICE_NAME="b").resource["service.name"] == "b"


FAULTS: list[tuple[dict[str, str], str]] = [
    (
        {BASE: "http://otel.example.com"},
        f"{BASE}: http:// is allowed for loopback and private addresses only; use https://",
    ),
    ({BASE: "otel.example.com:4318"}, f"{BASE}: the value is not a URL"),
    ({BASE: "https://user:s3cret@otel.example.com"}, f"{BASE}: the URL must not contain a user name"),
    (
        {**HERE, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "s3cret"},
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: the value is not a URL",
    ),
    ({**HERE, "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "OTEL_EXPORTER_OTLP_PROTOCOL: only http/protobuf is supported"),
    ({**HERE, "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL": "http/json"}, "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: only"),
    ({**HERE, "OTEL_EXPORTER_OTLP_HEADERS": "s3cret"}, "OTEL_EXPORTER_OTLP_HEADERS: write name=value"),
    (
        {**HERE, "OTEL_EXPORTER_OTLP_HEADERS": "a=s3cret%0d%0ax: y"},
        "OTEL_EXPORTER_OTLP_HEADERS: a header has a character",
    ),
    ({**HERE, "OTEL_EXPORTER_OTLP_HEADERS": "a b=s3cret"}, "OTEL_EXPORTER_OTLP_HEADERS: a header has a character"),
    ({**HERE, "OTEL_RESOURCE_ATTRIBUTES": "s3cret"}, "OTEL_RESOURCE_ATTRIBUTES: write name=value"),
    ({**HERE, "OTEL_RESOURCE_ATTRIBUTES": "a=s3cret%1b"}, "OTEL_RESOURCE_ATTRIBUTES: an attribute has a character"),
    ({**HERE, "OTEL_EXPORTER_OTLP_TIMEOUT": "s3cret"}, "OTEL_EXPORTER_OTLP_TIMEOUT: not a whole number"),
]


@each_row(("environ", "values"), FAULTS)
def test_an_invalid_variable_is_a_warning_and_telemetry_is_off(environ: dict[str, str], values: str):
    place = RunnerEnvironment.read(environ)
    assert place.collector is None
    (warning,) = place.warnings
    assert warning.startswith(f"Telemetry is off. {values}")
    assert "s3cret" not in warning


VARIABLES = [
    BASE,
    *(
        f"OTEL_EXPORTER_OTLP_{what}"
        for what in ("HEADERS", "TIMEOUT", "PROTOCOL", "TRACES_ENDPOINT", "METRICS_HEADERS")
    ),
    "OTEL_RESOURCE_ATTRIBUTES",
    "OTEL_SERVICE_NAME",
    "TRACEPARENT",
]


@given(st.dictionaries(st.sampled_from(VARIABLES), st.text(max_size=60)))
def test_no_value_of_the_variables_stops_a_run(environ: dict[str, str]):
    place = RunnerEnvironment.read({**HERE, **environ})
    assert (place.collector is None) == bool(place.warnings) or environ.get(BASE, "x").strip() == ""
    for warning in place.warnings:
        assert warning.isascii()
        assert warning.isprintable()


@given(st.text(max_size=80))
def test_no_header_can_break_a_request(text: str):
    try:
        collector = read(OTEL_EXPORTER_OTLP_HEADERS=text)
    except BadInput:
        return
    assert collector.traces is not None
    for name, value in collector.traces.headers.items():
        assert name.isascii()
        assert name.isprintable()
        assert value.get_secret_value().isascii()
        assert value.get_secret_value().isprintable()
