"""What a collector receives of a run over HTTP, and what happens when it cannot."""

import logging
import socket
from collections.abc import Callable
from typing import Any

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from testing.fakes import FakeProgressLog
from testing.servers.telemetry_collector import (
    CollectorBehaviour,
    FakeCollector,
    format_span_tree,
    serve_collector,
    to_dict,
)
from testing.text.encoded_secrets import GITHUB, KEYS
from tests.output.telemetry.runs import CANARY, REPORT, REQUEST_ID
from triage.app.settings.telemetry_settings import read_collector
from triage.domain.report import RunReport
from triage.output.telemetry.otlp_exporter import OtlpExporter
from triage.safety.secrets.redactor import SecretRedactor


def export(url: str, report: RunReport = REPORT, seconds: float = 10.0, /, **environ: str) -> list[str]:
    """Exports a run and returns the lines of its log."""
    collector = read_collector({"OTEL_EXPORTER_OTLP_ENDPOINT": url, **environ})
    assert collector is not None
    progress = FakeProgressLog()
    OtlpExporter(collector, progress, SecretRedactor(KEYS), seconds=seconds).export(report)
    return progress.lines


def sent(report: RunReport = REPORT, **environ: str) -> FakeCollector:
    with serve_collector() as receiver:
        export(receiver.url, report, 10.0, **environ)
    return receiver


def test_the_trace_reads_like_the_run(golden: Callable[[str, str], None]):
    golden("tests/golden/telemetry.txt", format_span_tree(sent().spans))


def test_every_span_lies_within_its_parent():
    spans = {span.span_id: span for span in sent().spans}
    roots = [span for span in spans.values() if not span.parent_span_id]
    assert [root.name for root in roots] == ["invoke_workflow bug_triage"]
    for span in spans.values():
        parent = spans.get(span.parent_span_id, span)
        assert parent.start_time_unix_nano <= span.start_time_unix_nano
        assert span.start_time_unix_nano <= span.end_time_unix_nano <= parent.end_time_unix_nano


def test_the_trace_is_found_by_the_runs_id_and_calls_carry_what_the_endpoint_was_sent():
    spans = sent().spans
    assert {span.trace_id.hex() for span in spans} == {REQUEST_ID.replace("-", "")}
    calls = [span for span in spans if span.kind == Span.SPAN_KIND_CLIENT]
    assert {to_dict(span.attributes)["triage.request_id"] for span in calls} == {REQUEST_ID}


def test_no_text_of_others_is_sent():
    receiver = sent()
    assert len(receiver.requests) == 2
    assert not [one.path for one in receiver.requests if CANARY.encode() in one.body]
    assert CANARY in REPORT.model_dump_json(), "it was there to be sent"


def test_the_resource_names_repository_and_version():
    assert sent().resources == 2 * [
        {
            "telemetry.sdk.language": "python",
            "telemetry.sdk.name": "opentelemetry",
            "telemetry.sdk.version": sent().resources[0]["telemetry.sdk.version"],
            "service.name": "bug-triage",
            "service.version": "0.1.0",
            "service.instance.id": REQUEST_ID,
            "vcs.owner.name": "acme",
            "vcs.repository.name": "ledger",
        }
    ]


def test_the_workflows_author_names_the_service_and_adds_attributes():
    resource = sent(
        OTEL_SERVICE_NAME="triage-of-acme", OTEL_RESOURCE_ATTRIBUTES="deployment.environment.name=ci,team=b%20c"
    ).resources[0]
    assert resource["service.name"] == "triage-of-acme"
    assert resource["deployment.environment.name"] == "ci"
    assert resource["team"] == "b c"


CHAT = {"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai"}


def test_runs_are_counted_by_status_and_severity_and_decisions_by_agent_and_origin():
    receiver = sent()
    ended = {"triage.status": "complete", "triage.engine": "model", "triage.severity": "HIGH"}
    assert receiver.points("triage.runs") == [({**ended, "triage.kind": "bug", "triage.cut": False}, 1)]
    assert receiver.points("gen_ai.workflow.duration") == [({**ended, "gen_ai.workflow.name": "bug_triage"}, 12.2)]
    assert receiver.points("triage.iterations") == [({"triage.status": "complete"}, 4)]
    assert receiver.points("triage.cost") == [({"triage.engine": "model"}, 0.027)]
    counted = {
        (attributes["gen_ai.agent.name"], attributes["triage.origin"], attributes["triage.forced"]): number
        for attributes, number in receiver.points("triage.decisions")
    }
    assert counted == {
        ("investigator", "model", False): 1,
        ("codebase_search", "rules", False): 1,
        ("web_search", "rules", False): 1,
        ("critic", "rules", False): 1,
        ("writer", "rules", True): 1,
    }


