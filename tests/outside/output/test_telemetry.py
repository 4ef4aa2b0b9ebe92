"""What a collector receives of a run over HTTP, and what happens when it cannot."""

import logging
import re
from collections.abc import Callable
from typing import Any

import pytest

from testing.each_row import each_row
from testing.fakes import FakeProgressLog
from testing.servers.telemetry_collector import (
    CollectorBehaviour,
    FakeCollector,
    format_span_tree,
    serve_collector,
    to_dict,
)
from testing.text.encoded_secrets import GITHUB, KEYS
from tests.outside.output.telemetry_runs import CANARY, REPORT, REQUEST_ID
from triage.app.settings.runner_environment import RunnerEnvironment
from triage.domain.report import RunReport
from triage.outside.output.telemetry import export_spans
from triage.safety.secrets.redactor import SecretRedactor

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"


def export(url: str, report: RunReport = REPORT, **environ: str) -> list[str]:
    """Exports a run and returns the lines of its log."""
    collector = RunnerEnvironment.read({ENDPOINT: url, **environ}).collector
    assert collector is not None
    progress = FakeProgressLog()
    export_spans(collector, progress, SecretRedactor(KEYS), report)
    return progress.lines


def sent(report: RunReport = REPORT, **environ: str) -> FakeCollector:
    with serve_collector() as receiver:
        export(receiver.url, report, **environ)
    return receiver


def test_the_trace_reads_like_the_run(golden: Callable[[str, str], None]):
    receiver = sent()
    golden("tests/golden/telemetry.txt", format_span_tree(receiver.spans))


def test_no_text_of_others_is_sent():
    (request,) = sent().requests
    assert CANARY.encode() not in request.body
    assert CANARY in REPORT.model_dump_json(), "it was there to be sent"


def test_our_secrets_are_masked():
    (request,) = sent(REPORT.model_copy(update={"commit": f"of {GITHUB}"})).requests
    assert GITHUB.encode() not in request.body


def test_the_resource_names_repository_and_version_and_what_the_workflow_adds(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OTEL_SERVICE_NAME", "triage-of-acme")
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "team=b%20c")
    (resource,) = sent().resources
    assert {name: value for name, value in resource.items() if not name.startswith("telemetry.sdk.")} == {
        "service.name": "triage-of-acme",
        "service.version": "0.1.0",
        "service.instance.id": REQUEST_ID,
        "vcs.repository.name": "acme/ledger",
        "team": "b c",
    }


def test_attribute_names_are_those_of_the_conventions():
    from opentelemetry.semconv._incubating.attributes import cicd_attributes, gen_ai_attributes, vcs_attributes
    from opentelemetry.semconv.attributes import error_attributes, service_attributes

    modules = (cicd_attributes, gen_ai_attributes, vcs_attributes, error_attributes, service_attributes)
    known: set[Any] = {value for module in modules for value in vars(module).values() if isinstance(value, str)}
    receiver = sent()
    used = {name for span in receiver.spans for name in to_dict(span.attributes)} | set(receiver.resources[0])
    assert {name for name in used if not name.startswith(("triage.", "telemetry.sdk."))} <= known


def test_an_unknown_cost_is_not_sent():
    unknown = REPORT.usage.model_copy(update={"usd": None})
    root = next(s for s in sent(REPORT.model_copy(update={"usage": unknown})).spans if not s.parent_span_id)
    assert "triage.cost_usd" not in to_dict(root.attributes)


def test_headers_are_sent():
    (request,) = sent(REPORT, OTEL_EXPORTER_OTLP_HEADERS="Authorization=Bearer%20abc==,x-scope=7").requests
    assert request.path == "/v1/traces"
    assert request.headers["authorization"] == "Bearer abc=="
    assert request.headers["x-scope"] == "7"


def test_nothing_is_sent_where_the_sdk_is_off(monkeypatch: pytest.MonkeyPatch):
    with serve_collector() as receiver:
        monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
        assert export(receiver.url) == []
    assert receiver.requests == []


def test_one_line_says_what_was_sent():
    with serve_collector() as receiver:
        (line,) = export(receiver.url)
    (trace,) = {span.trace_id.hex() for span in receiver.spans}
    assert line == f"Telemetry sent (trace {trace})."


def test_headers_are_in_no_line_of_any_log(caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG)
    for headers in ("api-key=s3cret", "no equals sign but s3cret", "a=s3cret%0d%0ax: y"):
        with serve_collector(CollectorBehaviour(500)) as receiver:
            lines = export(receiver.url, OTEL_EXPORTER_OTLP_HEADERS=headers)
        assert len(lines) == 1
        assert "s3cret" not in caplog.text + lines[0]


@pytest.mark.parametrize(
    ("behaviour", "problem"),
    [
        (CollectorBehaviour(500), "HTTP 500"),
        (CollectorBehaviour(302, {"location": "/login"}), "HTTP 302"),
        (CollectorBehaviour(307, {"location": "/login"}), "HTTP 307"),
        (CollectorBehaviour(401, body=b"words from outside"), "HTTP 401"),
        (CollectorBehaviour(503, {"retry-after": "30"}), "HTTP 503"),
        (CollectorBehaviour(503), "HTTP 503"),
        (CollectorBehaviour(drop=True), "no answer"),
        (CollectorBehaviour(delay_seconds=60), "no answer"),
    ],
)
def test_an_error_is_one_line_and_a_late_answer_is_not_awaited(
    behaviour: CollectorBehaviour, problem: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("triage.outside.output.telemetry.EXPORT_SECONDS", 0.3)
    with serve_collector(behaviour) as receiver:
        (line,) = export(receiver.url)
    assert re.fullmatch(rf"Telemetry not sent \(trace [0-9a-f]{{32}}: {problem}\)\.", line)
    assert capfd.readouterr() == ("", ""), "and nothing of the library's"


def test_a_collector_that_is_not_there_is_one_line():
    (line,) = export("http://127.0.0.1:9")
    assert line.endswith(": no answer).")


@each_row(
    "url",
    [
        "otel.example.com",
        "ftp://x",
        "http://[",
        "http://a b/\u2028",
        "http://otel.example.com",
        "https://u:s3cret@otel.x",
    ],
)
def test_an_address_that_gets_no_key_turns_telemetry_off_with_a_warning(url: str):
    environment = RunnerEnvironment.read({ENDPOINT: url})
    assert environment.collector is None
    (warning,) = environment.warnings
    assert warning.startswith(f"Telemetry is off. {ENDPOINT}: ")
    assert "s3cret" not in warning


def test_an_exporter_of_none_turns_it_off():
    assert RunnerEnvironment.read({ENDPOINT: "https://otel.x", "OTEL_TRACES_EXPORTER": "None"}).collector is None
