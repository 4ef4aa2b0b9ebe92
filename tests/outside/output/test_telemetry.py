"""What a collector receives of a run over HTTP, and what happens when it cannot."""

import logging
from collections.abc import Callable
from typing import Any

import pytest

from testing.apps import make_app
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
from triage.app.doctor import run_checks
from triage.app.settings.inputs import Settings
from triage.app.settings.runner_environment import RunnerEnvironment
from triage.domain.report import RunReport
from triage.outside.output.telemetry import export_spans
from triage.safety.secrets.redactor import SecretRedactor

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
TRACE = f"trace {REQUEST_ID.replace('-', '')}"
PARENT = "4bf92f3577b34da6a3ce929d0e0e4736"


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
    assert {span.trace_id.hex() for span in receiver.spans} == {REQUEST_ID.replace("-", "")}
    golden("tests/golden/telemetry.txt", format_span_tree(receiver.spans))


def test_no_text_of_others_is_sent():
    (request,) = sent().requests
    assert CANARY.encode() not in request.body
    assert CANARY in REPORT.model_dump_json(), "it was there to be sent"


def test_our_secrets_are_masked():
    step = REPORT.steps[0].model_copy(update={"error": f"refused {GITHUB}"})
    (request,) = sent(REPORT.model_copy(update={"steps": [step, *REPORT.steps[1:]]})).requests
    assert GITHUB.encode() not in request.body


def test_the_resource_names_repository_and_version_and_what_the_workflow_adds(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OTEL_SERVICE_NAME", "triage-of-acme")
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "team=b%20c")
    (resource,) = sent().resources
    assert {name: value for name, value in resource.items() if not name.startswith("telemetry.sdk.")} == {
        "service.name": "triage-of-acme",
        "service.version": "0.1.0",
        "service.instance.id": REQUEST_ID,
        "vcs.owner.name": "acme",
        "vcs.repository.name": "ledger",
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


@pytest.mark.parametrize("variable", ["OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"])
def test_headers_are_sent(variable: str):
    (request,) = sent(REPORT, **{variable: "Authorization=Bearer%20abc==,x-scope=7"}).requests
    assert request.headers["authorization"] == "Bearer abc=="
    assert request.headers["x-scope"] == "7"


def test_the_traces_endpoint_is_a_whole_address():
    with serve_collector() as receiver:
        export("http://127.0.0.1:9", OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=f"{receiver.url}/otlp")
    assert [request.path for request in receiver.requests] == ["/otlp"]


def test_a_run_belongs_under_the_span_that_the_workflow_names():
    spans = sent(TRACEPARENT=f"00-{PARENT}-00f067aa0ba902b7-01").spans
    assert {span.trace_id.hex() for span in spans} == {PARENT}
    assert [s.name for s in spans if s.parent_span_id.hex() == "00f067aa0ba902b7"] == ["invoke_workflow bug_triage"]


def test_nothing_is_sent_where_the_sdk_is_off_or_the_parent_is_not_sampled(monkeypatch: pytest.MonkeyPatch):
    with serve_collector() as receiver:
        assert export(receiver.url, TRACEPARENT=f"00-{PARENT}-00f067aa0ba902b7-00") == []
        monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
        assert export(receiver.url) == []
    assert receiver.requests == []


def test_one_line_says_what_was_sent():
    with serve_collector() as receiver:
        assert export(receiver.url) == [f"Telemetry sent ({TRACE})."]


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
        (CollectorBehaviour(200, {"content-type": "text/html; charset=utf-8"}), "an HTML page answers"),
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
        assert export(receiver.url) == [f"Telemetry not sent ({TRACE}: {problem})."]
    assert capfd.readouterr() == ("", ""), "and nothing of the library's"


def test_a_collector_that_is_not_there_is_one_line():
    assert export("http://127.0.0.1:9") == [f"Telemetry not sent ({TRACE}: no answer)."]


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
@pytest.mark.parametrize("variable", [ENDPOINT, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"])
def test_an_address_that_gets_no_key_turns_telemetry_off_with_a_warning(variable: str, url: str):
    environment = RunnerEnvironment.read({variable: url})
    assert environment.collector is None
    (warning,) = environment.warnings
    assert warning.startswith(f"Telemetry is off. {variable}: ")
    assert "s3cret" not in warning


def test_an_exporter_of_none_turns_it_off():
    assert RunnerEnvironment.read({ENDPOINT: "https://otel.example.com", "OTEL_TRACES_EXPORTER": "None"}).warnings == []
    assert RunnerEnvironment.read({ENDPOINT: "https://otel.x", "OTEL_TRACES_EXPORTER": "none"}).collector is None


@pytest.mark.parametrize(("status", "state", "words"), [(200, "ok", "accepts traces"), (401, "broken", "HTTP 401")])
def test_the_doctor_sends_no_span(tmp_path, status: int, state: str, words: str):
    with serve_collector(CollectorBehaviour(status)) as receiver:
        app = make_app(Settings(), tmp_path, environment=RunnerEnvironment.read({ENDPOINT: receiver.url}))
        check = run_checks(app)["telemetry"]
    assert (check.state, check.detail, receiver.spans) == (state, words, [])