def test_tools_are_timed_by_name_and_status():
    timed = {
        (
            attributes["gen_ai.tool.name"],
            attributes["gen_ai.agent.name"],
            attributes["triage.outcome"],
            attributes.get("error.type"),
        ): seconds
        for attributes, seconds in sent().points("gen_ai.execute_tool.duration")
    }
    assert timed == {
        ("find_symbol", "codebase_search", "SUCCESS", None): 0.1,
        ("read_lines", "codebase_search", "FAILED", "_OTHER"): 0.4,
        ("tavily_search", "web_search", "SUCCESS", None): 0.48,
    }


def test_agents_are_timed_by_engine_and_outcome():
    timed = {
        (attributes["gen_ai.agent.name"], attributes["triage.engine"], attributes.get("error.type")): seconds
        for attributes, seconds in sent().points("gen_ai.invoke_agent.duration")
    }
    assert timed[("web_search", "model", "timeout")] == 3.0
    assert timed[("critic", "model", "gate")] == 1.0
    assert timed[("critic", "rules", None)] == 0.01
    assert not [name for name, _, _ in timed if name == "prepare"], "no agent"


def test_tokens_are_counted_once_also_when_an_answer_is_used_again():
    tokens = {
        (attributes["gen_ai.request.model"], attributes["gen_ai.token.type"]): number
        for attributes, number in sent().points("gen_ai.client.token.usage")
    }
    assert tokens == {
        ("gpt-4o-mini", "input"): 2000,
        ("gpt-4o-mini", "output"): 100,
        ("gpt-4o", "input"): 4000,
        ("gpt-4o", "output"): 200,
    }
    timed = sent().points("gen_ai.client.operation.duration")
    assert ({**CHAT, "gen_ai.request.model": "gpt-4o-mini", "error.type": "rate limited (429)"}, 0.3) in timed


def test_an_unknown_cost_is_not_sent():
    unknown = REPORT.usage.model_copy(update={"usd": None})
    receiver = sent(REPORT.model_copy(update={"usage": unknown}))
    assert "triage.cost" not in receiver.metrics
    root = next(span for span in receiver.spans if not span.parent_span_id)
    assert "triage.cost_usd" not in to_dict(root.attributes)


@pytest.mark.parametrize(("preference", "expected"), [("", 2), ("cumulative", 2), ("delta", 1), ("LowMemory", 1)])
def test_metrics_are_totals_or_differences_as_asked(preference: str, expected: int):
    metrics = sent(OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE=preference).metrics
    assert metrics["triage.runs"].sum.aggregation_temporality == expected
    assert metrics["triage.runs"].sum.is_monotonic
    assert metrics["gen_ai.workflow.duration"].histogram.aggregation_temporality == expected


def test_headers_are_sent():
    receiver = sent(OTEL_EXPORTER_OTLP_HEADERS="Authorization=Bearer%20abc==,x-scope=7")
    for one in receiver.requests:
        assert one.headers["authorization"] == "Bearer abc=="
        assert one.headers["x-scope"] == "7"
        assert one.headers["content-type"] == "application/x-protobuf"


PARENT = "4bf92f3577b34da6a3ce929d0e0e4736"


def test_a_run_belongs_under_the_span_that_the_workflow_names():
    spans = sent(TRACEPARENT=f"00-{PARENT}-00f067aa0ba902b7-01").spans
    assert {span.trace_id.hex() for span in spans} == {PARENT}
    assert [s.name for s in spans if s.parent_span_id.hex() == "00f067aa0ba902b7"] == ["invoke_workflow bug_triage"]


def test_a_parent_that_is_not_sampled_leaves_the_metrics():
    receiver = sent(TRACEPARENT=f"00-{PARENT}-00f067aa0ba902b7-00")
    assert [one.path for one in receiver.requests] == ["/v1/metrics"]


@pytest.mark.parametrize("odd", ["", "x", "00-0-0-01", f"00-{PARENT}-0000000000000000-01", "\u2028" * 500])
def test_a_malformed_parent_is_ignored(odd: str):
    assert {span.trace_id.hex() for span in sent(TRACEPARENT=odd).spans} == {REQUEST_ID.replace("-", "")}


def test_one_line_says_what_was_sent():
    with serve_collector() as receiver:
        assert export(receiver.url) == [f"Telemetry sent (trace {REQUEST_ID.replace('-', '')}; metrics)."]


WEB_PAGE = CollectorBehaviour(headers={"content-type": "text/html; charset=utf-8"}, body=b"<html>Sign in</html>")
REFUSED: list[tuple[CollectorBehaviour, str]] = [
    (CollectorBehaviour(500), "HTTP 500"),
    (CollectorBehaviour(400), "HTTP 400"),
    (CollectorBehaviour(401, body=b"words from outside"), "HTTP 401"),
    (CollectorBehaviour(404, WEB_PAGE.headers, WEB_PAGE.body), "HTTP 404, a web page"),
    (WEB_PAGE, "HTTP 200, a web page"),
    (CollectorBehaviour(302, {"location": "http://127.0.0.1:9/"}), "HTTP 302"),
    (CollectorBehaviour(drop=True), "no answer"),
]


@pytest.mark.parametrize(("manner", "result"), REFUSED)
def test_an_error_is_one_line(manner: CollectorBehaviour, result: str, capfd: pytest.CaptureFixture[str]):
    with serve_collector(manner) as receiver:
        # What is dropped is sent again as long as there is time.
        (line,) = export(receiver.url, REPORT, 0.5 if manner.drop else 5.0)
    assert line == f"Telemetry not sent (trace {REQUEST_ID.replace('-', '')}: {result}; metrics: {result})."
    assert capfd.readouterr() == ("", ""), "and nothing of the library's"


@pytest.mark.parametrize(
    "manner", [CollectorBehaviour(503, {"retry-after": "30"}), CollectorBehaviour(503), CollectorBehaviour(429)]
)
def test_a_collector_that_asks_to_wait_is_given_up(manner: CollectorBehaviour):
    with serve_collector(manner) as receiver:
        (line,) = export(receiver.url, REPORT, 0.5)
    assert line.startswith("Telemetry not sent (trace ")


def test_the_time_for_everything_is_not_spent_twice():
    with serve_collector(CollectorBehaviour(delay_seconds=60)) as receiver:
        (line,) = export(receiver.url, REPORT, 0.3)
    assert [one.path for one in receiver.requests] == ["/v1/traces"]
    assert line.endswith(": no answer; metrics: no answer).")


def test_no_collector_is_one_line(capfd: pytest.CaptureFixture[str]):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        (line,) = export(f"http://127.0.0.1:{free.getsockname()[1]}", REPORT, 0.5)
    assert "no answer" in line
    assert capfd.readouterr() == ("", "")


class LogCapture(logging.Handler):
    """Captures what reaches the root logger. (pytest's own handler listens to every logger.)"""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""

    def emit(self, record: logging.LogRecord) -> None:
        self.text += record.getMessage() + "\n"


def test_headers_are_in_no_line_of_any_log(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture):
    log = LogCapture()
    caplog.set_level(logging.DEBUG)
    monkeypatch.setattr(logging.root, "handlers", [log])
    # The library reads the variable too, and tells of what it cannot read in full.
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "no equals sign but s3cret")
    with serve_collector(CollectorBehaviour(500)) as receiver:
        lines = export(receiver.url, REPORT, 0.5, OTEL_EXPORTER_OTLP_HEADERS="api-key=s3cret")
    assert "POST /v1/traces" in log.text, "it captures the lines of other libraries"
    assert "s3cret" not in log.text + "".join(lines)
    assert receiver.requests[0].headers["api-key"] == "s3cret"


def test_attribute_names_are_those_of_the_conventions():
    from opentelemetry.semconv._incubating.attributes import cicd_attributes, gen_ai_attributes, vcs_attributes
    from opentelemetry.semconv._incubating.metrics import gen_ai_metrics
    from opentelemetry.semconv.attributes import error_attributes, service_attributes

    known: set[Any] = set()
    for module in (
        cicd_attributes,
        gen_ai_attributes,
        vcs_attributes,
        gen_ai_metrics,
        error_attributes,
        service_attributes,
    ):
        known |= {value for value in vars(module).values() if isinstance(value, str)}
    receiver = sent()
    used = {name for span in receiver.spans for name in to_dict(span.attributes)} | set(receiver.resources[0])
    used |= {name for metric in receiver.metrics for attributes, _ in receiver.points(metric) for name in attributes}
    ours = {name for name in used if not name.startswith(("triage.", "telemetry.sdk."))}
    assert ours <= known
    # The newest conventions' metrics are not in the package any more.
    newer = {"gen_ai.workflow.duration", "gen_ai.invoke_agent.duration", "gen_ai.execute_tool.duration"}
    assert {name for name in receiver.metrics if not name.startswith("triage.")} - newer <= known


def test_our_secrets_are_masked():
    step = REPORT.steps[0].model_copy(update={"error": f"refused {GITHUB}"})
    received = sent(REPORT.model_copy(update={"steps": [step, *REPORT.steps[1:]]}))
    assert not any(GITHUB.encode() in request.body for request in received.requests)
